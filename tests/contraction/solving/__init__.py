"""Tests of tensor networks."""
