"""Tests of routines as machine code."""
