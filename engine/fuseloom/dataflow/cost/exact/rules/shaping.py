"""Execution on coordinates: coordinates that are changed."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, StreamContents
from fuseloom.dataflow.samml.graph import Node


@rule("shift", steps="each coordinate and stop", shifts=True)
def _shift(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    nest = inputs[0].nest
    assert nest.parent is not None
    context.budget.take(float(nest.n))
    moved = FiberLevel(nest.parent, nest.seg, nest.crd + int(node.params["offset"]))
    return Executed((StreamContents(moved),), moved.tokens)
