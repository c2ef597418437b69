"""Analytical cost: takes compiled regions and statistics of the data; gives expected tokens, FLOPs,
bytes and cycles, without a run (``fusion.md`` §6)."""

from engine.dataflow.cost.estimate import Estimate, NodeEstimate, RegionEstimate, estimate
from engine.dataflow.cost.rules import RULES
from engine.dataflow.samml.catalogue import require_registered

__all__ = ["Estimate", "NodeEstimate", "RegionEstimate", "estimate"]

require_registered(
    "cost rule", f"{__name__}.rules", RULES, lambda e: {e.name} if e.estimated else ()
)
