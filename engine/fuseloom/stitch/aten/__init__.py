"""Operators of PyTorch as operations on dense arrays."""
