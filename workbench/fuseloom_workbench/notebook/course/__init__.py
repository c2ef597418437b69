"""The exercises of the notebooks, a module each."""

from __future__ import annotations

MODULES = (
    "first_light",
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
    "joins",
    "lanes",
    "forms",
)
"""Of notebook 0, 1, and so on."""
