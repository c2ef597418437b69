"""Pipelines written in a programming language: what all languages share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuseloom.calls.annotated import DataHandle
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
from fuseloom.calls.polynomials import DataField, Polynomial
from fuseloom.calls.schedule import ScheduledCalls


@dataclass(frozen=True)
class CodeLine:
    """A line of code, and the node that it comes from.

    Attributes
    ----------
    text : str
    node : int or None
        The number of the node in :meth:`ScheduledCalls.nodes`.
    """

    text: str
    node: int | None = None


@dataclass
class GeneratedCode(ABC):
    """A pipeline as code.

    Attributes
    ----------
    lines : list of CodeLine
    """

    lines: list[CodeLine] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The code as text."""
        return "\n".join(line.text for line in self.lines) + "\n"

    @abstractmethod
    def compile(self) -> Callable[..., None]:
        """The function, which takes data structures, sizes of tiles and integers."""


class PipelineWriter(ABC):
    """Writes the nodes of pipelines, one after another, as lines of code.

    Parameters
    ----------
    scheduled : ScheduledCalls
    lines : list of CodeLine
        Lines are added to it.
    """

    def __init__(self, scheduled: ScheduledCalls, lines: list[CodeLine]) -> None:
        self.scheduled = scheduled
        self.lines = lines
        self.numbers = {id(node): number for number, node in enumerate(scheduled.nodes())}

    @property
    def handles(self) -> tuple[DataHandle, ...]:
        """What the function is given, the result's room last."""
        composition = self.scheduled.composition
        return (*composition.given, composition.result)

    def extents(self) -> Iterator[tuple[DataHandle, str]]:
        """The fields of whole data structures that the code uses."""
        used = {
            atom
            for value in self._values()
            for atom in value.atoms()
            if isinstance(atom, DataField)
        }
        for handle in self.handles:
            for name in handle.kind.fields:
                if DataField(handle.name, name) in used:
                    yield handle, name

    def _values(self) -> Iterator[Polynomial]:
        yield from _values(self.scheduled.rooms)
        for stage in self.scheduled.stages:
            yield from _values(stage.body)

    def line(self, depth: int, text: str, node: PipelineNode | None = None) -> None:
        """Add a line."""
        number = None if node is None else self.numbers[id(node)]
        self.lines.append(CodeLine(f"{'    ' * depth}{text}", number))

    def nodes(self, nodes: Iterable[PipelineNode], depth: int) -> None:
        """Write nodes."""
        for node in nodes:
            match node:
                case LoopNode():
                    self.loop(node, depth)
                case AllocateNode():
                    self.allocate(node, depth)
                case QueryNode():
                    self.query(node, depth)
                case RequireNode():
                    self.require(node, depth)
                case ComputeNode():
                    self.compute(node, depth)
                case InsertNode():
                    self.insert(node, depth)
                case BeginWindowNode():
                    self.begin_window(node, depth)
                case MoveWindowNode():
                    self.move_window(node, depth)
                case AdvanceWindowNode():
                    self.advance_window(node, depth)
                case FreeNode():
                    self.free(node, depth)

    @abstractmethod
    def loop(self, node: LoopNode, depth: int) -> None:
        """Write a loop and what is in it."""

    @abstractmethod
    def allocate(self, node: AllocateNode, depth: int) -> None:
        """Write an allocation."""

    @abstractmethod
    def query(self, node: QueryNode, depth: int) -> None:
        """Write what gives a part of a data structure."""

    @abstractmethod
    def compute(self, node: ComputeNode, depth: int) -> None:
        """Write a call."""

    @abstractmethod
    def require(self, node: RequireNode, depth: int) -> None:
        """Write a check that a call computes all that is needed of its output."""

    def insert(self, node: InsertNode, depth: int) -> None:  # noqa: B027
        """Write what puts a part back; nothing where parts are views."""

    @abstractmethod
    def begin_window(self, node: BeginWindowNode, depth: int) -> None:
        """Write that nothing of an intermediate is computed yet."""

    @abstractmethod
    def move_window(self, node: MoveWindowNode, depth: int) -> None:
        """Write the move of what is computed already to the front of its room."""

    @abstractmethod
    def advance_window(self, node: AdvanceWindowNode, depth: int) -> None:
        """Write that all of a tile's part is computed."""

    def free(self, node: FreeNode, depth: int) -> None:  # noqa: B027
        """Write that room is given back; nothing where the language does that."""


def _values(nodes: Iterable[PipelineNode]) -> Iterator[Polynomial]:
    for node in nodes:
        if isinstance(node, LoopNode):
            yield from (node.loop.start, node.loop.end, node.loop.step)
            yield from _values(node.body)
        elif isinstance(node, RequireNode):
            yield from (node.bound.smaller, node.bound.larger)
        else:
            fields: Mapping[str, Any] = getattr(node, "fields", {})
            yield from fields.values()
