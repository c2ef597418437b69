"""Stepping through a region's run: tokens on the edges, and what each node just did."""
