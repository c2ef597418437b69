"""Routines of loops and assignments, as C and as machine code."""
