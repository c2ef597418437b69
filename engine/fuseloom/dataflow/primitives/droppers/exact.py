"""Execution on coordinates: what leaves tokens out, or puts them beside those of a join."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import (
    ROOT,
    Bools,
    FiberLevel,
    Ints,
    Profile,
    StreamContents,
    kept,
)
from fuseloom.dataflow.cost.exact.nonzeros import tensor_without_zeros
from fuseloom.dataflow.cost.exact.steps import (
    innermost,
    keyed,
    lead,
    places_of,
    segments,
    spread,
    taken_at,
)
from fuseloom.dataflow.samml.graph import Node


@rule(
    "fiber_align",
    steps="each token of the stream, and each subtree that it inserts",
    aligns=True,
)
def _fiber_align(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    before, after, stream = (c.fiber_tree for c in inputs)
    context.budget.take(float(before.n + after.n + stream.n))
    width = 1 + max(int(before.crd.max(initial=0)), int(after.crd.max(initial=0)))
    old, new = keyed(before, width), keyed(after, width)
    at = places_of(new, before, old, width)  # of each coordinate after: the one before, or -1
    parent, source = after, at
    for fiber_tree in innermost(stream, int(node.params["levels"])):
        there = source >= 0
        lengths = np.where(there, np.append(np.diff(fiber_tree.seg), 0)[source], 0)
        begin = np.append(fiber_tree.seg[:-1], 0)[source]
        source = spread(begin, lengths)
        parent = FiberLevel(parent, segments(lengths), fiber_tree.crd[source], by=fiber_tree.by)
    inserted = after.where(at < 0)
    # A concat may have shifted the coordinates under which the stream still lies.
    work = stream.tokens.on(before.top) + before.filled
    if parent.top is after:  # coordinates of the outermost level themselves: two tops
        return Executed((taken_at(inputs[2], source, parent),), _on_both(work, inserted))
    return Executed((taken_at(inputs[2], source, parent),), work + inserted.on(work.top))


def _on_both(work: Profile, inserted: Profile) -> Profile:
    """Work that was counted on the coordinates before, and on those after."""
    if work.top is None or inserted.top is None:
        return work + inserted
    coords = np.union1d(work.top.crd, inserted.top.crd)
    per = np.zeros(len(coords))
    per[np.searchsorted(coords, work.top.crd)] += work.per
    per[np.searchsorted(coords, inserted.top.crd)] += inserted.per
    top = FiberLevel(ROOT, np.array([0, len(coords)]), coords)
    return Profile(top, per, work.behind + inserted.behind)


@rule("crddrop", steps="each coordinate and stop of the outer level")
def _crddrop(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    inner, outer = inputs
    context.budget.take(float(outer.fiber_tree.n))
    full = ~inner.fiber_tree.bare
    work = outer.tokens
    # Stops of what is dropped stay in the inner stream, so it nests as before.
    return Executed(
        (inner, outer if full.all() else StreamContents(kept(outer.fiber_tree, full))), work
    )


@rule("valdrop", steps="each value and stop")
def _valdrop(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    val, crd = inputs
    if val.here is None:
        return Executed((StreamContents(crd.fiber_tree), crd), val.tokens)
    return _left(val, crd, val.here)


@rule("zerodrop", steps="each value and stop")
def _zerodrop(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    val, crd = inputs
    name = tensor_without_zeros(node)
    level = crd.fiber_tree
    context.budget.take(float(level.n))
    at, around = np.arange(level.n), []
    while level.parent is not None:
        around.append(level.crd[at])
        at, level = level.up[at], level.parent
    axes, shifts = (map(int, str(node.params[x]).split()) for x in ("axes", "shifts"))
    coords = [around[::-1][axis] - shift for axis, shift in zip(axes, shifts, strict=True)]
    left = context.sources.nonzero(name, coords)
    return _left(val, crd, left if val.here is None else left & val.here)


def _left(val: StreamContents, crd: StreamContents, chosen: Bools) -> Executed:
    """Values and coordinates without those that are not chosen."""
    rest = kept(crd.fiber_tree, chosen)
    parent, seg = val.fiber_tree.parent, val.fiber_tree.seg
    assert parent is not None
    there = np.append(np.flatnonzero(chosen), val.fiber_tree.n)

    def empty(fiber: Ints) -> Ints:
        """Values that are dropped before the first that is there, or the stop."""
        first = there[np.searchsorted(there, seg[fiber])]
        return np.asarray(np.minimum(first, seg[fiber + 1]) - seg[fiber])

    left = StreamContents(rest)
    return Executed((left, left), val.tokens, lead=lead(parent, empty))
