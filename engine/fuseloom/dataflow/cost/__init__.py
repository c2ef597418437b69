"""Analytical cost: takes compiled regions and the coordinates of the data; gives tokens, FLOPs,
bytes and cycles, without a run (``docs/spec/estimate.md``)."""

from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.numbers import Estimate, RegionEstimate
from fuseloom.dataflow.cost.why import NodeEstimate

__all__ = [
    "Estimate",
    "EstimateContext",
    "EstimateMode",
    "NodeEstimate",
    "RegionEstimate",
    "estimate",
]
