"""Execution on coordinates: folds of fibers to a value."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import (
    Executed,
    ExecutionContext,
    Inputs,
    rule,
)
from fuseloom.dataflow.cost.exact.fiber_levels import Bools, StreamContents
from fuseloom.dataflow.cost.exact.steps import lead, once
from fuseloom.dataflow.samml.graph import Node


@rule("reduce", steps="each value that is there, and each stop")
def _reduce(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    val = inputs[0]
    parent = val.fiber_tree.parent
    assert parent is not None
    present: Bools | None = None
    before = val.fiber_tree.seg
    if val.here is not None:
        before = np.concatenate(([0], np.cumsum(val.here)))[before]
    if not node.params.get("empty_is_zero", False):
        there = np.diff(before) > 0
        present = None if there.all() else there
    flushes = val.fiber_tree.stops if parent.parent is not None else once()
    return Executed(
        (StreamContents(parent, None, present),),
        val.values + val.fiber_tree.stops,
        flushes,
        lead=lead(parent, lambda fiber: before[fiber + 1] - before[fiber]),
    )
