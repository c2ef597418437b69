"""Execution on coordinates: folds by coordinate."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import (
    Executed,
    ExecutionContext,
    HeldOnChip,
    Inputs,
    rule,
)
from fuseloom.dataflow.cost.exact.fiber_levels import Ints, Profile, StreamContents, below
from fuseloom.dataflow.cost.exact.steps import largest_tree, lead, once
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.table.cells import MAX_ACCUMULATOR_ORDER
from fuseloom.program.distinct import distinct


def _tree(node: Node, inputs: Inputs, made: Executed) -> HeldOnChip:
    """The largest tree of coordinates and sums that it puts at once."""
    return largest_tree([out.fiber_tree for out in made.outputs[:-1]])


@rule(
    "spacc1",
    steps="each value, each coordinate of the outer level, and each row that it puts",
    rows=True,
    holds=_tree,
)
@rule(
    *(f"spacc{order}" for order in range(2, MAX_ACCUMULATOR_ORDER + 1)),
    steps="each value and stop, and each tree that it puts",
    holds=_tree,
)
def _spacc(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    outer, *crds, val = inputs
    base = outer.fiber_tree.parent
    assert base is not None
    context.budget.take(2.0 * len(crds) * val.fiber_tree.n)
    columns, at = [], None
    for crd in reversed(crds):
        columns.append(crd.fiber_tree.crd if at is None else crd.fiber_tree.crd[at])
        at = crd.fiber_tree.up if at is None else crd.fiber_tree.up[at]
    assert at is not None
    fiber = outer.fiber_tree.up[at]
    columns = columns[::-1]
    if val.here is not None:
        fiber = fiber[val.here]
        columns = [column[val.here] for column in columns]
    outputs, parent, key = [], base, fiber
    for depth, (column, crd) in enumerate(zip(columns, crds, strict=True)):
        width = int(column.max(initial=0)) + 1
        if depth < len(crds) - 1:
            found, key = _grouped(key, column, width, parent.n)
        else:
            found = distinct(key * width + column)
        parent = below(parent, found // width, found % width, crd.fiber_tree.by)
        outputs.append(StreamContents(parent))
    outputs.append(StreamContents(parent))
    flushes = outer.fiber_tree.stops
    work = val.fiber_tree.elements + (
        outer.fiber_tree.elements if len(crds) == 1 else val.fiber_tree.stops
    )
    if base.parent is None:
        work = work + Profile(None, np.zeros(0), flushes.total)
        return Executed(tuple(outputs), work, once())

    def taken(fiber: Ints) -> Ints:
        """Values, and elements of the level outside them."""
        low, high, outside = fiber, fiber + 1, np.zeros_like(fiber)
        for fiber_tree in (outer.fiber_tree, *(crd.fiber_tree for crd in crds)):
            outside = high - low
            low, high = fiber_tree.seg[low], fiber_tree.seg[high]
        return high - low + outside

    work, flushes = work + flushes.on(work.top), flushes.on(work.top)
    return Executed(tuple(outputs), work, flushes, lead=lead(base, taken))


_FEW = 8
"""A table of all combinations is made where it has at most so many places per element."""


def _grouped(parent: Ints, crd: Ints, width: int, parents: int) -> tuple[Ints, Ints]:
    """Distinct pairs of parent and coordinate, in order, and which of them each one is."""
    keys = parent * width + crd
    if parents * width <= _FEW * len(keys) + 1024:
        there = np.zeros(parents * width, dtype=bool)
        there[keys] = True
        number = np.cumsum(there) - 1
        return np.flatnonzero(there), number[keys]
    found, which = np.unique(keys, return_inverse=True)
    return found, which.reshape(-1)
