"""Parts that calls compute and read in a tile of the result, and the loops over tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import TypeAlias

from fuseloom.calls.annotated import DataHandle, FunctionCall
from fuseloom.calls.composition import Composition
from fuseloom.calls.data_kinds import FieldPair
from fuseloom.calls.polynomials import Polynomial, Symbol, largest, smallest
from fuseloom.errors import ProgramError

PartFields: TypeAlias = Mapping[str, Polynomial]
"""A part: the value of each field of its kind."""
KeptParts: TypeAlias = Mapping[DataHandle, PartFields]
"""Intermediates that are computed before, and the part of each that is kept."""


@dataclass(frozen=True)
class TileLoop:
    """A loop over tiles of the result.

    Attributes
    ----------
    variable : str
    start, end, step : Polynomial
    length : str
        The variable that holds the length of a tile: the step, or what is left before the end;
        empty if no length depends on it.
    """

    variable: str
    start: Polynomial
    end: Polynomial
    step: Polynomial
    length: str = ""

    @property
    def clipped(self) -> Polynomial:
        """The length of a tile."""
        return smallest([self.step, self.end - Polynomial.of(self.variable)])

    @property
    def facts(self) -> tuple[Polynomial, ...]:
        """Values that are never negative within the loop."""
        variable = Polynomial.of(self.variable)
        if not self.length:
            return (variable - self.start, self.end - variable - 1)
        length = Polynomial.of(self.length)
        return (variable - self.start, self.end - variable - length, self.step - length, length - 1)


@dataclass(frozen=True)
class RequiredBound:
    """An end of a part that a call computes, which what is needed of it must not exceed.

    Attributes
    ----------
    pair : FieldPair
    smaller, larger : Polynomial
        What is not to exceed the other.
    """

    pair: FieldPair
    smaller: Polynomial
    larger: Polynomial


@dataclass(frozen=True)
class CallPart:
    """A call of one tile.

    Attributes
    ----------
    call : FunctionCall
    produced : mapping
        The part of its output that it computes.
    consumed : tuple of (str, mapping)
        Per parameter the part that it reads.
    required : tuple of RequiredBound
        What must hold for its part to be all that is needed of its output.
    """

    call: FunctionCall
    produced: PartFields
    consumed: tuple[tuple[str, PartFields], ...]
    required: tuple[RequiredBound, ...] = ()

    @property
    def extended(self) -> PartFields:
        """The part that it computes, extended to the end of the part that is needed of it."""
        made = dict(self.produced)
        for bound in self.required:
            start = made[bound.pair.start]
            if bound.larger == start + made[bound.pair.length]:
                made[bound.pair.length] = largest((bound.smaller, bound.larger)) - start
        return made

    def require_possible(self) -> None:
        """Refuse a part that is never all that is needed.

        Raises
        ------
        ProgramError
        """
        for bound in self.required:
            ends = bound.smaller.number, bound.larger.number
            if None not in ends:
                raise ProgramError(
                    f"{self.call.function.name} computes {self.call.output.name} along "
                    f"{bound.pair.start} to {ends[1]}, and {ends[0]} is needed",
                    hint="make the size of the part that it produces symbolic",
                )


@dataclass(frozen=True)
class SlidingWindow:
    """A part of an intermediate that moves on from tile to tile.

    Attributes
    ----------
    level : int
        The loop whose tiles overlap.
    pair : FieldPair
        The dimension along which the part moves.
    fields : mapping
        The part that a tile needs.
    ready : str
        The variable that holds where what is computed ends.
    """

    level: int
    pair: FieldPair
    fields: PartFields
    ready: str

    @property
    def origin(self) -> str:
        """The variable that holds where what is held begins."""
        return f"{self.ready}_from"

    @property
    def start(self) -> Polynomial:
        """The start of a tile's part."""
        return self.fields[self.pair.start]

    @property
    def end(self) -> Polynomial:
        """Its end, which is not reached."""
        return self.start + self.fields[self.pair.length]

    def start_at(self, variable: str, value: Polynomial) -> Polynomial:
        """Its start with another expression in place of a variable."""
        return self.start.with_variables({variable: value})


