"""Execution on coordinates: coordinates that are changed."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, StreamContents
from fuseloom.dataflow.samml.graph import Node


@rule("shift", steps="each coordinate and stop", shifts=True)
def _shift(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    fiber_tree = inputs[0].fiber_tree
    assert fiber_tree.parent is not None
    context.budget.take(float(fiber_tree.n))
    moved = FiberLevel(
        fiber_tree.parent, fiber_tree.seg, fiber_tree.crd + int(node.params["offset"])
    )
    return Executed((StreamContents(moved),), moved.tokens)
