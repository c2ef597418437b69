"""Tests of the library of annotated calls."""
