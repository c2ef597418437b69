"""Sparse accumulators: sums by coordinate."""
