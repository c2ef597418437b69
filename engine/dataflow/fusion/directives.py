"""What a schedule can say: one record per directive, each printing as its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """The region from the statement that assigns ``first`` to the one that assigns ``last``."""

    first: str
    last: str

    @property
    def name(self) -> str:
        """How the region is called."""
        return self.first if self.first == self.last else f"{self.first}..{self.last}"

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


@dataclass(frozen=True)
class Fuse:
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
class Order:
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
class Parallel:
    """Deal the level of an index to so many lanes (``fusion.md`` §5.1).

    ``region`` is None for every region that has the index.
    """

    index: str
    factor: int
    region: Span | None = None

    def __str__(self) -> str:
        return f"parallel {_scope(self.region)}{self.index} by {self.factor}"


@dataclass(frozen=True)
class Block:
    """Store and compute in square blocks of that edge (``fusion.md`` §5.2)."""

    edge: int

    def __str__(self) -> str:
        return f"block {self.edge}"


@dataclass(frozen=True)
class Locate:
    """Whether dense levels are looked up, or scanned and intersected (``fusion.md`` §3.3)."""

    on: bool
    region: Span | None = None

    def __str__(self) -> str:
        return f"locate {_scope(self.region)}{'on' if self.on else 'off'}"


@dataclass(frozen=True)
class Repeat:
    """What an operand repeats over indices it lacks: its values (by default), or references.

    Repeated references are loaded again each time, as the published compiler does.
    """

    references: bool
    region: Span | None = None

    def __str__(self) -> str:
        return f"repeat {_scope(self.region)}{'references' if self.references else 'values'}"


@dataclass(frozen=True)
class Global:
    """One iteration space over all indices of each product of many factors (``fusion.md`` §4)."""

    region: Span | None = None

    def __str__(self) -> str:
        return "global" if self.region is None else f"global {self.region}"


@dataclass(frozen=True)
class Materialise:
    """Write a tensor to memory: cut its region after the statement that assigns it."""

    tensor: str

    def __str__(self) -> str:
        return f"materialise {self.tensor}"


@dataclass(frozen=True)
class Permute:
    """Have a view in the order of these indices (``fusion.md`` §2.3).

    A tensor read from memory is stored a second time in that mode order; an intermediate is
    produced in that order, whatever order the schedule asks its statement to run in.
    """

    view: str
    indices: tuple[str, ...]
    region: Span | None = None

    def __str__(self) -> str:
        return f"permute {_scope(self.region)}{self.view} to {','.join(self.indices)}"


@dataclass(frozen=True)
class Strict:
    """Dense tensors, too, are traversed in the mode order they are stored in."""

    on: bool = True

    def __str__(self) -> str:
        return f"strict {'on' if self.on else 'off'}"


Setting = Parallel | Block | Locate | Repeat | Global | Materialise | Permute | Strict
Directive = Fuse | Order | Setting


def _scope(region: Span | None) -> str:
    return "" if region is None else f"{region}: "
