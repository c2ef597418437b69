"""Analytical cost: takes compiled regions and the coordinates of the data; gives tokens, FLOPs,
bytes and cycles, without a run (``docs/spec/estimate.md``)."""

from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.dataflow.cost.exact import EXECUTIONS
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.numbers import Estimate, RegionEstimate
from fuseloom.dataflow.cost.rules import RULES
from fuseloom.dataflow.cost.why import NodeEstimate
from fuseloom.dataflow.samml.catalogue import require_registered

__all__ = [
    "Estimate",
    "EstimateContext",
    "EstimateMode",
    "NodeEstimate",
    "RegionEstimate",
    "estimate",
]

require_registered(
    "cost rule", f"{__name__}.rules", RULES, lambda e: {e.name} if e.estimated else ()
)
require_registered(
    "rule of execution",
    f"{__name__}.exact.rules",
    EXECUTIONS,
    lambda e: {e.name} if e.estimated else (),
)
