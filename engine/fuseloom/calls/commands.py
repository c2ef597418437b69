"""Commands of schedules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Parallelize:
    """Run the iterations of a loop at once.

    Attributes
    ----------
    level : int
        0 for the outermost loop.
    """

    level: int


@dataclass(frozen=True)
class Reorder:
    """Exchange two loops.

    Attributes
    ----------
    first, second : int
        Their levels.
    """

    first: int
    second: int


@dataclass(frozen=True)
class SplitLoop:
    """Cut the tiles of a loop into smaller ones, by a loop within it.

    Attributes
    ----------
    level : int
    outer, inner : str
        The variables of the two loops.
    outer_step, inner_step : str
        Variables for the sizes of their tiles.
    """

    level: int
    outer: str
    inner: str
    outer_step: str
    inner_step: str


@dataclass(frozen=True)
class SubstituteValue:
    """Have a variable that is given when the code runs be a number.

    Attributes
    ----------
    name : str
    value : int
    """

    name: str
    value: int


@dataclass(frozen=True)
class BreakBefore:
    """Do not fuse across a place: what calls before it compute is computed whole.

    Attributes
    ----------
    call : int
        The number of the first call behind the place, from 1 on.
    """

    call: int


@dataclass(frozen=True)
class ReuseOverlap:
    """Keep what the tile before computed of an intermediate, and compute only what is new.

    Attributes
    ----------
    data : str
        The intermediate.
    level : int
        The loop whose tiles overlap.
    """

    data: str
    level: int


@dataclass(frozen=True)
class Subpipeline:
    """Run some calls in smaller tiles within each tile.

    Attributes
    ----------
    begin, end : int
        Numbers of the first call, and of the one behind the last.
    """

    begin: int
    end: int


ScheduleCommand: TypeAlias = (
    Parallelize | Reorder | SplitLoop | SubstituteValue | BreakBefore | ReuseOverlap | Subpipeline
)
