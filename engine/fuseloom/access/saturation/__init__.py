"""Equality saturation: the e-graph, what is extracted from it, and why that equals the term."""
