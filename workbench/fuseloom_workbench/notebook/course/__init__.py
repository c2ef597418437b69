"""The exercises of the notebooks, a module each."""

from __future__ import annotations

MODULES = (
    "formats",
    "first_graph",
    "orders",
    "tables",
    "iteration",
    "recompute",
    "attention",
    "bottleneck",
    "exploring",
    "pytorch",
    "networks",
    "access",
    "calls",
    "stitch",
    "five_ways",
)
"""Of notebook 1, 2, and so on."""
