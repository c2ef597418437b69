"""Execution on coordinates: copies, and lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import (
    Bools,
    FiberLevel,
    Ints,
    Profile,
    Standing,
    StreamContents,
    kept,
)
from fuseloom.dataflow.cost.exact.steps import innermost, segments, spread, taken_at
from fuseloom.dataflow.samml.graph import Node


@rule("broadcast", steps="nothing: copies take no time of their own")
def _broadcast(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    top = inputs[0].fiber_tree.top
    none = Profile(top, np.zeros(0 if top is None else top.n))
    return Executed(inputs * len(node.outputs), none)


@rule("fork", steps="each token, the last one too")
def _fork(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    (given,) = inputs
    lanes = len(node.outputs)
    context.budget.take(float(given.fiber_tree.n))
    outputs = []
    for mine, by in _dealt(given.fiber_tree, lanes):
        fiber_tree = replace(kept(given.fiber_tree, mine), by=by)
        outputs.append(taken_at(given, np.flatnonzero(mine), fiber_tree))
    return Executed(tuple(outputs), given.tokens, final=1.0)


def _dealt(level: FiberLevel, lanes: int) -> list[tuple[Bools, Standing | None]]:
    """For each lane, which elements of a level it gets, and what they stand for there."""
    if level.by is None:
        return [(np.arange(level.n) % lanes == lane, None) for lane in range(lanes)]
    return [*level.by.dealt(level.crd, lanes, outermost=level.top is level)]


@rule("ordered_join", steps="each token and stop that it puts", in_turn=True)
def _ordered_join(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    guide, lanes = inputs[0], inputs[1:]
    n, count = guide.fiber_tree.n, len(lanes)
    context.budget.take(float(n + sum(lane.fiber_tree.n for lane in lanes)))
    chains = [innermost(lane.fiber_tree, int(node.params["levels"])) for lane in lanes]
    parent = guide.fiber_tree
    # Which element of a lane each element of the output is.
    if parent.by is None:
        lane, at = np.arange(n) % count, np.arange(n) // count
    else:  # of what all lanes have, the first one's will do
        dealt = np.array([mine for mine, _ in _dealt(parent, count)])
        lane = dealt.argmax(axis=0)
        at = (dealt.cumsum(axis=1) - 1)[lane, np.arange(n)]
    for depth in range(int(node.params["levels"])):
        lengths = np.zeros(len(lane), dtype=np.int64)
        begin = np.zeros(len(lane), dtype=np.int64)
        for k, chain in enumerate(chains):
            mine = lane == k
            seg = chain[depth].seg
            lengths[mine] = (seg[1:] - seg[:-1])[at[mine]]
            begin[mine] = seg[:-1][at[mine]]
        lane, at = np.repeat(lane, lengths), spread(begin, lengths)
        crd = np.zeros(len(lane), dtype=np.int64)
        for k, chain in enumerate(chains):
            mine = lane == k
            crd[mine] = chain[depth].crd[at[mine]]
        parent = FiberLevel(parent, segments(lengths), crd, by=chains[0][depth].by)
    refs: Ints | None = None
    present: Bools | None = None
    if lanes[0].refs is not None:
        refs = np.zeros(len(lane), dtype=np.int64)
    elif any(c.present is not None for c in lanes):
        present = np.ones(len(lane), dtype=bool)
    for k, given in enumerate(lanes):
        mine = lane == k
        if refs is not None and given.refs is not None:
            refs[mine] = given.refs[at[mine]]
        if present is not None and given.present is not None:
            present[mine] = given.present[at[mine]]
    return Executed((StreamContents(parent, refs, present),), parent.tokens)
