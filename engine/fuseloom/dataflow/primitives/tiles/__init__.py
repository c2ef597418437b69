"""Arithmetic on tiles: values that are blocks of numbers."""
