"""Tests of HLO text."""
