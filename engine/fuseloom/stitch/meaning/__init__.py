"""Meanings of operations of dense graphs, and values of modules computed with NumPy."""
