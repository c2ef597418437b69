"""Execution on coordinates: tokens and subtrees that are repeated."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import (
    Executed,
    ExecutionContext,
    HeldOnChip,
    Inputs,
    rule,
)
from fuseloom.dataflow.cost.exact.fiber_levels import (
    Bools,
    FiberLevel,
    Ints,
    Profile,
    StreamContents,
)
from fuseloom.dataflow.cost.exact.steps import innermost, largest_tree, segments, spread, taken_at
from fuseloom.dataflow.samml.graph import Node


@rule("repsig", steps="each token that it takes")
def _repsig(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((StreamContents(inputs[0].fiber_tree),), inputs[0].tokens)


@rule("repeat", steps="each token and stop that it puts", ahead=True)
def _repeat(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    held, signal = inputs
    fiber_tree = signal.fiber_tree
    if held.given is None and held.base is None and held.present is None:
        return Executed((StreamContents(fiber_tree),), fiber_tree.tokens)
    context.budget.take(float(fiber_tree.n))
    return Executed((taken_at(held, fiber_tree.up, fiber_tree),), fiber_tree.tokens)


def _subtree(node: Node, inputs: Inputs, made: Executed) -> HeldOnChip:
    """The largest subtree that it keeps: of what its stream carries."""
    stream = inputs[0]
    found = largest_tree(innermost(stream.fiber_tree, int(node.params["levels"])))
    values = stream.given is None and stream.base is None
    return HeldOnChip(0.0, found.values) if values else HeldOnChip(found.values)


@rule(
    "replay",
    steps="each token that it puts, and each token of a subtree that it drops",
    holds=_subtree,
)
def _replay(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    stream, driver = inputs
    chain = innermost(stream.fiber_tree, int(node.params["levels"]))
    parent, at, fiber = driver.fiber_tree, driver.fiber_tree.up, np.zeros(0, dtype=np.int64)
    for fiber_tree in chain:
        lengths = (fiber_tree.seg[1:] - fiber_tree.seg[:-1])[at]
        context.budget.take(float(lengths.sum()))
        fiber = spread(fiber_tree.seg[at], lengths)
        parent = FiberLevel(parent, segments(lengths), fiber_tree.crd[fiber], by=fiber_tree.by)
        at = fiber
    out = taken_at(stream, fiber, parent)
    # A subtree whose driver has an empty fiber is taken and dropped, a cycle per token.
    dropped = driver.fiber_tree.bare
    work = parent.tokens
    if dropped.any():
        lost = _tokens_under(chain, dropped)
        top = driver.fiber_tree.top
        outside = driver.fiber_tree.parent
        assert outside is not None
        counts = Profile(None, np.zeros(0), float(lost.sum()))
        if top is not driver.fiber_tree:
            before = segments(lost)
            counts = Profile.of(top, np.diff(before[outside.ends]))
        work = work + counts
    return Executed((out,), work)


def _tokens_under(chain: list[FiberLevel], chosen: Bools) -> Ints:
    """Tokens, without its last stop, of the subtree under each chosen element."""
    total = np.zeros(len(chosen), dtype=np.int64)
    low, high = np.arange(len(chosen)), np.arange(1, len(chosen) + 1)
    for depth, fiber_tree in enumerate(chain):
        if depth:  # every element outside the innermost level gives its fiber a stop
            inner = depth == len(chain) - 1
            empty = segments((fiber_tree.bare & (not inner)).astype(np.int64))
            total += empty[high] - empty[low]
            if inner:
                total += high - low
        low, high = fiber_tree.seg[low], fiber_tree.seg[high]
    total += high - low
    if len(chain) > 1:
        total -= 1
    return np.where(chosen, np.maximum(total, 0), 0)
