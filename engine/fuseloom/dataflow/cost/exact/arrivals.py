"""When tokens pass, per outer coordinate: what a node takes, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fuseloom.dataflow.cost.exact.axes import Axis
from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionRule
from fuseloom.dataflow.cost.exact.fiber_levels import (
    Bools,
    FiberLevel,
    Floats,
    Profile,
    StreamContents,
)
from fuseloom.dataflow.cost.exact.steps import innermost
from fuseloom.dataflow.machine.timing import Timing


@dataclass(frozen=True, eq=False)
class ArrivalTimes:
    """When the tokens of a stream pass: the first and the last of each outer coordinate.

    Attributes
    ----------
    axis : str or None
        The outermost index; None of a scalar, of which ``first`` and ``last`` are one number.
    flat : bool
        Whether it has no level inside the outermost.
    together : array or None
        How many tokens come together with the last one; None: it comes alone.
    """

    axis: str | None
    first: Floats
    last: Floats
    flat: bool = False
    together: Floats | None = None

    @cached_property
    def coming(self) -> Floats:
        """When the next token passes, of this outer coordinate or one behind it."""
        first = np.where(self.last > 0, self.first, np.inf)
        found = np.minimum.accumulate(first[::-1])[::-1]
        return np.where(np.isinf(found), 0.0, found)

    def delayed(self, until: Floats) -> ArrivalTimes:
        """With no last token before then: what waits for room takes no time anew when it goes."""
        last = np.where(self.last > 0, np.maximum(self.last, until), 0.0)
        return replace(self, first=last if self.flat else self.first, last=last)


def alone(when: float) -> ArrivalTimes:
    """A scalar that passes then."""
    return ArrivalTimes(None, np.array([when]), np.array([when]))


def beside(
    rule: ExecutionRule, fiber_trees: list[FiberLevel], made: Executed
) -> list[FiberLevel | None]:
    """The outermost level at whose coordinates each input is worked on.

    Coordinates that a concat has shifted come with payloads that still lie at those before.
    """
    tops = [fiber_tree.top for fiber_tree in fiber_trees]
    if rule.heads:
        shifted = {2 * k + 1: fiber_tree for k, fiber_tree in enumerate(fiber_trees[::2])}
    elif rule.aligns:
        shifted = {len(fiber_trees) - 1: fiber_trees[0]}
    else:
        shifted = {0: made.outputs[0].fiber_tree} if rule.shifts else {}
    for port, fiber_tree in shifted.items():
        if fiber_tree.depth == 1:
            tops[port] = fiber_tree
    return tops


def moved_to(
    p: ArrivalTimes,
    own: FiberLevel | None,
    target: FiberLevel | None,
    top: FiberLevel,
    name: str,
    axes: Mapping[str, Axis],
) -> ArrivalTimes:
    """A stream at the coordinates, and under the index, that its reader works on.

    The same coordinates may have one index in front of a join and another behind.
    """
    if p.axis is None or own is None or target is None:
        return p
    if own is target and (p.axis == name or not _within(own, top)):
        return p  # where it is, or on another axis altogether
    before, after = axes[p.axis], axes[name]
    to = np.searchsorted(after.coords, target.crd)

    def moved(placed: Floats) -> Floats:
        made = np.zeros(len(after.coords))
        made[to] = before.at_elements(own, placed)
        return after.placed(made, float(placed[-1]))

    together = None if p.together is None else moved(p.together)
    return ArrivalTimes(name, moved(p.first), moved(p.last), p.flat, together)


def _within(some: FiberLevel, other: FiberLevel) -> bool:
    if some is other or some.crd is other.crd:
        return True
    return some.n <= other.n and bool(np.isin(some.crd, other.crd).all())


@dataclass(frozen=True, eq=False)
class Stepping:
    """When a node is at work on each outer coordinate.

    Attributes
    ----------
    here : array
        Where it does anything.
    start, end : array
        Clock when it begins, and when it is done.
    """

    name: str
    here: Bools
    start: Floats
    end: Floats
    work: Floats

    @property
    def done(self) -> float:
        return float(np.max(self.end, where=self.here, initial=0.0))

    def gives(
        self,
        made: Executed,
        carried: StreamContents,
        index: str,
        axis: Axis,
        pace: Timing,
        slow: int,
    ) -> ArrivalTimes:
        """When the tokens of one of its outputs pass."""
        top = carried.fiber_tree.top
        if top is None:
            return alone(self.done - 1.0 + latency_of(made, carried, slow))
        flat = top is carried.fiber_tree
        # A fold takes its time for fibers without values, too.
        leaves = carried.values if made.flushes is None else carried.fiber_tree.elements
        latency = _latencies(leaves, axis, float(pace.latency))
        there = axis.has(top)
        if made.flushes is not None and made.flushes.top is None:
            when = np.where(there, self.done - 1.0 + latency, 0.0)
            return ArrivalTimes(index, when, when, flat)
        there &= self.here
        start, together = self.start, None
        if made.lead is not None:
            start = start + np.minimum(axis.spread(made.lead) * pace.interval, self.work)
        if made.flushes is not None:
            if len(made.outputs) > 1:
                together = axis.spread(
                    _last_tree(made.outputs[0].fiber_tree.parent, carried.fiber_tree)
                )
            flushes = np.maximum(axis.spread(made.flushes), 1.0)
            some = np.where(flushes <= 1.0, self.end, np.minimum(start + 1.0, self.end))
            first, last = some + latency - 1.0, self.end + latency - 1.0
        else:
            first = start + latency
            last = self.end - pace.interval + latency
            if not flat:  # behind the last value comes a stop
                last = last - pace.interval + 1.0
            first, last = (last, last) if flat else (first, np.maximum(last, first))
        if slow > pace.latency:  # as little as is certain: what comes behind a value comes later
            some = axis.spread(leaves)
            steps = 0.0 if made.flushes is not None else (some - 1.0) * pace.interval
            put = self.end - pace.interval if flat else start + steps
            last = np.maximum(last, np.where(some > 0, put + slow, 0.0))
            first = last if flat else first
        first, last = np.where(there, first, 0.0), np.where(there, last, 0.0)
        return ArrivalTimes(index, first, last, flat, together)


def _last_tree(base: FiberLevel | None, fiber_tree: FiberLevel) -> Profile:
    """Tokens under the last element of a level, per outer coordinate."""
    assert base is not None
    last = base.ends[1:] - 1
    some = base.ends[1:] > base.ends[:-1]
    low, high = np.where(some, last, 0), np.where(some, last + 1, 0)
    tokens, found = np.where(some, 1, 0), high - low
    for level in innermost(fiber_tree, fiber_tree.depth - base.depth):
        tokens = np.where(some, np.maximum(found, 1), 0)  # a stop for each
        low, high = level.seg[low], level.seg[high]
        found = level.between(low, high, np.where(some, last, 0), base)
    return Profile.of(fiber_tree.top, tokens + found)


def latency_of(made: Executed, carried: StreamContents, slow: int) -> int:
    """Return the latency of a scalar: one cycle for an empty token, unless a fold produced it."""
    return slow if made.flushes is not None or carried.values.total > 0 else 1


def _latencies(leaves: Profile, axis: Axis, slow: float) -> Floats | float:
    """Stops and empty tokens pass in a cycle."""
    if slow <= 1.0:
        return 1.0
    return np.where(axis.spread(leaves) > 0, slow, 1.0)
