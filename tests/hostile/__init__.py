"""Inputs that mean harm: each is answered at once, with one clear message."""
