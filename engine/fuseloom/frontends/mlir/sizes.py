"""Choosing sizes that a text leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from fuseloom.frontends.mlir.values import DimensionSize
from fuseloom.program.relations import bounds

_FIRST, _SMALL, _FEW = 4, 2, 5


@dataclass(frozen=True)
class Reach:
    """A dimension is read at a sum of indices: its length must cover all of them."""

    terms: tuple[tuple[int, DimensionSize], ...]
    offset: int
    length: DimensionSize

    @property
    def last(self) -> int:
        """The largest place; indices of open sizes count as one place."""
        return bounds([(c, size.value or 1) for c, size in self.terms], self.offset)[1]


@dataclass(frozen=True)
class SizeProduct:
    """A dimension has the places of several ones together."""

    factors: tuple[DimensionSize, ...]
    length: DimensionSize

    @property
    def terms(self) -> tuple[tuple[int, DimensionSize], ...]:
        """The dimensions, as those of a sum."""
        return tuple((1, size) for size in self.factors)

    @property
    def last(self) -> int:
        """The largest place."""
        return prod(size.value or 1 for size in self.factors) - 1


def choose(sizes: Iterable[DimensionSize], reaches: Sequence[Reach | SizeProduct]) -> None:
    """Give each open size a small number of its own.

    Dimensions that are read at sums of indices get the length that these need.

    Examples
    --------
    >>> x, k, y = DimensionSize(), DimensionSize(), DimensionSize()
    >>> choose([x, k, y], [Reach(((1, y), (1, k)), 0, x)])
    >>> x.value, k.value, y.value
    (8, 4, 5)
    """
    lengths = {r.length.identity for r in reaches if r.length.value is None}
    open_ = {s.identity: s for s in sizes if s.value is None}
    free = [s for key, s in open_.items() if key not in lengths]
    first = _FIRST if len(free) <= _FEW else _SMALL
    for n, size in enumerate(free):
        _set(size, first + n, reaches)
    waiting = [s for key, s in open_.items() if key in lengths]
    while waiting:
        ready = [s for s in waiting if not _waits(s, reaches)] or waiting[:1]
        for size in ready:
            needed = [r.last + 1 for r in reaches if r.length.identity == size.identity]
            size.equate(DimensionSize(max(1, *needed)))
        waiting = [s for s in waiting if s.value is None]


def _set(size: DimensionSize, wanted: int, reaches: Sequence[Reach | SizeProduct]) -> None:
    """The size, or the largest smaller one with which no known length is exceeded."""
    me = size.identity
    for r in reaches:
        factor = sum(c for c, s in r.terms if s.identity == me and c > 0)
        if not factor or r.length.value is None:
            continue
        if isinstance(r, SizeProduct):
            rest = r.length.value // (r.last + 1)
            wanted = next((n for n in range(min(wanted, rest), 0, -1) if rest % n == 0), 1)
        else:
            wanted = min(wanted, 1 + (r.length.value - 1 - r.last) // factor)
    size.equate(DimensionSize(max(1, wanted)))


def _waits(size: DimensionSize, reaches: Sequence[Reach | SizeProduct]) -> bool:
    """Return whether a length depends on others that are open, too."""
    me = size.identity
    return any(
        s.value is None and s.identity != me
        for r in reaches
        if r.length.identity == me
        for _, s in r.terms
    )
