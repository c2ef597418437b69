"""Tests of the constructs of terms."""
