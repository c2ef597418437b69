"""Schedules of FusionStitching: how the elements of an array are divided among blocks of threads.

A schedule (section 4.1 of Long et al., 2018) cuts one dimension into ``sword`` parts.  With
:attr:`SplitType.ROW` each index of the dimensions left of it, with :attr:`SplitType.COLUMN` each
index of those right of it, and each part of the dimension itself, is a block of its own.  Blocks
are numbered in the order of these indices, the slowest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import prod
from typing import NamedTuple, TypeAlias

from fuseloom.errors import ScheduleError

MOST_BLOCKS = 2**31 - 1
"""Blocks of a kernel, as CUDA has them along a dimension of its grid."""


class SplitType(StrEnum):
    """The dimensions whose indices are blocks of their own: those left or right of the split."""

    ROW = "row"
    COLUMN = "column"


class IndexDigit(NamedTuple):
    """A digit of the position of an element, in a system of mixed radices.

    Attributes
    ----------
    size : int
        Its radix.
    stride : int
        By as much the number of the block grows with it; 0 if the digit lies within a block.
    """

    size: int
    stride: int


Digits: TypeAlias = tuple[IndexDigit, ...]
"""Digits of a position, the slowest first."""


@dataclass(frozen=True)
class BlockSchedule:
    """A division of an array among blocks.

    Attributes
    ----------
    split_dim : int
        The dimension that is cut.
    sword : int
        The number of its parts.
    sched_type : SplitType

    Raises
    ------
    ScheduleError
        If the last is neither ``row`` nor ``column``.

    Examples
    --------
    >>> rows = BlockSchedule(1, 2, SplitType.ROW)
    >>> rows.blocks((8, 4, 3)), rows.parts((8, 4, 3))
    (16, (8, 2, 1))
    >>> columns = BlockSchedule(1, 2, SplitType.COLUMN)
    >>> str(columns), columns.blocks((8, 4, 3)), columns.parts((8, 4, 3))
    ('column 1/2', 6, (1, 2, 3))
    """

    split_dim: int
    sword: int
    sched_type: SplitType = SplitType.ROW

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "sched_type", SplitType(self.sched_type))
        except ValueError:
            raise ScheduleError(
                f"{self.sched_type!r} is no way to divide an array",
                hint=f"ways are {', '.join(SplitType)}",
            ) from None

    def __str__(self) -> str:
        return f"{self.sched_type} {self.split_dim}/{self.sword}"

    def parts(self, dims: Sequence[int]) -> tuple[int, ...]:
        """The number of parts of each dimension.

        Raises
        ------
        ScheduleError
            If it is no schedule of an array of these dimensions.
        """
        space = work_space(dims)
        if not 0 <= self.split_dim < len(space):
            raise ScheduleError(
                f"there is no dimension {self.split_dim} of {list(space)} to split",
                hint=f"dimensions are 0 to {len(space) - 1}",
            )
        extent = space[self.split_dim]
        if self.sword < 1 or (extent % self.sword if extent else self.sword > 1):
            raise ScheduleError(
                f"{self.sword} parts do not divide dimension {self.split_dim} of {list(space)}",
                hint=f"parts are {', '.join(map(str, divisors(extent)))}",
            )
        left, right = space[: self.split_dim], space[self.split_dim + 1 :]
        if self.sched_type is SplitType.ROW:
            parts = (*left, self.sword, *(1 for _ in right))
        else:
            parts = (*(1 for _ in left), self.sword, *right)
        if prod(parts) > MOST_BLOCKS:
            raise ScheduleError(
                f"{self} of {list(space)} makes {prod(parts):,} blocks",
                hint=f"at most {MOST_BLOCKS:,} are possible",
            )
        return parts

    def blocks(self, dims: Sequence[int]) -> int:
        """The number of blocks.

        Raises
        ------
        ScheduleError
            As :meth:`parts`.
        """
        return prod(self.parts(dims))


def work_space(dims: Sequence[int]) -> tuple[int, ...]:
    """The dimensions that schedules count: those of an array, and one for a single element."""
    return tuple(dims) or (1,)


@lru_cache(maxsize=1024)
def divisors(extent: int) -> tuple[int, ...]:
    """Return the divisors of an extent in order; of 0, that is 1.

    Examples
    --------
    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    small = [one for one in range(1, int(extent**0.5) + 1) if extent % one == 0]
    return tuple(sorted({*small, *(extent // one for one in small)})) or (1,)


@lru_cache(maxsize=1024)
def schedules_of(dims: tuple[int, ...]) -> tuple[BlockSchedule, ...]:
    """Return all schedules of an array, those by rows first; different ones may divide it alike.

    An array without elements has none.

    Examples
    --------
    >>> [str(one) for one in schedules_of((2, 3))]
    ['row 0/1', 'row 0/2', 'row 1/1', 'row 1/3', 'column 0/1', 'column 0/2', 'column 1/1', \
'column 1/3']
    """
    space = work_space(dims)
    if prod(space) == 0:
        return ()
    made = []
    for kind in SplitType:
        for dim, extent in enumerate(space):
            others = prod(space[:dim] if kind is SplitType.ROW else space[dim + 1 :])
            made += [
                BlockSchedule(dim, sword, kind)
                for sword in divisors(extent)
                if others * sword <= MOST_BLOCKS
            ]
    return tuple(made)


def divisions_of(dims: Sequence[int]) -> tuple[BlockSchedule, ...]:
    """Return the first schedule of each division that an array has.

    Examples
    --------
    >>> [str(one) for one in divisions_of((2, 3))]
    ['row 0/1', 'row 0/2', 'row 1/3', 'column 0/1']
    """
    return tuple(_by_digits(tuple(dims)).values())


def dimension_digits(schedule: BlockSchedule, dims: Sequence[int]) -> tuple[Digits, ...]:
    """Return the digits of each dimension: the number of its part, and the place within it.

    Examples
    --------
    >>> dimension_digits(BlockSchedule(0, 2), (4, 3))
    ((IndexDigit(size=2, stride=1), IndexDigit(size=2, stride=0)), (IndexDigit(size=1, stride=0), \
IndexDigit(size=3, stride=0)))
    """
    parts = schedule.parts(dims)
    made: list[Digits] = []
    for dim, (extent, count) in enumerate(zip(work_space(dims), parts, strict=True)):
        stride = prod(parts[dim + 1 :]) if count > 1 else 0
        made.append((IndexDigit(count, stride), IndexDigit(extent // count, 0)))
    return tuple(made[: len(dims)])


def merged_digits(digits: Iterable[IndexDigit]) -> Digits:
    """Join neighbouring digits that count on, and leave out those that are always 0.

    Two schedules, of whatever dimensions, put the elements at the same positions into blocks of
    the same numbers if and only if the results are equal.

    Examples
    --------
    >>> merged_digits([IndexDigit(2, 3), IndexDigit(3, 1), IndexDigit(1, 0), IndexDigit(5, 0)])
    (IndexDigit(size=6, stride=1), IndexDigit(size=5, stride=0))
    """
    made: list[IndexDigit] = []
    for size, stride in digits:
        if size == 1:
            continue
        if made and made[-1].stride == size * stride:
            made[-1] = IndexDigit(made[-1].size * size, stride)
        else:
            made.append(IndexDigit(size, stride))
    return tuple(made)


@lru_cache(maxsize=1024)
def _by_digits(dims: tuple[int, ...]) -> Mapping[Digits, BlockSchedule]:
    found: dict[Digits, BlockSchedule] = {}
    for schedule in schedules_of(dims):
        key = merged_digits(one for digits in dimension_digits(schedule, dims) for one in digits)
        found.setdefault(key, schedule)
    return found


def schedule_with(dims: Sequence[int], digits: Iterable[IndexDigit]) -> BlockSchedule | None:
    """Return the first schedule of an array whose positions have given digits, if there is one.

    Examples
    --------
    >>> digits = [IndexDigit(6, 1), IndexDigit(2, 0)]
    >>> str(schedule_with((2, 3, 2), digits)), str(schedule_with((12,), digits))
    ('row 1/3', 'row 0/6')
    >>> schedule_with((4, 3), digits) is None
    True
    """
    return _by_digits(tuple(dims)).get(merged_digits(digits))


def first_schedule(schedule: BlockSchedule, dims: Sequence[int]) -> BlockSchedule:
    """Return the first schedule that divides an array as another one does.

    Raises
    ------
    ScheduleError
        If that is no schedule of the array.

    Examples
    --------
    >>> str(first_schedule(BlockSchedule(1, 1, SplitType.ROW), (4, 3)))
    'row 0/4'
    """
    digits = (one for of_one in dimension_digits(schedule, dims) for one in of_one)
    return schedule_with(dims, digits) or schedule
