"""Helpers that several rules of execution share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fuseloom.dataflow.cost.exact.execution import ExecutionContext, HeldOnChip
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, Ints, Profile, StreamContents
from fuseloom.dataflow.dram.config import BUNDLE


def spread(begin: Ints, lengths: Ints) -> Ints:
    """Positions of runs that begin there and are so long, one run behind the other."""
    seg = np.cumsum(lengths)
    return np.repeat(begin - (seg - lengths), lengths) + np.arange(seg[-1] if len(seg) else 0)


def segments(lengths: Ints) -> Ints:
    seg = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=seg[1:])
    return seg


def references(given: StreamContents, context: ExecutionContext) -> Ints | None:
    """The reference of every leaf; those that only follow from others ask the budget."""
    if given.base is not None:
        context.budget.take(float(given.fiber_tree.n))
    return given.refs


def taken_at(given: StreamContents, at: Ints, fiber_tree: FiberLevel) -> StreamContents:
    """Leaves of a stream in these places."""
    return StreamContents(
        fiber_tree, given.at(at), None if given.present is None else given.present[at]
    )


def innermost(fiber_tree: FiberLevel, levels: int) -> list[FiberLevel]:
    """The innermost levels, the outermost of them first."""
    found = []
    for _ in range(levels):
        found.append(fiber_tree)
        assert fiber_tree.parent is not None
        fiber_tree = fiber_tree.parent
    return found[::-1]


def keyed(fiber_tree: FiberLevel, width: int) -> Ints:
    return fiber_tree.up * width + fiber_tree.crd


def places_of(keys: Ints, fiber_tree: FiberLevel, among: Ints | None, width: int) -> Ints:
    """Return the positions of keys in a level; -1 for keys that it lacks."""
    if fiber_tree.full:
        up, crd = np.divmod(keys, width)
        return np.where(crd < fiber_tree.full, up * fiber_tree.full + crd, -1)
    assert among is not None
    if not len(among):
        return np.full(len(keys), -1, dtype=np.int64)
    at = np.searchsorted(among, keys)
    at = np.minimum(at, len(among) - 1)
    return np.where(among[at] == keys, at, -1)


def once() -> Profile:
    return Profile(None, np.zeros(0), 1.0)


def lead(parent: FiberLevel, steps: Callable[[Ints], Ints]) -> Profile | None:
    """Steps before the first token of each outer coordinate; None where there are no such.

    Parameters
    ----------
    steps : callable
        How many of them are in the fibers of these elements of the level.
    """
    if parent.top is None or not parent.n:
        return None
    at = np.arange(parent.top.n)
    first = np.ones(len(at), dtype=bool)  # no stop of an empty fiber outside comes before
    for level in innermost(parent, parent.depth - 1):
        first &= ~level.bare[at]
        at = np.minimum(level.seg[at], level.n - 1)
    return Profile.of(parent.top, np.where(first, steps(at), 0))


def largest_tree(levels: Sequence[FiberLevel]) -> HeldOnChip:
    """The largest subtree of these levels, outermost first: its coordinates, and its leaves."""
    base = levels[0].parent
    assert base is not None
    low, high = np.arange(base.n), np.arange(1, base.n + 1)
    coordinates, leaves, under = np.zeros(base.n), np.zeros(base.n), np.arange(base.n)
    for level in levels:
        low, high = level.seg[low], level.seg[high]
        leaves = level.between(low, high, under, base)
        coordinates = coordinates + leaves
    if not base.n:
        return HeldOnChip()
    return HeldOnChip(float(coordinates.max()), float(leaves.max()))


def bundles(given: StreamContents) -> Profile:
    """Requests of at most :data:`~fuseloom.dataflow.dram.config.BUNDLE` words for each fiber.

    Parameters
    ----------
    given : StreamContents
        A word for each of its leaves that is no empty token.
    """
    fiber_tree, parent = given.fiber_tree, given.fiber_tree.parent
    if parent is None or parent.parent is None:  # one fiber along the outermost index
        return given.values * (1.0 / BUNDLE)
    per = np.ones(fiber_tree.n) if fiber_tree.by is None else fiber_tree.by.per[fiber_tree.crd]
    before = np.zeros(fiber_tree.n + 1)
    np.cumsum(per if given.here is None else per * given.here, out=before[1:])
    return parent.summed(np.ceil(np.diff(before[fiber_tree.seg]) / BUNDLE))
