"""The fibers of a stream: a tree of coordinates, level by level, and where its tokens lie.

A stream of depth d carries the leaves of a tree of d levels.  Every token belongs to one
coordinate of the outermost level, its *outer* coordinate; what follows the last of them, a closing
stop, lies in a place of its own at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Standing:
    """Of a sampled index, how many coordinates each of its coordinates stands for.

    Attributes
    ----------
    per : array
        By coordinate; 0 of those that are left out.
    share : array or None
        In a lane, the part of them that it gets, by coordinate; None: all.
    work : array or None
        How much work there is at every coordinate of the index, those left out included; None:
        nobody knows.
    """

    per: Floats
    share: Floats | None = None
    work: Floats | None = None

    def dealt(self, crd: Ints, lanes: int, *, outermost: bool) -> list[tuple[Bools, Standing]]:
        """For each lane, which of some coordinates it gets, in turn, and what they stand for there.

        What stands for others goes to all lanes, to each with its part of the work that is dealt:
        coordinates next to each other are often unlike, even ones and odd ones, say.

        Parameters
        ----------
        outermost : bool
            Whether these are all that are dealt, not one fiber of many.
        """
        several, parts = self.per > 1.0, np.full(lanes, 1.0 / lanes)
        numbers = self._numbers(crd) if outermost and self.share is None else None
        if numbers is None:
            per = self.per[crd]
            mine = (np.cumsum(per) - per).astype(np.int64) % lanes
        else:
            turn = numbers % lanes
            mine = turn[crd]
            if self.work is not None:
                left = self.per != 1.0
                work = np.bincount(turn[left], self.work[left], lanes)
                parts = work / work.sum() if work.any() else parts
        before = np.ones(len(self.per)) if self.share is None else self.share
        return [
            (
                several[crd] | (mine == lane),
                replace(self, share=np.where(several, part, 1.0) * before),
            )
            for lane, part in enumerate(parts.tolist())
        ]

    def _numbers(self, crd: Ints) -> Ints | None:
        """The number of each coordinate of the index among those that are dealt, if it is known."""
        if len(crd) == np.count_nonzero(self.per):  # none is missing
            return np.arange(len(self.per))
        if self.work is None:
            return None
        there = self.work > 0
        return np.cumsum(there) - there


@dataclass(frozen=True, eq=False)
class FiberLevel:
    """A level of a tree of coordinates, and the levels outside it.

    Attributes
    ----------
    parent : FiberLevel or None
        The level outside; None of the root, which is one element without a coordinate.
    seg : (parent.n + 1,) array
        Where the fiber of each element of the parent begins and ends.
    stored : (n,) array or None
        Coordinates, increasing in each fiber; None where each fiber is full, so that what is only
        counted is never made.
    full : int
        If not 0, every fiber has all the coordinates below it.
    by : Standing or None
        Of a sampled index, how many coordinates each of its coordinates stands for.
    """

    parent: FiberLevel | None
    seg: Ints
    stored: Ints | None
    full: int = field(default=0)
    by: Standing | None = field(default=None)

    @property
    def n(self) -> int:
        """Elements."""
        return int(self.seg[-1])

    @cached_property
    def crd(self) -> Ints:
        """The coordinate of each element."""
        if self.stored is not None:
            return self.stored
        return np.tile(np.arange(self.full), len(self.seg) - 1)

    @classmethod
    def of_full(cls, parent: FiberLevel, size: int) -> FiberLevel:
        """A level of which every fiber has all coordinates below a size."""
        return cls(parent, np.arange(parent.n + 1) * size, None, size)

    @cached_property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    @cached_property
    def up(self) -> Ints:
        """The element of the parent that each element is under."""
        return np.repeat(np.arange(len(self.seg) - 1), np.diff(self.seg))

    @cached_property
    def top(self) -> FiberLevel | None:
        """The outermost level; None of the root."""
        if self.parent is None or self.parent.parent is None:
            return None if self.parent is None else self
        return self.parent.top

    @cached_property
    def ends(self) -> Ints:
        """The range of elements that belongs to each outer coordinate."""
        if self.parent is None:
            return np.array([0, 1])
        if self.top is self:
            return np.arange(self.n + 1)
        return self.seg[self.parent.ends]

    @cached_property
    def weights(self) -> Floats | None:
        """The number of elements that each element represents; None: only itself.

        What an outer coordinate stands for is not counted here, but for a lane's part of it.
        """
        if self.parent is None:
            return None
        own = outside = None
        if self.parent.parent is not None:
            outside = self.parent.weights
            own = None if self.by is None else self.by.per[self.crd]
        if self.by is not None and self.by.share is not None:
            mine = self.by.share[self.crd]
            own = mine if own is None else own * mine
        if outside is None:
            return own
        outside = outside[self.up]
        return outside if own is None else outside * own

    @cached_property
    def elements(self) -> Profile:
        """Its elements, per outer coordinate."""
        parent = self.parent
        if self.by is None and parent is not None and parent.weights is not None:
            return parent.weighed(np.diff(self.seg))  # the elements themselves are never made
        if self.weights is not None:
            return self.weighed(np.ones(self.n))
        return Profile.of(self.top, np.diff(self.ends))

    def where(self, chosen: Bools) -> Profile:
        """Some of its elements, per outer coordinate."""
        return self.summed(chosen)

    def summed(self, counts: npt.NDArray[Any]) -> Profile:
        """Return a quantity of its elements, per outer coordinate."""
        if self.weights is not None:
            return self.weighed(counts)
        before = np.zeros(self.n + 1, dtype=np.int64)
        np.cumsum(counts, out=before[1:])
        return Profile.of(self.top, np.diff(before[self.ends]))

    def weighed(self, counts: npt.NDArray[Any]) -> Profile:
        """Return a quantity of the elements, weighted, per outer coordinate."""
        before = np.zeros(self.n + 1)
        np.cumsum(counts * self.weights, out=before[1:])
        assert self.top is not None
        return Profile(self.top, np.diff(before[self.ends]))

    def between(self, low: Ints, high: Ints, outside: Ints, base: FiberLevel) -> npt.NDArray[Any]:
        """Count the elements in these ranges, under these elements of a level outside."""
        if self.weights is None:
            return high - low
        before = np.zeros(self.n + 1)
        np.cumsum(self.weights, out=before[1:])
        found = before[high] - before[low]
        if base.weights is None or not base.n:
            return found
        return found / base.weights[outside]

    @cached_property
    def bare(self) -> Bools:
        """Which elements of the parent have nothing under them."""
        return np.asarray(np.diff(self.seg) == 0)

    @cached_property
    def hollow(self) -> Profile:
        """Elements outside its innermost fibers with nothing under them: a stop each."""
        if self.parent is None:
            return Profile(None, np.zeros(0), 0.0)
        if self.parent.parent is None:
            return Profile(self, np.zeros(self.n), 1.0 if not self.n else 0.0)
        found = self.parent.hollow
        return found.on(self.top) + self.parent.where(self.bare)

    @cached_property
    def stops(self) -> Profile:
        """Stops of a stream whose leaves are these: of every fiber, and of what is empty outside.

        Stops that follow each other are one token.
        """
        if self.parent is None:
            return Profile(None, np.zeros(0), 0.0)
        if self.parent.parent is None:
            return Profile(self, np.zeros(self.n), 1.0)
        return self.parent.elements + self.parent.hollow

    @cached_property
    def tokens(self) -> Profile:
        """Elements and stops, without the final token."""
        return self.elements + self.stops

    @cached_property
    def filled(self) -> Profile:
        """Fibers that have elements."""
        if self.parent is None or self.parent.parent is None:
            return Profile(self.top, np.zeros(self.n if self.top else 0), float(self.n > 0))
        return self.parent.where(~self.bare)


@dataclass(frozen=True, eq=False)
class Profile:
    """A quantity per outer coordinate, and behind the last.

    Attributes
    ----------
    top : FiberLevel or None
        The level whose coordinates these are; None: everything is behind.
    per : (top.n,) array
    behind : float
    """

    top: FiberLevel | None
    per: Floats
    behind: float = 0.0

    @classmethod
    def of(cls, top: FiberLevel | None, counts: npt.NDArray[np.int64]) -> Profile:
        if top is None:
            return cls(None, np.zeros(0), float(counts.sum()))
        return cls(top, counts.astype(np.float64))

    def on(self, top: FiberLevel | None) -> Profile:
        """The same on another level with the same coordinates."""
        return Profile(top, self.per, self.behind)

    @cached_property
    def total(self) -> float:
        return float(self.per.sum()) + self.behind

    def __add__(self, other: Profile) -> Profile:
        if other.top is None:
            return Profile(self.top, self.per, self.behind + other.behind)
        if self.top is None:
            return other + self
        return Profile(self.top, self.per + other.per, self.behind + other.behind)

    def __sub__(self, other: Profile) -> Profile:
        return self + other * -1.0

    def __mul__(self, factor: float) -> Profile:
        return Profile(self.top, self.per * factor, self.behind * factor)


ROOT = FiberLevel(None, np.array([0, 1]), np.zeros(1, dtype=np.int64))


def below(parent: FiberLevel, up: Ints, crd: Ints, by: Standing | None = None) -> FiberLevel:
    """A level with these coordinates under these elements of another, in order."""
    seg = np.zeros(parent.n + 1, dtype=np.int64)
    np.cumsum(np.bincount(up, minlength=parent.n), out=seg[1:])
    return FiberLevel(parent, seg, crd, by=by)


def kept(fiber_tree: FiberLevel, chosen: Bools) -> FiberLevel:
    """A level without the elements that are not chosen."""
    before = np.zeros(fiber_tree.n + 1, dtype=np.int64)
    np.cumsum(chosen, out=before[1:])
    assert fiber_tree.parent is not None
    return FiberLevel(
        fiber_tree.parent, before[fiber_tree.seg], fiber_tree.crd[chosen], by=fiber_tree.by
    )


@dataclass(frozen=True, eq=False)
class StreamContents:
    """The contents of a stream.

    Attributes
    ----------
    fiber_tree : FiberLevel
        Its leaves; for coordinates, they are those of its innermost level.
    given : (n,) array or None
        References; -1 is the empty token.
    base : (parent.n,) array or None
        In their place, the reference of the first coordinate of each fiber: those of the others
        follow.
    present : (n,) bool array or None
        For values, which are not the empty token; None: all.
    """

    fiber_tree: FiberLevel
    given: Ints | None = None
    present: Bools | None = None
    base: Ints | None = None

    @cached_property
    def refs(self) -> Ints | None:
        """The reference of each leaf; None where they are no references."""
        if self.base is None:
            return self.given
        return np.repeat(self.base, self.fiber_tree.full) + self.fiber_tree.crd

    def at(self, places: Ints) -> Ints | None:
        """The references in some places."""
        if self.base is None:
            return None if self.given is None else self.given[places]
        fiber, crd = np.divmod(places, self.fiber_tree.full)
        return self.base[fiber] + crd

    @cached_property
    def here(self) -> Bools | None:
        """Which leaves are not the empty token; None: all."""
        if self.present is not None:
            return self.present
        if self.given is None:
            return None
        there = self.given >= 0
        return None if there.all() else there

    @cached_property
    def values(self) -> Profile:
        """Leaves that are not the empty token."""
        return self.fiber_tree.elements if self.here is None else self.fiber_tree.where(self.here)

    @property
    def tokens(self) -> Profile:
        return self.fiber_tree.tokens