@dataclass(frozen=True)
class Resolution:
    """The parts of all calls for a tile of the result.

    Attributes
    ----------
    composition : Composition
    loops : tuple of TileLoop
        The outermost first.
    parts : tuple of CallPart
        In order of the calls.
    parameters : tuple of str
        Variables that are given when the code runs: sizes of tiles, then integer arguments.
    windows : mapping
        Intermediates of which each tile keeps what the one before it computed.
    taken : frozenset of str
        Names that its variables must not have.
    """

    composition: Composition
    loops: tuple[TileLoop, ...]
    parts: tuple[CallPart, ...]
    parameters: tuple[str, ...]
    windows: Mapping[DataHandle, SlidingWindow] = dataclass_field(default_factory=dict)
    taken: frozenset[str] = frozenset()

    def substituted(self, values: Mapping[str, Polynomial]) -> Resolution:
        """The same with other expressions in place of variables."""

        def replaced(value: Polynomial) -> Polynomial:
            return value.with_variables(values)

        def fields(part: PartFields) -> PartFields:
            return {name: replaced(value) for name, value in part.items()}

        loops = tuple(
            replace(x, start=replaced(x.start), end=replaced(x.end), step=replaced(x.step))
            for x in self.loops
        )
        parts = tuple(
            CallPart(
                x.call,
                fields(x.produced),
                tuple((n, fields(f)) for n, f in x.consumed),
                tuple(
                    replace(y, smaller=replaced(y.smaller), larger=replaced(y.larger))
                    for y in x.required
                ),
            )
            for x in self.parts
        )
        windows = {
            handle: replace(window, fields=fields(window.fields))
            for handle, window in self.windows.items()
        }
        left = tuple(name for name in self.parameters if name not in values)
        return replace(self, loops=loops, parts=parts, parameters=left, windows=windows)


def superset(
    handle: DataHandle, parts: Sequence[PartFields], facts: tuple[Polynomial, ...] = ()
) -> PartFields:
    """The smallest part that holds several, dimension by dimension.

    Raises
    ------
    ProgramError
        If they differ in a field that is no bound.

    Examples
    --------
    >>> from fuseloom.calls.data_kinds import Vector
    >>> x, two = Polynomial.of("x"), Polynomial.of(2)
    >>> parts = [{"start": x, "len": two}, {"start": x + 1, "len": two}]
    >>> {name: str(value) for name, value in superset(DataHandle("a", Vector()), parts).items()}
    {'start': 'x', 'len': '3'}
    """
    first = parts[0]
    if all(part == first for part in parts):
        return first
    made: dict[str, Polynomial] = {}
    for pair in handle.kind.dimensions:
        start = smallest((part[pair.start] for part in parts), facts)
        end = largest((part[pair.start] + part[pair.length] for part in parts), facts)
        made[pair.start], made[pair.length] = start, end - start
    for field in handle.kind.exact:
        if any(part[field] != first[field] for part in parts):
            raise ProgramError(
                f"calls need parts of {handle.name} that differ in {field}, and no part holds both"
            )
        made[field] = first[field]
    return made


def required_bounds(
    part: CallPart, needed: PartFields, facts: tuple[Polynomial, ...] = ()
) -> tuple[RequiredBound, ...]:
    """What must hold for a part, as far as its annotation fixes it, to be all that is needed.

    Parameters
    ----------
    facts : tuple of Polynomial
        Values that are never negative; bounds that follow from them are left out.
    """
    annotation = part.call.function.annotation
    produced = dict(annotation.produces.fields)
    sizes = {*annotation.symbolic}
    variables = sizes | {x.variable for x in annotation.intervals}
    found = []
    for pair in part.call.output.kind.dimensions:
        start, wanted = part.produced[pair.start], needed[pair.start]
        if not _names(produced[pair.start]) & variables and start.number != 0:
            found.append(RequiredBound(pair, start, wanted))
        if not _names(produced[pair.length]) & sizes:
            end, last = start + part.produced[pair.length], wanted + needed[pair.length]
            found.append(RequiredBound(pair, last, end))
    return tuple(x for x in found if largest((x.smaller, x.larger), facts) != x.larger)


def _names(value: Polynomial) -> set[str]:
    return {atom.name for atom in value.atoms() if isinstance(atom, Symbol)}
