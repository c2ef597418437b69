"""Analytical cost: takes compiled regions and statistics of the data; gives expected tokens, FLOPs,
bytes and cycles, without a run (``fusion.md`` §6)."""

from engine.dataflow.cost.estimate import Estimate, NodeEstimate, RegionEstimate, estimate

__all__ = ["Estimate", "NodeEstimate", "RegionEstimate", "estimate"]
