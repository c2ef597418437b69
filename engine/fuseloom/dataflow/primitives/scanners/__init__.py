"""Scanners of levels, and look-ups in them."""
