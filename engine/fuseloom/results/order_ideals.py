"""Order ideals of a program: what has been carried out between two parts, and paths between them.

A unit comes after those that it needs.  An *ideal* is a set of units that has with each unit all
that it needs (a down-set, or order ideal, of the graph of units): what can have been carried out
at some moment.  A part leads from one ideal to a larger one, and its units are the difference.

**Every cut of a program into parts is a path through ideals, and the other way round.**  Parts can
be carried out one after another if and only if none needs, directly or by way of others, a part
that needs it: if the graph of parts has no circle.  Then they have an order in which each comes
after what it needs; the units of the first *n* parts of that order are an ideal, for every *n*; and
the *n*-th part leads from one to the next.  Conversely the parts on a path from the empty ideal to
the full one have an order, so no circle.  Each of them is convex: what lies between two units of a
part is in it, since it is in the larger ideal and not in the smaller one.  So the shortest path is
the best of all cuts into convex parts without a circle between them; in a program that is a chain,
it is the best of all cuts into runs of neighbours.

There are as many ideals as down-sets, which may be exponentially many.  Where they are more than
:data:`MOST_IDEALS`, only those of program order are there: parts are runs of neighbours, then.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Units = tuple[int, ...]
"""Positions of units in the program, ascending."""

MOST_IDEALS = 300
"""Ideals of a program; of one with more, those of program order alone."""


class OrderIdeals:
    """The ideals of a program, smaller ones first: the empty one first, the full one last.

    Parameters
    ----------
    before : sequence of collection of int
        Of each unit those that it needs, all of which come before it in the program.
    alone : collection of int
        Units that are parts by themselves and in no other one.
    most : int
        Ideals that there may be; beyond them, those of program order are taken.

    Attributes
    ----------
    masks : tuple of int
        Of each ideal its units, one bit each.
    whole : bool
        Whether these are all ideals that there are.

    Examples
    --------
    >>> diamond = OrderIdeals([(), (0,), (0,), (1, 2)])
    >>> len(diamond)
    6
    >>> [diamond.is_part(units) for units in ((0, 2), (1, 2), (0, 3))]
    [True, True, False]
    """

    def __init__(
        self,
        before: Sequence[Collection[int]],
        alone: Collection[int] = (),
        most: int = MOST_IDEALS,
    ) -> None:
        self.size = len(before)
        self.before = tuple(map(_mask, before))
        self.alone = frozenset(alone)
        found = _down_sets(self.before, max(most, self.size + 1))
        self.whole = found is not None
        chain = tuple((1 << k) - 1 for k in range(self.size + 1))
        self.masks: tuple[int, ...] = chain if found is None else found
        self.linear = self.masks == chain
        """True if parts are runs of neighbours in program order."""
        self._number = {} if self.linear else {mask: k for k, mask in enumerate(self.masks)}
        self._ends: dict[int, Sequence[int]] = {}
        self._edges: dict[Units, tuple[Ints, Ints]] = {}
        self._steps: dict[int, list[tuple[int, int]]] = {}
        self._closed: list[int] = []  # each unit with all that it needs, by way of others, too
        for k, needed in enumerate(self.before):
            mask = needed | 1 << k
            for other in _units(needed):
                mask |= self._closed[other]
            self._closed.append(mask)
        self._stops = [*sorted(self.alone), self.size]

    @classmethod
    def chain(cls, size: int) -> OrderIdeals:
        """Those of units each of which needs the one before it."""
        return cls([(k - 1,) if k else () for k in range(size)])

    def __len__(self) -> int:
        return len(self.masks)

    # Parts ----------------------------------------------------------------------------------

    def ends(self, ideal: int) -> Sequence[int]:
        """The ideals to which one part leads from an ideal, ascending."""
        if ideal not in self._ends:
            self._ends[ideal] = self._found(ideal)
        return self._ends[ideal]

    def _found(self, ideal: int) -> Sequence[int]:
        if self.linear:
            if ideal == self.size:
                return range(0)
            last = ideal + 1 if ideal in self.alone else self._stops[bisect(self._stops, ideal)]
            return range(ideal + 1, last + 1)
        own: set[int] = set()
        todo = [ideal]
        while todo:
            at = todo.pop()
            for unit, after in self.steps(at):
                if after not in own and (unit not in self.alone or at == ideal):
                    own.add(after)
                    todo += [after] if unit not in self.alone else []
        return sorted(own)

    def units(self, ideal: int, end: int) -> Units:
        """The units of the part that leads from an ideal to another."""
        if self.linear:
            return tuple(range(ideal, end))
        return _units(self.masks[end] & ~self.masks[ideal])

    def is_part(self, units: Units) -> bool:
        """Return whether some part has exactly these units."""
        if not units or (len(units) > 1 and not self.alone.isdisjoint(units)):
            return False
        if self.linear:
            return units[-1] - units[0] == len(units) - 1
        return self._needed(units) in self._number  # otherwise something lies between them

    def edges(self, units: Units) -> tuple[Ints, Ints]:
        """Every ideal from which a part with these units leads on, and where to.

        Units that others do not need are carried out sooner or later: it is the same part.
        """
        if self.linear:
            return np.array([units[0]]), np.array([units[-1] + 1])
        if units not in self._edges:
            mask, needed = _mask(units), self._needed(units)
            pairs = [
                (k, self._number[ideal | mask])
                for k, ideal in enumerate(self.masks)
                if ideal & (mask | needed) == needed
            ]
            begins, ends = np.array(pairs, np.int64).reshape(-1, 2).T
            self._edges[units] = begins, ends
        return self._edges[units]

    def parts(self) -> Iterator[Units]:
        """The units of every part, each once, the fewest first."""
        if self.linear:
            for length in range(1, self.size + 1):
                for begin in range(self.size - length + 1):
                    if begin + length in self.ends(begin):
                        yield tuple(range(begin, begin + length))
            return
        for mask in self._masks_of_parts:
            yield _units(mask)

    @cached_property
    def _masks_of_parts(self) -> tuple[int, ...]:
        masks = self.masks
        found = {masks[end] & ~m for k, m in enumerate(masks) for end in self.ends(k)}
        return tuple(sorted(found, key=lambda mask: (mask.bit_count(), mask)))

    @cached_property
    def number_of_parts(self) -> int:
        """The number of different parts."""
        if self.linear:
            return sum(len(self.ends(ideal)) for ideal in range(self.size))
        return len(self._masks_of_parts)

    # For what is found out of all ideals at once ------------------------------------------------

    @cached_property
    def inside(self) -> Bools:
        """A matrix that is True where a unit (row) is in an ideal (column)."""
        if self.linear:
            return np.arange(self.size + 1)[None, :] > np.arange(self.size)[:, None]
        rows = [[bool(mask >> k & 1) for mask in self.masks] for k in range(self.size)]
        return np.array(rows, bool).reshape(self.size, len(self.masks))

    def steps(self, ideal: int) -> list[tuple[int, int]]:
        """The units that can be carried out next, each with the ideal to which that leads."""
        if self.linear:
            return [(ideal, ideal + 1)] if ideal < self.size else []
        if ideal not in self._steps:
            mask = self.masks[ideal]
            self._steps[ideal] = [
                (k, self._number[mask | 1 << k])
                for k, needed in enumerate(self.before)
                if not mask >> k & 1 and needed & ~mask == 0
            ]
        return self._steps[ideal]

    # Several parts ------------------------------------------------------------------------------

    def sorted(self, parts: Iterable[Units]) -> list[Units]:
        """Parts in an order in which each comes after what it needs, as near to the program's.

        Of those that may come next, the one whose first unit the program has first; so runs of
        neighbours are in program order.

        Raises
        ------
        ValueError
            If there is none, as parts need each other.
        """
        left = sorted(parts)
        masks = {part: _mask(part) for part in left}
        needed = {part: self._needed(part) for part in left}
        found: list[Units] = []
        missing = sum(masks.values())
        while left:
            part = next((part for part in left if needed[part] & missing == 0), None)
            if part is None:
                raise ValueError("parts need each other")
            left.remove(part)
            found.append(part)
            missing &= ~masks[part]
        return found

    def joinable(self, parts: Sequence[Units]) -> Iterator[tuple[int, int]]:
        """The pairs of a sequence of parts that can be one, so that no circle is made by that.

        Numbers of the parts, the earlier one first: those without a third one between them, that
        needs the one and is needed by the other.
        """
        if self.linear:
            for k in range(len(parts) - 1):
                if parts[k][-1] + 1 == parts[k + 1][0]:
                    yield k, k + 1
            return
        masks = [_mask(part) for part in parts]
        above: list[int] = []  # what each needs, by way of others, too: a bit per part
        for number, part in enumerate(parts):
            needed, mine = self._needed(part), 0
            for other in range(number):
                if needed & masks[other]:
                    mine |= above[other] | 1 << other
            above.append(mine)
        for b in range(len(parts)):
            between = 0  # what is needed by something that b needs
            for c in range(b):
                if above[b] >> c & 1:
                    between |= above[c]
            for a in range(b):
                if not between >> a & 1:
                    yield a, b

    def _needed(self, units: Units) -> int:
        """Return the other units that some units need, directly or indirectly."""
        mask, closed = 0, 0
        for k in units:
            mask |= 1 << k
            closed |= self._closed[k]
        return closed & ~mask

    def count(self, candidates: Mapping[Units, int]) -> int:
        """Count the schedules of a program: cuts into parts, each with one of its candidates.

        Two orders of parts that do not need each other are one cut and counted once, though they
        are two paths through ideals.  At an ideal ``I``, a cut of what is left has *sources*: parts
        that need nothing that is left.  Let ``f(I)`` be the number of cuts of what is left, each
        part in one of its candidates; by inclusion and exclusion over non-empty sets of sources, ::

            f(I) = sum over J of h(I, J) f(J)
            h(I, J) = sum over partitions of J - I into k parts, none of which needs another,
                      of (-1)^(k+1) times the product of their candidates

        where a cut with ``s`` sources is counted ``sum over k of (-1)^(k+1) C(s, k) = 1`` times.
        It is the number of traces of a partially commutative monoid (Cartier and Foata, *Problèmes
        combinatoires de commutation et réarrangements*, 1969).

        Parameters
        ----------
        candidates : mapping
            How many candidates parts have; one that it lacks has none.
        """
        if self.linear:
            after = [0] * self.size + [1]
            for units, number in sorted(candidates.items(), key=lambda item: -item[0][0]):
                after[units[0]] += number * after[units[-1] + 1]
            return after[0]
        known = {_mask(units): number for units, number in candidates.items()}
        signed: dict[tuple[int, ...], int] = {}

        def alternating(pieces: tuple[int, ...]) -> int:
            """``h`` of pieces that have nothing to do with each other."""
            if pieces not in signed:
                total = known.get(sum(pieces), 0)
                first, others = pieces[0], pieces[1:]
                for chosen in range(2 ** len(others) - 1):
                    mine = first + sum(p for k, p in enumerate(others) if chosen >> k & 1)
                    if many := known.get(mine, 0):
                        rest = tuple(p for k, p in enumerate(others) if not chosen >> k & 1)
                        total -= many * alternating(rest)
                signed[pieces] = total
            return signed[pieces]

        found = [0] * (len(self.masks) - 1) + [1]
        for ideal in range(len(self.masks) - 2, -1, -1):
            mask = self.masks[ideal]
            pieces: dict[int, tuple[int, ...]] = {mask: ()}
            for other in range(ideal + 1, len(self.masks)):
                if mask & ~(end := self.masks[other]):
                    continue
                last = 1 << ((end & ~mask).bit_length() - 1)
                before, touched, apart = pieces[end & ~last], last, list[int]()
                needed = self.before[last.bit_length() - 1]
                for piece in before:
                    if piece & needed:
                        touched |= piece
                    else:
                        apart.append(piece)
                pieces[end] = tuple(sorted([touched, *apart]))
                if found[other]:
                    found[ideal] += alternating(pieces[end]) * found[other]
        return found[0]


def _down_sets(before: Sequence[int], most: int) -> tuple[int, ...] | None:
    """All of them, smaller ones first; None if they are more than so many."""
    readers: list[list[int]] = [[] for _ in before]
    for k, needed in enumerate(before):
        for other in _units(needed):
            readers[other].append(k)
    layer = {0: sum(1 << k for k, needed in enumerate(before) if not needed)}
    found = [0]
    for _ in before:
        larger: dict[int, int] = {}
        for mask, free in layer.items():
            for k in _units(free):
                with_it = mask | 1 << k
                if with_it not in larger:
                    freed = sum(1 << r for r in readers[k] if before[r] & ~with_it == 0)
                    larger[with_it] = free & ~(1 << k) | freed
            if len(found) + len(larger) > most:
                return None
        layer = larger
        found += sorted(layer)
    return tuple(found)


def _mask(units: Iterable[int]) -> int:
    mask = 0
    for k in units:
        mask |= 1 << k
    return mask


def _units(mask: int) -> Units:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
