"""Execution on coordinates: levels of stored tensors, traversed and looked up."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import (
    FiberLevel,
    Ints,
    Profile,
    StreamContents,
    kept,
)
from fuseloom.dataflow.cost.exact.steps import bundles, references, segments, spread
from fuseloom.dataflow.samml.graph import Node


def _standing(node: Node, inputs: Inputs, made: Executed, cycles: float) -> Profile:
    """Two segment ends for each reference, its coordinates in bundles, and then the stop."""
    (given,), level = inputs, made.outputs[0]
    return (given.values + bundles(level)) * cycles + level.fiber_tree.stops


@rule("scan", steps="each coordinate and stop that it puts", ahead=True, stalls=_standing)
def _scan(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    tensor, level = str(node.params["tensor"]), int(node.params["level"])
    if size := context.sources.full(tensor, level):
        return _every(inputs[0], size, context)
    seg, crd = context.sources.level(tensor, level)
    (given,) = inputs
    given_refs = references(given, context)
    assert given_refs is not None
    refs = given_refs if given.here is None else given_refs[given.here]
    left: Ints | None = None
    if context.by is not None:
        chosen = context.by.per[crd] > 0
        left, before = np.flatnonzero(chosen), np.zeros(len(crd) + 1, dtype=np.int64)
        np.cumsum(chosen, out=before[1:])
        seg = before[seg]
    begin, lengths = seg[refs], seg[refs + 1] - seg[refs]
    context.budget.take(float(lengths.sum()))
    at = spread(begin, lengths)
    at = at if left is None else left[at]
    if given.here is not None:
        every = np.zeros(given.fiber_tree.n, dtype=np.int64)
        every[given.here] = lengths
        lengths = every
    fiber_tree = FiberLevel(given.fiber_tree, segments(lengths), crd[at], by=context.by)
    return Executed((StreamContents(fiber_tree), StreamContents(fiber_tree, at)), fiber_tree.tokens)


@rule("dense_scan", steps="each coordinate and stop that it puts", ahead=True)
def _dense_scan(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return _every(inputs[0], int(node.params["dim"]), context)


def _every(given: StreamContents, size: int, context: ExecutionContext) -> Executed:
    """All coordinates below a size under each reference."""
    given_refs = references(given, context)
    assert given_refs is not None
    here = given.here
    if here is None and context.by is None:
        fiber_tree = _full(given.fiber_tree, size, context)
        return Executed(
            (StreamContents(fiber_tree), StreamContents(fiber_tree, base=given_refs * size)),
            fiber_tree.tokens,
        )
    only = None if context.by is None else np.flatnonzero(context.by.per[:size])
    refs = given_refs if here is None else given_refs[here]
    context.budget.take(float(size if only is None else len(only)) * len(refs))
    every = np.arange(size) if only is None else only
    crd = np.tile(every, len(refs))
    at = np.repeat(refs, len(every)) * size + crd
    lengths = np.full(given.fiber_tree.n, len(every))
    seg = segments(lengths if here is None else np.where(here, lengths, 0))
    fiber_tree = FiberLevel(given.fiber_tree, seg, crd, by=context.by)
    return Executed((StreamContents(fiber_tree), StreamContents(fiber_tree, at)), fiber_tree.tokens)


@rule("locate", steps="each coordinate and stop")
def _locate(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    crd, parent = inputs
    context.budget.take(float(crd.fiber_tree.n))
    above = references(parent, context)
    assert above is not None
    at = above * int(node.params["dim"]) + crd.fiber_tree.crd
    if parent.here is not None:
        at = np.where(parent.here, at, -1)
    return Executed((StreamContents(crd.fiber_tree, at),), crd.tokens)


@rule("search", steps="each coordinate and stop that it takes")
def _search(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    tensor, level = str(node.params["tensor"]), int(node.params["level"])
    parent, wanted = inputs
    above = references(parent, context)
    assert above is not None
    context.budget.take(float(wanted.fiber_tree.n))
    fiber, crd = above[wanted.fiber_tree.up], wanted.fiber_tree.crd
    if size := context.sources.full(tensor, level):
        found, at = crd < size, fiber * size + crd
    else:
        seg, stored = context.sources.level(tensor, level)
        width = int(max(stored.max(initial=0), crd.max(initial=0))) + 1
        among = np.repeat(np.arange(len(seg) - 1), np.diff(seg)) * width + stored
        at = np.searchsorted(among, fiber * width + crd)
        found = at < len(among)
        found[found] = among[at[found]] == (fiber * width + crd)[found]
    found &= fiber >= 0
    fiber_tree = kept(wanted.fiber_tree, found)
    return Executed(
        (StreamContents(fiber_tree), StreamContents(fiber_tree, at[found])), wanted.tokens
    )


def _full(parent: FiberLevel, size: int, context: ExecutionContext) -> FiberLevel:
    """A level with all coordinates, which are counted only, unless it is the outermost."""
    if parent.parent is None:
        context.budget.take(float(size))
    return FiberLevel.of_full(parent, size)
