"""Reducers: one value per fiber."""
