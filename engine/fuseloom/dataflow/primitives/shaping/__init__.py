"""Coordinates shifted, masked, held and flattened."""
