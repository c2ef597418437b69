"""Outermost indices: their coordinates, and the places that a recurrence has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, Execution
from fuseloom.dataflow.cost.exact.fiber_levels import Bools, FiberLevel, Floats, Ints, Profile
from fuseloom.dataflow.cost.exact.samples import Sample
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.program.distinct import distinct

TURNS = 16
"""In how many places a sampled coordinate appears, at most."""
PLACES = 16_384
"""And about how many places there are, unless more coordinates are in the sample."""
TOGETHER = 8
"""Sampled coordinates that take turns."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The outermost index of some streams: a place per coordinate in any of them, and one behind.

    Attributes
    ----------
    coords : array
        Sorted.
    whole : bool
        Whether each of the streams has all of them.
    order : array or None
        Which coordinate each place is for, where there is not one for each.
    weights, turns : array or None
        How many coordinates each coordinate stands for, and in how many places, likewise.
    """

    coords: Ints
    whole: bool
    order: Ints | None = None
    weights: Floats | None = None
    turns: Ints | None = None

    @cached_property
    def size(self) -> int:
        return 1 + len(self.coords if self.order is None else self.order)

    @property
    def inside(self) -> Bools:
        """All places but the one behind."""
        return np.arange(self.size) < self.size - 1

    def sampled(self, sample: Sample) -> Axis:
        """With as many places as show how one fiber follows another, though few were executed.

        Fibers that stand for many others take turns with their neighbours, so that the last one
        is not many times as long as any.
        """
        at = np.minimum(np.searchsorted(sample.coords, self.coords), len(sample.coords) - 1)
        found = sample.coords[at] == self.coords
        weights = np.where(found, sample.weights[at], 1.0)
        most = min(TURNS, max(PLACES // max(len(weights), 1), 1))
        turns = np.minimum(np.ceil(weights).astype(np.int64), most)
        block = np.arange(len(weights)) // TOGETHER
        times = int(turns.max(initial=1))
        turn, which = np.divmod(np.arange(times * len(weights)), max(len(weights), 1))
        there = turn < turns[which]
        turn, which = turn[there], which[there]
        order = which[np.lexsort((which, turn, block[which]))]
        return replace(self, order=order, weights=weights, turns=turns)

    def at_coordinates(self, top: FiberLevel, values: Floats) -> Floats:
        """Values of the elements of a level, at the coordinates that they have here."""
        if self.whole or top.n == len(self.coords):
            return values
        made = np.zeros(len(self.coords), dtype=values.dtype)
        made[np.searchsorted(self.coords, top.crd)] = values
        return made

    def placed(self, made: Floats, behind: float) -> Floats:
        """Values of every coordinate in every place, and behind."""
        return np.append(made if self.order is None else made[self.order], behind)

    def has(self, top: FiberLevel) -> Bools:
        """Which of its places a level has tokens in; the one behind always."""
        made = self.at_coordinates(top, np.ones(top.n))
        return np.asarray(self.placed(made, 1.0) > 0)

    def spread(self, profile: Profile) -> Floats:
        """A quantity in every place, and behind."""
        made = np.zeros(len(self.coords))
        if profile.top is not None:
            made = self.at_coordinates(profile.top, profile.per)
        if self.weights is not None and self.turns is not None:
            made = made * self.weights / self.turns
        return self.placed(made, profile.behind)

    def total(self, profile: Profile) -> float:
        """A quantity over all places."""
        if profile.top is None or self.weights is None:
            return profile.total
        return float(self.at_coordinates(profile.top, profile.per) @ self.weights) + profile.behind

    def at_elements(self, top: FiberLevel, placed: Floats) -> Floats:
        """Of every element of a level, what is in the first place that it has."""
        values = placed[:-1]
        if self.order is not None:
            by_coordinate = np.zeros(len(self.coords))
            by_coordinate[self.order[::-1]] = values[::-1]
            values = by_coordinate
        if self.whole or top.n == len(self.coords):
            return values
        return np.asarray(values[np.searchsorted(self.coords, top.crd)])


def axes_of(execution: Execution, samples: Mapping[str, Sample]) -> dict[str, Axis]:
    """Per outermost index of a graph's streams, the coordinates that any of them has."""
    tops: dict[str, dict[int, FiberLevel]] = {}
    for stream in execution.graph.streams:
        top = execution.streams[stream.id].fiber_tree.top
        if top is not None:
            tops.setdefault(stream.indices[0], {})[id(top)] = top
    for node, made in execution.nodes.items():
        top = made.work.top
        if top is not None:
            index = working_index(execution.graph, execution.graph.nodes[node], made)
            assert index is not None
            tops.setdefault(index, {})[id(top)] = top
    axes = {}
    for index, found in tops.items():
        several = list(found.values())
        longest = max(several, key=lambda t: t.n)
        if all(t.crd is longest.crd or np.array_equal(t.crd, longest.crd) for t in several):
            axes[index] = Axis(longest.crd, True)
        elif longest.full and all(not t.n or t.crd[-1] < longest.full for t in several):
            axes[index] = Axis(longest.crd, False)
        else:
            axes[index] = Axis(distinct(np.concatenate([t.crd for t in several])), False)
    for index, sample in samples.items():
        if index in axes and not sample.whole:
            axes[index] = axes[index].sampled(sample)
    return axes


def working_index(graph: Graph, node: Node, made: Executed) -> str | None:
    """The outermost index of what a node works on: of its output, or what it closes.

    None where there are scalars only.
    """
    closes = made.flushes is not None and made.flushes.top is None
    found: tuple[str, ...] = ()
    if not closes:
        found = _longest(graph, [s for s in node.outputs if s is not None])
    return next(iter(found or _longest(graph, list(node.inputs))), None)


def _longest(graph: Graph, streams: list[int]) -> tuple[str, ...]:
    return max((graph.streams[s].indices for s in streams), key=len, default=())
