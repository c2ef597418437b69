"""Tests of the comparison of all systems."""
