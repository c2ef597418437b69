"""Modules as people write them, to measure what is accepted."""
