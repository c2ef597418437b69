"""Counts of a schedule without running it: elements that are computed, and tiles in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.composition import Composition
from fuseloom.calls.data_kinds import ArrayKind
from fuseloom.calls.parts import PartFields
from fuseloom.calls.pipeline_nodes import (
    AdvanceWindowNode,
    AllocateNode,
    BeginWindowNode,
    ComputeNode,
    LoopNode,
    MoveWindowNode,
    PipelineNode,
    QueryNode,
    RequireNode,
)
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.calls.resolution import whole_parts
from fuseloom.calls.schedule import ScheduledCalls
from fuseloom.errors import DataError, LimitError

MOST_TILES = 1_000_000
Values = dict[Symbol | DataField, int]


@dataclass(frozen=True)
class ScheduleCounts:
    """Counts of a schedule.

    Attributes
    ----------
    computed : mapping
        Per intermediate, and for the result, the elements that are computed in all tiles.
    whole : mapping
        The elements that are needed of each.
    calls : int
        Calls of functions.
    room : int
        The most bytes of intermediates that are there at once.
    tile_bytes : int
        Bytes of arrays that calls read and write of intermediates of tiles.
    whole_bytes : int
        Bytes that they read and write of the others: given, returned, or kept whole.
    working_set : int
        The most bytes that a tile works on: intermediates of tiles, and its parts of the others.
    """

    computed: Mapping[str, int]
    whole: Mapping[str, int]
    calls: int
    room: int
    tile_bytes: int = 0
    whole_bytes: int = 0
    working_set: int = 0

    @property
    def recomputation(self) -> dict[str, float]:
        """Elements that are computed, per element that is needed: 1 if none is computed twice."""
        return {name: self.computed[name] / max(1, self.whole[name]) for name in self.computed}


def count(scheduled: ScheduledCalls, values: Mapping[Symbol | DataField, int]) -> ScheduleCounts:
    """Count what a schedule computes.

    Parameters
    ----------
    values : mapping
        Of its parameters, and of the fields of the data structures that are given.

    Raises
    ------
    LimitError
        If it has more tiles than are counted.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.composition import compose
    >>> from fuseloom.calls.data_kinds import Vector
    >>> from fuseloom.calls.schedule import schedule
    >>> sums = annotate(lambda a, out: np.add(a[:-1], a[1:], out=out), '''t: Symbolic
    ...     for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t + 1} } }''',
    ...     name="sums")
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> made = schedule(compose([sums(a, b), sums(b, c)]))
    >>> sizes = {Symbol("t"): 4, DataField("c", "len"): 12}
    >>> counts = count(made, sizes)
    >>> counts.computed, counts.whole, counts.room
    ({'b': 15, 'c': 12}, {'b': 13, 'c': 12}, 40)
    """
    composition = scheduled.composition
    whole = {handle.name for handle in (*composition.given, composition.result)}
    counter = _Counter(dict(values), whole | {room.name for room in scheduled.rooms})
    counter.run(scheduled.rooms)
    kept = counter.held
    for stage in scheduled.stages:
        counter.run(stage.body)
    return ScheduleCounts(
        counter.computed,
        _whole(composition, values),
        counter.calls,
        counter.most,
        counter.tile_bytes,
        counter.whole_bytes,
        counter.most - kept + counter.parts,
    )


def _whole(composition: Composition, values: Mapping[Symbol | DataField, int]) -> dict[str, int]:
    return {
        handle.name: _elements(handle, part, values)
        for handle, part in whole_parts(composition).items()
    }


def _elements(
    handle: DataHandle, part: PartFields, values: Mapping[Symbol | DataField, int]
) -> int:
    return handle.kind.elements({name: value.evaluate(values) for name, value in part.items()})


class _Counter:
    def __init__(self, values: Values, whole: set[str]) -> None:
        self.values = values
        self.whole = whole  # names of what is no intermediate of tiles, and of its parts
        self.sizes: dict[str, int] = {}
        self.tile_bytes = self.whole_bytes = self.parts = 0
        self.computed: dict[str, int] = {}
        self.calls = self.tiles = self.held = self.most = 0

    def run(self, nodes: Sequence[PipelineNode]) -> None:
        """Count nodes, one after another."""
        parts = 0
        for node in nodes:
            match node:
                case LoopNode():
                    self._loop(node)
                case AllocateNode():
                    self.sizes[node.name] = self._bytes(node)
                    self.held += self.sizes[node.name]
                    self.most = max(self.most, self.held)
                case QueryNode():
                    self.sizes[node.name] = self._bytes(node)
                    if node.source in self.whole:
                        self.whole.add(node.name)
                        parts += self.sizes[node.name]
                case BeginWindowNode(window, start):
                    self.values[Symbol(window.ready)] = start.evaluate(self.values)
                case MoveWindowNode(_, _, window):
                    ready, begin = Symbol(window.ready), window.start.evaluate(self.values)
                    self.values[ready] = max(self.values[ready], begin)
                case AdvanceWindowNode(window):
                    self.values[Symbol(window.ready)] = window.end.evaluate(self.values)
                case RequireNode(_, bound):
                    if bound.smaller.evaluate(self.values) > bound.larger.evaluate(self.values):
                        raise DataError(node.message, hint="choose smaller tiles")
                case ComputeNode():
                    handle = node.call.output
                    found = _elements(handle, node.produced, self.values)
                    self.computed[handle.name] = self.computed.get(handle.name, 0) + found
                    self.calls += 1
                    for name in node.parts.values():
                        if name in self.whole:
                            self.whole_bytes += self.sizes[name]
                        else:
                            self.tile_bytes += self.sizes[name]
        self.parts = max(self.parts, parts)

    def _bytes(self, node: AllocateNode | QueryNode) -> int:
        """Bytes of a part of an array; of other kinds the number of its elements."""
        fields = {name: value.evaluate(self.values) for name, value in node.fields.items()}
        item = 1
        if isinstance(node.kind, ArrayKind):
            item = node.kind.dtype.itemsize
            for extent in node.kind.rest:
                item *= extent
        return node.kind.elements(fields) * item

    def _loop(self, node: LoopNode) -> None:
        loop = node.loop
        variable, length = Symbol(loop.variable), Symbol(loop.length)
        for start in self._starts(loop.start, loop.end, loop.step):
            self.tiles += 1
            if self.tiles > MOST_TILES:
                raise LimitError(
                    f"there are more than {MOST_TILES:,} tiles", hint="choose larger ones"
                )
            self.values[variable] = start
            if loop.length:
                self.values[length] = loop.clipped.evaluate(self.values)
            held = self.held
            self.run(node.body)
            self.held = held

    def _starts(self, start: Polynomial, end: Polynomial, step: Polynomial) -> Iterator[int]:
        first, last, size = (x.evaluate(self.values) for x in (start, end, step))
        yield from range(first, last, size)
