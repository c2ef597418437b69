"""The directives of a schedule: one record per directive, each printing as its text.

A directive from a text knows its place there, so that what shows only when a program is fused or
lowered can still be told with line and column (:func:`blamed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom.program.formats import LevelFormat


class TextPosition(NamedTuple):
    """The position of a directive in a text; the line and the column count from 1."""

    line: int
    column: int
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """A directive, with its place in a text if it is from one; places do not count for equality."""

    at: TextPosition | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Span:
    """The region from the statement that assigns ``first`` to the one that assigns ``last``."""

    first: str
    last: str

    @property
    def name(self) -> str:
        """The name of the region."""
        return self.first if self.first == self.last else f"{self.first}..{self.last}"

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


@dataclass(frozen=True)
class Fuse(_Placed):
    """Statements from the one that assigns ``first`` to the one that assigns ``last``.

    ``where_possible``: where one region of all of them cannot be built, the largest that can.
    """

    first: str
    last: str
    where_possible: bool = False

    def __str__(self) -> str:
        span = self.first if self.first == self.last else f"{self.first}..{self.last}"
        return f"fuse {span}" + (" where possible" if self.where_possible else "")


@dataclass(frozen=True)
class Order(_Placed):
    """A dataflow order, outermost index first.

    ``last`` is None for one statement's own order; otherwise the order of the region
    ``first..last`` in that region's index names.
    """

    first: str
    last: str | None
    indices: tuple[str, ...]

    def __str__(self) -> str:
        target = self.first if self.last is None else f"{self.first}..{self.last}"
        return f"order {target}: {','.join(self.indices)}"


@dataclass(frozen=True)
class Parallel(_Placed):
    """Deal the level of an index to so many lanes (``docs/spec/fusion.md`` §6.2).

    ``region`` is None for every region that has the index.
    """

    index: str
    factor: int
    region: Span | None = None

    def __str__(self) -> str:
        return f"parallel {_scope(self.region)}{self.index} by {self.factor}"


@dataclass(frozen=True)
class Block(_Placed):
    """Store and compute in square blocks of that edge (``docs/spec/fusion.md`` §6.3)."""

    edge: int

    def __str__(self) -> str:
        return f"block {self.edge}"


@dataclass(frozen=True)
class Locate(_Placed):
    """The choice between locating dense levels by coordinate and scanning and intersecting them.

    Rules: ``docs/spec/fusion.md`` §3.3.
    """

    on: bool
    region: Span | None = None

    def __str__(self) -> str:
        return f"locate {_scope(self.region)}{'on' if self.on else 'off'}"


@dataclass(frozen=True)
class LocateLevel(_Placed):
    """The choice between locating one level of a view at other views' coordinates and scanning it.

    A dense level is looked up by its position, a compressed one searched.
    """

    view: str
    index: str
    on: bool
    region: Span | None = None

    def __str__(self) -> str:
        return f"locate {_scope(self.region)}{self.view}.{self.index} {'on' if self.on else 'off'}"


@dataclass(frozen=True)
class Repeat(_Placed):
    """The repeated stream of an operand that lacks indices: values (by default), or references.

    Repeated references are loaded again each time, as the published compiler does.
    """

    references: bool
    region: Span | None = None

    def __str__(self) -> str:
        return f"repeat {_scope(self.region)}{'references' if self.references else 'values'}"


@dataclass(frozen=True)
class Global(_Placed):
    """One iteration space over all indices of each product of many factors.

    Rules: ``docs/spec/fusion.md`` §4.
    """

    region: Span | None = None

    def __str__(self) -> str:
        return "global" if self.region is None else f"global {self.region}"


@dataclass(frozen=True)
class Materialise(_Placed):
    """Write a tensor to memory: cut its region after the statement that assigns it."""

    tensor: str

    def __str__(self) -> str:
        return f"materialise {self.tensor}"


@dataclass(frozen=True)
class Permute(_Placed):
    """Have a view in the order of these indices (``docs/spec/fusion.md`` §2.3).

    A tensor read from memory is stored a second time in that mode order; an intermediate is
    produced in that order, whatever order the schedule asks its statement to run in.
    """

    view: str
    indices: tuple[str, ...]
    region: Span | None = None

    def __str__(self) -> str:
        return f"permute {_scope(self.region)}{self.view} to {','.join(self.indices)}"


@dataclass(frozen=True)
class Sequenced(_Placed):
    """The statements that assign these tensors take each other's places, in this order.

    All others stay where the program has them; spans of other directives are of the new order.
    """

    tensors: tuple[str, ...]

    def __str__(self) -> str:
        return f"sequence {', '.join(self.tensors)}"


@dataclass(frozen=True)
class Strict(_Placed):
    """Dense tensors, too, are traversed in the mode order they are stored in."""

    on: bool = True

    def __str__(self) -> str:
        return f"strict {'on' if self.on else 'off'}"


@dataclass(frozen=True)
class Store(_Placed):
    """The storage of a computed tensor that other regions read: its levels, outermost first.

    One word stands for all levels.  ``tensor`` is None for every such tensor, each level of which
    is then compressed, or dense if it is complete whatever the data.
    """

    tensor: str | None
    levels: tuple[LevelFormat, ...]

    def __str__(self) -> str:
        name = "" if self.tensor is None else f"{self.tensor} "
        return f"store {name}{','.join(level.value for level in self.levels)}"


@dataclass(frozen=True)
class Nonzero(_Placed):
    """Leave the zeros of a computed tensor out, where that changes no other value."""

    tensor: str

    def __str__(self) -> str:
        return f"nonzero {self.tensor}"


Setting = (
    Parallel
    | Block
    | Locate
    | LocateLevel
    | Repeat
    | Global
    | Materialise
    | Permute
    | Sequenced
    | Store
    | Strict
    | Nonzero
)
Directive = Fuse | Order | Setting


def _scope(region: Span | None) -> str:
    return "" if region is None else f"{region}: "


@contextmanager
def blamed(directive: Directive | None) -> Iterator[None]:
    """Give an error without a place that of the directive it is about."""
    try:
        yield
    except FuseloomError as problem:
        if directive is not None and directive.at is not None:
            problem.locate(*directive.at)
        raise


@contextmanager
def blamed_if_named(directives: Iterable[Directive]) -> Iterator[None]:
    """Give an error without a place that of the first directive that its message quotes.

    Where it quotes none, that of the first one of whose names it tells.
    """
    try:
        yield
    except ScheduleError as problem:
        message, given = problem.message, tuple(directives)
        at = {message.find(f"'{d}'"): d for d in reversed(given) if f"'{d}'" in message}
        told = [d for d in given if any(word in message for word in _words(d))]
        with blamed(at[min(at)] if at else next(iter(told), None)):
            raise


def _words(directive: Directive) -> tuple[str, ...]:
    """Return the text of an error about a directive that does not quote it."""
    match directive:
        case Fuse(first=first, last=last):
            return f"'{first}'", f"'{last}'"
        case Materialise(tensor=tensor) | Nonzero(tensor=tensor):
            return (f"'{tensor}'",)
        case Parallel(index=index):
            return f"index {index} ", f"index '{index}' ", f"lanes of {index} "
    return ()
