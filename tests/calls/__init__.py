"""Tests of calls with annotations."""
