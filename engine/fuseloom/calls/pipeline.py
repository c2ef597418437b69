"""Pipelines: loops over tiles in which parts are queried, allocated, computed and put back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.data_kinds import DataKind
from fuseloom.calls.parts import CallPart, KeptParts, PartFields, Resolution, TileLoop
from fuseloom.calls.pipeline_nodes import (
    AdvanceWindowNode,
    AllocateNode,
    BeginWindowNode,
    ComputeNode,
    FreeNode,
    InsertNode,
    LoopNode,
    MoveWindowNode,
    PipelineNode,
    QueryNode,
    RequireNode,
)
from fuseloom.calls.polynomials import Atom, Division, Extreme, Polynomial, Symbol
from fuseloom.errors import ScheduleError
from fuseloom.program.primes import numbered


@dataclass(frozen=True)
class CallPipeline:
    """Loops and nodes that compute the result of a composition.

    Attributes
    ----------
    resolution : Resolution
    body : tuple of nodes
    finer : tuple of Resolution
        Those of calls that run in smaller tiles within its tiles.
    """

    resolution: Resolution
    body: tuple[PipelineNode, ...]
    finer: tuple[Resolution, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self.body, 0))

    def nodes(self) -> Iterator[PipelineNode]:
        """All nodes, loops before what is in them."""
        yield from _walk(self.body)


def _walk(nodes: tuple[PipelineNode, ...]) -> Iterator[PipelineNode]:
    for node in nodes:
        yield node
        if isinstance(node, LoopNode):
            yield from _walk(node.body)


def _lines(nodes: tuple[PipelineNode, ...], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for node in nodes:
        if not isinstance(node, LoopNode):
            yield f"{pad}{node}"
            continue
        loop = node.loop
        word = "parallel for" if node.parallel else "for"
        yield f"{pad}{word} {loop.variable} in [{loop.start}, {loop.end}, {loop.step}] {{"
        if loop.length:
            yield f"{pad}  {loop.length} = {loop.clipped}"
        yield from _lines(node.body, depth + 1)
        yield f"{pad}}}"


def build_pipeline(
    resolution: Resolution,
    parallel: frozenset[int] = frozenset(),
    kept: KeptParts | None = None,
    finer: Sequence[Resolution] = (),
) -> CallPipeline:
    """The pipeline of a resolution.

    Intermediates are allocated outside the loops that their size does not depend on, except that
    every iteration of a parallel loop has its own; the room of one that is no longer read is
    used by the next of the same size.

    Parameters
    ----------
    parallel : frozenset of int
        Levels of loops whose iterations run at once, 0 for the outermost.
    kept : mapping, optional
        Intermediates that are kept whole, and the part of each that is: where it begins.
    finer : sequence of Resolution
        Of some of its calls, each of the part that a tile needs of the last of them.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.composition import compose
    >>> from fuseloom.calls.data_kinds import Vector
    >>> from fuseloom.calls.resolution import resolve
    >>> exp = annotate(np.exp, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t} } }''',
    ...     ["a", "out"])
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> print(build_pipeline(resolve(compose([exp(a, b), exp(b, c)]))))
    allocate b_room {start: 0, len: t}
    for x in [0, c.len, t] {
      t_len = min(c.len - x, t)
      query a_part from a {start: x, len: t_len}
      query b_part from b_room {start: 0, len: t_len}
      compute exp(a_part, b_part)
      query c_part from c {start: x, len: t_len}
      compute exp(b_part, c_part)
      insert c_part into c {start: x, len: t_len}
      free a_part
      free c_part
    }
    free b_room
    """
    builder = _Builder(resolution, parallel, kept or {}, finer)
    body = builder.tile()
    return CallPipeline(resolution, builder.wrapped(body), tuple(finer))


class _Builder:
    """The nodes of a tile, and the loops and rooms around them."""

    def __init__(
        self,
        resolution: Resolution,
        parallel: frozenset[int],
        kept: KeptParts,
        finer: Sequence[Resolution] = (),
    ) -> None:
        self.kept = kept
        self.finer = {group.composition.result: group for group in finer}
        self.within = {
            handle: result
            for result, group in self.finer.items()
            for handle in group.composition.producers
        }
        self.sources: dict[DataHandle, tuple[str, PartFields]] = {}
        self.resolution = resolution
        self.composition = resolution.composition
        self.parallel = parallel
        self.windows = resolution.windows
        self.held = {part.call.output: part.produced for part in resolution.parts}
        self.held |= {handle: window.fields for handle, window in self.windows.items()}
        self.parts: dict[tuple[DataHandle, tuple[tuple[str, Polynomial], ...]], str] = {}
        self.names: set[str] = set()
        self.taken = _taken(resolution)
        self.queried: list[tuple[str, DataKind]] = []
        self.rooms: list[tuple[int, AllocateNode]] = []
        self.free: list[tuple[int, AllocateNode]] = []
        self.room_of: dict[DataHandle, tuple[int, AllocateNode]] = {}

    def tile(self) -> tuple[PipelineNode, ...]:
        """The nodes of one tile."""
        nodes: list[PipelineNode] = []
        last_reads = self._last_reads()
        for number, part in enumerate(self.resolution.parts):
            output = part.call.output
            if self.within.get(output, output) == output:
                nodes += self._call(part)
            for handle, last in last_reads.items():
                if last == number and handle in self.room_of and handle not in self.windows:
                    self.free.append(self.room_of[handle])
        nodes += [FreeNode(name, kind) for name, kind in self.queried]
        return tuple(nodes)

    def _last_reads(self) -> dict[DataHandle, int]:
        reads: dict[DataHandle, int] = {}
        for number, call in enumerate(self.composition.calls):
            runs = self.composition.producers[self.within.get(call.output, call.output)]
            for handle in call.inputs:
                if handle in self.composition.producers:
                    reads[handle] = max(runs, number)
        return reads

    def _call(self, part: CallPart) -> Iterator[PipelineNode]:
        names: dict[str, str] = {}
        group = self.finer.get(part.call.output)
        for parameter, fields in part.consumed if group is None else ():
            handle: DataHandle = part.call.arguments[parameter]
            yield from self._read(handle, fields)
            names[parameter] = self.parts[_key(handle, fields)]
        output = part.call.output
        is_result = output == self.composition.result
        yield from self._read(output, part.produced) if is_result else self._room(output, part)
        names[part.call.function.output] = self.parts[_key(output, part.produced)]
        if group is None:
            for bound in part.required:
                yield RequireNode(part.call, bound)
            yield ComputeNode(part.call, names, part.produced)
        else:
            yield from self._finer(group, names[part.call.function.output], part.produced)
        if output in self.windows:
            yield AdvanceWindowNode(self.windows[output])
        if is_result:
            name = names[part.call.function.output]
            source, origin = self._source(output)
            within = _within(output, part.produced, origin)
            yield InsertNode(name, source, output.kind, within)

    def _finer(self, group: Resolution, room: str, produced: PartFields) -> Iterator[PipelineNode]:
        """Calls that run in smaller tiles, from parts of this tile into one of it."""
        inner = _Builder(group, frozenset(), self.kept)
        inner.names, inner.taken = self.names, inner.taken | self.taken
        inner.sources = {
            handle: (self.parts[_key(handle, self.held[handle])], self.held[handle])
            for handle in self.room_of
        }
        inner.sources[group.composition.result] = room, produced
        yield from inner.wrapped(inner.tile())

    def _read(self, handle: DataHandle, fields: PartFields) -> Iterator[PipelineNode]:
        """A query of a part, unless the same one is there."""
        key = _key(handle, fields)
        if key in self.parts:
            return
        name = self.parts[key] = self._fresh(f"{handle.name}_part")
        if handle in self.room_of:
            origin, source = self.held[handle], self.parts[_key(handle, self.held[handle])]
            yield QueryNode(name, source, handle.kind, _within(handle, fields, origin))
        else:
            source, origin = self._source(handle)
            yield QueryNode(name, source, handle.kind, _within(handle, fields, origin))
            self.queried.append((name, handle.kind))

    def _source(self, handle: DataHandle) -> tuple[str, PartFields]:
        """The name of what holds a data structure, and where that begins."""
        return self.sources.get(handle, (handle.name, self.kept.get(handle, {})))

    def _room(self, handle: DataHandle, part: CallPart) -> Iterator[PipelineNode]:
        """Room for what a call computes, and the part of it that is used in a tile."""
        held, window = self.held[handle], self.windows.get(handle)
        lengths = self._capacity(handle, held)
        level = self._level(lengths)
        if window is not None and level > window.level:
            raise ScheduleError(
                f"the room of {handle.name} lies within the loop whose tiles would share it",
                hint="do not run that loop in parallel",
            )
        kept = next(
            (x for x in self.free
             if window is None
             and (x[0], x[1].kind, x[1].fields) == (level, handle.kind, lengths)), None,
        )  # fmt: skip
        if kept is not None:
            self.free.remove(kept)
        else:
            kept = level, AllocateNode(self._fresh(f"{handle.name}_room"), handle.kind, lengths)
            self.rooms.append(kept)
        self.room_of[handle] = kept
        if window is not None:
            yield MoveWindowNode(kept[1].name, handle.kind, window)
        within = {**held, **{x.start: Polynomial.of(0) for x in handle.kind.dimensions}}
        key = _key(handle, held)
        if within == lengths:
            self.parts[key] = kept[1].name
        else:
            self.parts[key] = self._fresh(f"{handle.name}_part")
            yield QueryNode(self.parts[key], kept[1].name, handle.kind, within)
        yield from self._read(handle, part.produced)

    def _capacity(self, handle: DataHandle, fields: PartFields) -> PartFields:
        """Lengths that hold the part of every tile: with whole tiles, if that only adds."""
        whole = {x.length: x.step for x in self.resolution.loops if x.length}
        first = {window.ready: window.start for window in self.windows.values()}
        made: dict[str, Polynomial] = dict(fields)
        for pair in handle.kind.dimensions:
            made[pair.start] = Polynomial.of(0)
            length = fields[pair.length]
            if all(_grows(-length, name) for name in first):
                length = length.with_variables(first)
            for loop in reversed(self.resolution.loops):
                length = _along(length, loop)
            if all(_grows(length, name) for name in whole):
                length = length.with_variables(whole)
            made[pair.length] = length
        return made

    def _level(self, fields: PartFields) -> int:
        """The number of loops around an allocation: those of its size, and parallel ones."""
        used = {x.name for value in fields.values() for x in value.atoms() if isinstance(x, Symbol)}
        level = 0
        for number, loop in enumerate(self.resolution.loops, start=1):
            if loop.variable in used or loop.length in used or number - 1 in self.parallel:
                level = number
        return level

    def wrapped(self, body: tuple[PipelineNode, ...]) -> tuple[PipelineNode, ...]:
        """The loops around a tile, with the rooms that are allocated at each level."""
        for number in reversed(range(len(self.resolution.loops) + 1)):
            rooms = [room for level, room in self.rooms if level == number]
            body = (*rooms, *body, *(FreeNode(room.name, room.kind) for room in rooms))
            if number:
                loop = self.resolution.loops[number - 1]
                begins = [
                    BeginWindowNode(window, window.start_at(loop.variable, loop.start))
                    for window in self.windows.values()
                    if window.level == number - 1
                ]
                body = (*begins, LoopNode(loop, number - 1 in self.parallel, body))
        return body

    def _fresh(self, name: str) -> str:
        found = numbered(name, self.names | self.taken, first=2)
        self.names.add(found)
        return found


def _taken(resolution: Resolution) -> set[str]:
    """Names of variables and of data structures."""
    composition = resolution.composition
    handles = (*composition.given, *composition.producers)
    loops = {name for loop in resolution.loops for name in (loop.variable, loop.length)}
    windows = {x for window in resolution.windows.values() for x in (window.ready, window.origin)}
    names = {handle.name for handle in handles}
    names |= loops | windows | resolution.taken
    return names | {*resolution.parameters, *composition.integers}


def _within(handle: DataHandle, fields: PartFields, origin: PartFields) -> PartFields:
    """A part counted from where what holds it begins."""
    starts = {
        x.start: fields[x.start] - origin.get(x.start, Polynomial.of(0))
        for x in handle.kind.dimensions
    }
    return {**fields, **starts}


def _key(
    handle: DataHandle, fields: PartFields
) -> tuple[DataHandle, tuple[tuple[str, Polynomial], ...]]:
    return handle, tuple(sorted(fields.items()))


def _along(value: Polynomial, loop: TileLoop) -> Polynomial:
    """The most that an expression comes to along a loop, if its variable only makes it larger."""
    if not _reads(value, loop.variable) or not _grows(value, loop.variable):
        return value
    length = Polynomial.of(loop.length) if loop.length else Polynomial.of(1)
    for last in (loop.end - length, loop.end - 1):
        made = value.with_variables({loop.variable: last})
        if _grows(made, loop.length):
            return made
    return value


def _reads(value: Polynomial, name: str) -> bool:
    return Symbol(name) in set(value.atoms())


def _grows(value: Polynomial, name: str) -> bool:
    """Whether a larger value of a variable never makes an expression smaller."""
    for monomial, factor in value.terms.items():
        reading = [atom for atom in monomial if _reads(Polynomial.of(atom), name)]
        if not reading:
            continue
        if len(monomial) > 1 and factor < 0:
            return False
        if not all(_atom_grows(atom, name, factor > 0) for atom in reading):
            return False
    return True


def _atom_grows(atom: Atom, name: str, positive: bool) -> bool:
    """Whether an atom grows with a variable; where it is subtracted, whether it shrinks."""
    sign = 1 if positive else -1
    match atom:
        case Extreme(_, values):
            return all(_grows(sign * value, name) for value in values)
        case Division(dividend, _, remainder):
            return not remainder and _grows(sign * dividend, name)
    return positive
