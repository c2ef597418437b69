"""Nodes of pipelines: what is done with the parts of a tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fuseloom.calls.annotated import FunctionCall
from fuseloom.calls.data_kinds import DataKind
from fuseloom.calls.parts import PartFields, RequiredBound, SlidingWindow, TileLoop
from fuseloom.calls.polynomials import Polynomial


@dataclass(frozen=True)
class AllocateNode:
    """Room for a part of an intermediate.

    Attributes
    ----------
    name : str
    kind : DataKind
    fields : mapping
        Its lengths; it begins at 0.
    """

    name: str
    kind: DataKind
    fields: PartFields

    def __str__(self) -> str:
        return f"allocate {self.name} {part_text(self.kind, self.fields)}"


@dataclass(frozen=True)
class QueryNode:
    """A part of a data structure.

    Attributes
    ----------
    name : str
    source : str
    kind : DataKind
    fields : mapping
        Within the source.
    """

    name: str
    source: str
    kind: DataKind
    fields: PartFields

    def __str__(self) -> str:
        return f"query {self.name} from {self.source} {part_text(self.kind, self.fields)}"


@dataclass(frozen=True)
class ComputeNode:
    """A call on parts.

    Attributes
    ----------
    call : FunctionCall
    parts : mapping
        Per parameter with data the name of its part.
    produced : mapping
        The part of the output that it computes.
    """

    call: FunctionCall
    parts: Mapping[str, str]
    produced: PartFields

    def __str__(self) -> str:
        given = []
        for parameter in self.call.function.parameters:
            value = self.call.arguments[parameter]
            given.append(self.parts.get(parameter) or str(getattr(value, "name", value)))
        return f"compute {self.call.function.name}({', '.join(given)})"


@dataclass(frozen=True)
class RequireNode:
    """A bound of what a call computes, within which what is needed of it must lie.

    Attributes
    ----------
    call : FunctionCall
    bound : RequiredBound
    """

    call: FunctionCall
    bound: RequiredBound

    @property
    def message(self) -> str:
        """What is wrong where it does not hold."""
        return (
            f"{self.call.function.name} does not compute all {self.bound.pair.length} of "
            f"{self.call.output.name} that a tile needs"
        )

    def __str__(self) -> str:
        return f"require {self.bound.smaller} <= {self.bound.larger}"


@dataclass(frozen=True)
class InsertNode:
    """A part that is put back into a data structure.

    Attributes
    ----------
    part, target : str
    kind : DataKind
    fields : mapping
    """

    part: str
    target: str
    kind: DataKind
    fields: PartFields

    def __str__(self) -> str:
        return f"insert {self.part} into {self.target} {part_text(self.kind, self.fields)}"


@dataclass(frozen=True)
class FreeNode:
    """Room, or a part, that is given back.

    Attributes
    ----------
    name : str
    kind : DataKind
    """

    name: str
    kind: DataKind

    def __str__(self) -> str:
        return f"free {self.name}"


@dataclass(frozen=True)
class BeginWindowNode:
    """Before the first tile nothing of an intermediate is computed.

    Attributes
    ----------
    window : SlidingWindow
    start : Polynomial
        Where the first tile's part begins.
    """

    window: SlidingWindow
    start: Polynomial

    def __str__(self) -> str:
        return f"{self.window.ready} = {self.window.origin} = {self.start}"


@dataclass(frozen=True)
class MoveWindowNode:
    """A move of what the tile before computed, and this one needs, to the front of its room.

    Attributes
    ----------
    room : str
    kind : DataKind
    window : SlidingWindow
    """

    room: str
    kind: DataKind
    window: SlidingWindow

    def __str__(self) -> str:
        return f"move {self.room} along {self.window.pair.start} to begin at {self.window.start}"


@dataclass(frozen=True)
class AdvanceWindowNode:
    """All of a tile's part is computed.

    Attributes
    ----------
    window : SlidingWindow
    """

    window: SlidingWindow

    def __str__(self) -> str:
        return f"{self.window.ready} = {self.window.end}"


@dataclass(frozen=True)
class LoopNode:
    """A loop over tiles.

    Attributes
    ----------
    loop : TileLoop
    parallel : bool
    body : tuple of nodes
    """

    loop: TileLoop
    parallel: bool
    body: tuple[PipelineNode, ...]


PipelineNode: TypeAlias = (
    AllocateNode
    | QueryNode
    | RequireNode
    | ComputeNode
    | InsertNode
    | FreeNode
    | BeginWindowNode
    | MoveWindowNode
    | AdvanceWindowNode
    | LoopNode
)


def part_text(kind: DataKind, fields: PartFields) -> str:
    """A part as text: its fields in the order of its kind.

    Examples
    --------
    >>> from fuseloom.calls.data_kinds import Vector
    >>> part_text(Vector(), {"start": Polynomial.of("x"), "len": Polynomial.of(4)})
    '{start: x, len: 4}'
    """
    return "{" + ", ".join(f"{name}: {fields[name]}" for name in kind.fields) + "}"
