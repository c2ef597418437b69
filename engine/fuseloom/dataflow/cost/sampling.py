"""A region executed on samples of its indices, where all of their coordinates would take too much.

Each outermost index has a sample of its own, and what runs along it is executed with that index
restricted.  Where that is not enough, the longest of the indices inside over which nothing is
folded is restricted as well; the others are whole.  Tensors that earlier regions write and nobody
has executed are made up from what is expected of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.cost.context import SAMPLED_ELEMENTS, EstimateContext
from fuseloom.dataflow.cost.exact.axes import working_index
from fuseloom.dataflow.cost.exact.execution import (
    ElementBudget,
    Executed,
    Execution,
    TooLargeError,
    execute,
)
from fuseloom.dataflow.cost.exact.fiber_levels import Floats, StreamContents
from fuseloom.dataflow.cost.exact.samples import (
    Sample,
    Traversals,
    measures_of,
    outermost,
    traversals_of,
    unfolded,
)
from fuseloom.dataflow.table.cuts import extent_of

SIZES = (4096, 2048, 1024, 512, 256, 128, 64, 32)
"""The most coordinates sampled of each outermost index, where the others are whole."""
PAIRS = ((32, 1024), (32, 256), (32, 64), (16, 256), (16, 64), (32, 16), (16, 16))
"""The most coordinates of each outermost index, and of the restricted one inside."""
FIRST = (
    *((16, None, 1.5), (16, 16, 0.75), (16, 8, 2.0), (8, 16, 1.0)),
    *((8, None, 1.0), (8, 4, 1.0), (4, 4, 1.0), (4, None, 1.0)),
)
"""The sizes that are tried until one fits: these pairs, each with its share of the budget."""
ALIKE = 256
"""The number of coordinates that suffices if nothing distinguishes them."""
TIMES = 2
"""The number of further attempts after a size has fitted."""
LONGEST = 5_000_000
"""Coordinates of an index of which samples are drawn."""

Sizes = tuple[int, int | None]
Made = tuple[Execution, Mapping[str, Sample]]


def sampled(region: CompiledRegion, context: EstimateContext) -> Made | None:
    """A region executed on about the largest samples that the budget allows; None if none does.

    Raises
    ------
    UnknownError
        If it reads what nobody knows anything of.
    """
    drawn = SampledIndices(region, context)
    if any(drawn.extents[x] > LONGEST for x in drawn.outer):
        return None
    for size, inside, part in FIRST:
        if inside is not None and drawn.inner is None:
            continue
        try:
            made, cost = drawn.executed(size, inside, part * SAMPLED_ELEMENTS)
        except TooLargeError:
            continue
        return _grown(drawn, made, (size, inside), cost)
    return None


def _grown(drawn: SampledIndices, made: Made, now: Sizes, cost: float) -> Made:
    """Return the execution on the largest samples that fit, as extrapolated from smaller ones."""
    tried: Sequence[Sizes] = PAIRS if now[1] is not None else [(size, None) for size in SIZES]
    at, each = drawn.places(*now), cost / drawn.places(*now)
    for _ in range(TIMES):
        fits = (s for s in tried if cost + (drawn.places(*s) - at) * each <= SAMPLED_ELEMENTS)
        more = next((s for s in fits if drawn.places(*s) > at), None)
        if more is None:
            break
        try:
            made, took = drawn.executed(*more, SAMPLED_ELEMENTS)
        except TooLargeError:
            break
        each = max(took - cost, 0.0) / (drawn.places(*more) - at)
        at, cost = drawn.places(*more), took
    return made


class SampledIndices:
    """Samples of the indices of a region, and executions on them."""

    def __init__(self, region: CompiledRegion, context: EstimateContext) -> None:
        self.graph, self.context = region.graph, context
        indices = {x for stream in region.graph.streams for x in stream.indices}
        self.extents = {x: extent_of(x, region.region.extents) or 1 for x in indices}
        self.outer, free = outermost(region.graph), unfolded(region.graph)
        self.inner = max(free, key=lambda x: self.extents[x], default=None)
        found = [t for t in traversals_of(region.graph) if context.elementwise(t[0]) is not None]
        self._names: dict[str, str] = {}  # what regions call their indices makes no difference
        for x in (x for _, _, levels in found for x, _ in levels):
            self._names.setdefault(x, str(len(self._names)))
        self._traversals = tuple(
            (name, order, tuple((self._names[x], level) for x, level in levels))
            for name, order, levels in found
        )
        self._alike: dict[str, bool] = {}

    def places(self, size: int, inside: int | None) -> int:
        """Coordinates of the outermost index, times those of the one inside that is restricted."""
        found = max((self._of(x, size) for x in self.outer), default=1)
        if inside is not None and self.inner is not None:
            found *= self._of(self.inner, inside)
        return found

    def _of(self, index: str, size: int) -> int:
        """Return the number of coordinates drawn of an index for a given limit."""
        if index not in self._alike:
            self._alike[index] = not np.ptp(self._measures(index), axis=1).any()
        return min(size, ALIKE if self._alike[index] else size, self.extents[index])

    def _key(self, index: str) -> tuple[Traversals, str, int]:
        return self._traversals, self._names.get(index, ""), self.extents[index]

    def _measures(self, index: str) -> Floats:
        key = self._key(index)
        if key not in self.context.measures:
            self.context.measures[key] = measures_of(*key, self.context.elementwise)
        return self.context.measures[key]

    def sample(self, index: str, size: int) -> Sample:
        """The sample of an index, which whatever traverses the same tensors by it shares."""
        key = self._key(index), self._of(index, size)
        if key not in self.context.samples:
            self.context.samples[key] = Sample.of(self._measures(index), key[1])
        return self.context.samples[key]

    def executed(self, size: int, inside: int | None, elements: float) -> tuple[Made, float]:
        """One execution out of those along each outermost index, and the elements it took.

        Raises
        ------
        TooLargeError
            If that is more than there may be.
        """
        outer, inner = {x: self.sample(x, size) for x in self.outer}, {}
        if inside is not None and self.inner is not None:
            inner = {self.inner: self.sample(self.inner, inside)}
        made, taken = self._executed_on(outer, inner, elements)
        return (made, outer), taken

    def on_windows(self, part: float, count: int, elements: float) -> Execution:
        """One execution out of those on windows of each outermost index, all that is in them.

        Parameters
        ----------
        part : float
            Of all coordinates.
        count : int
            How many windows there are.

        Raises
        ------
        TooLargeError
            If that makes more elements than it may.
        """
        windows = {x: Sample.of_windows(self._measures(x), part, count) for x in self.outer}
        return self._executed_on(windows, {}, elements)[0]

    def _executed_on(
        self, outer: Mapping[str, Sample], inner: Mapping[str, Sample], elements: float
    ) -> tuple[Execution, float]:
        """One execution out of those along each outermost index, and the elements it took."""
        graph, context = self.graph, self.context
        if not outer:
            budget = ElementBudget(elements)
            made = execute(graph, context.patterns, context.memo, budget, inner)
            return made, budget.made
        along: dict[str, Execution] = {}
        most = 0.0
        for x, sample in outer.items():
            budget = ElementBudget(elements)
            along[x] = execute(graph, context.patterns, context.memo, budget, {**inner, x: sample})
            most = max(most, budget.made)
        any_of = next(iter(along.values()))
        streams: dict[int, StreamContents] = {}
        for stream in graph.streams:
            found = along[stream.indices[0]] if stream.indices else any_of
            streams[stream.id] = found.streams[stream.id]
        nodes: dict[int, Executed] = {}
        for node in graph.nodes:
            index = working_index(graph, node, any_of.nodes[node.id])
            nodes[node.id] = (along[index] if index else any_of).nodes[node.id]
        return Execution(graph, streams, nodes), most
