"""The match of a result with the reference: each element's error, and its bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fuseloom.program.float32 import SMALLEST
from fuseloom.program.rounded import Box, Elements, Grid
from fuseloom.program.rounded.rounding import UNIT
from fuseloom.program.rounded.stored import from_stored
from fuseloom.program.rounded.tensors import Bools, Floats, Ints, Listed, keys, positions, same_axis
from fuseloom.program.storage import StoredTensor

LOOSE = 1e-4
"""Bounds above this share of a tensor's largest magnitude are too wide to judge by."""
NEGLIGIBLE = 16 * UNIT
"""Differences below this share of a tensor's largest magnitude are not judged any closer."""
MARGIN = 4.0
"""The factor by which real rounding may exceed that in samples of random rounding."""
UNSTEADY = 1 / 64
"""A pole counts where random rounding moves an element by more than this share of itself."""
BEYOND = 1e300
"""The share told where nothing is allowed and something differs."""


@dataclass
class MatchVerdict:
    """The result of the comparisons so far."""

    share: float = 0.0
    error: float = 0.0
    pattern: bool = True
    undetermined: int = 0
    rows: int = 0
    rows_of: int = 0
    unchecked: list[str] = field(default_factory=list)
    wrong: str | None = None


@dataclass(frozen=True, eq=False)
class Matched:
    """An output beside what it should be, element by element.

    Attributes
    ----------
    elements : Elements
        What it should be.
    wanted, bounds, got : (n,) arrays
        Of the elements that both have.
    at : (n,) array, or slice
        Their places among the elements that should be there.
    missing : int, optional
        Number of the first element that is not stored and should be.
    extra : tuple of int, optional
        Coordinates of the first element that is stored and should not be.
    ends : ((n,) array, (n,) array), optional
        If only integers are right, the least and the largest.
    """

    elements: Elements
    wanted: Floats
    bounds: Floats
    got: Floats
    at: Ints | slice
    missing: int | None = None
    extra: tuple[int, ...] | None = None
    ends: tuple[Floats, Floats] | None = None

    @classmethod
    def of(
        cls,
        stored: StoredTensor,
        elements: Elements,
        box: Box,
        ends: tuple[Elements, Elements] | None = None,
        zeros: bool = True,
    ) -> Matched:
        """Match what is stored with what it should be.

        Parameters
        ----------
        zeros : bool
            Whether elements that may be zero have to be stored, too.
        ends : (Elements, Elements), optional
            The least and the largest integers that are right.
        """
        given = from_stored(stored, box)
        bounds = elements.bounds
        if _same_axes(given, elements):
            wanted = elements.values.ravel()
            allowed = np.zeros(1) if bounds is None else np.abs(bounds.ravel())
            return cls(
                elements,
                wanted,
                np.broadcast_to(allowed, wanted.shape),
                given.values.ravel(),
                slice(None),
                ends=None if ends is None else (ends[0].values.ravel(), ends[1].values.ravel()),
            )
        got = given.listed()
        if isinstance(elements, Grid):
            at, here = positions(got.coords, list(elements.axes))
        else:
            at, here = _places(got.coords, elements)
        all_here = bool(here.all())
        at = at if all_here else at[here]
        found = got.values
        flat = elements.values.ravel()
        missing = None
        if len(at) < elements.size:
            wanting = np.ones(elements.size, dtype=bool)
            wanting[at] = False
            if not zeros:
                wanting &= np.abs(flat) > (0.0 if bounds is None else np.abs(bounds.ravel()))
            missing = int(np.argmax(wanting)) if wanting.any() else None
        return cls(
            elements,
            flat[at],
            np.zeros(len(at)) if bounds is None else np.abs(bounds.ravel()[at]),
            found if all_here else found[here],
            at,
            missing,
            None if all_here else _first(got.coords[:, ~here]),
            None if ends is None else (ends[0].values.ravel()[at], ends[1].values.ravel()[at]),
        )

    @property
    def same(self) -> bool:
        """Whether exactly the elements that should be there are stored."""
        return self.missing is None and self.extra is None

    @cached_property
    def suspects(self) -> Bools:
        """Elements that differ, and whose bounds are too wide to judge by."""
        finite = np.isfinite(self.wanted)
        largest = float(np.abs(self.wanted[finite]).max(initial=0.0))
        wide = self.bounds > LOOSE * largest
        with np.errstate(invalid="ignore"):
            near = np.abs(self.got - self.wanted) <= NEGLIGIBLE * largest
            return wide & ~near & ~self._whole

    @cached_property
    def _whole(self) -> Bools:
        """Which elements are integers that are right."""
        if self.ends is None:
            return np.zeros(len(self.got), dtype=bool)
        low, high = self.ends
        right: Bools = (self.got == np.rint(self.got)) & (low <= self.got) & (self.got <= high)
        return right

    def _allowed(self, moved: Floats) -> Floats:
        own = 2 * UNIT * np.abs(self.wanted) + 4 * SMALLEST
        return np.where(self.suspects, np.minimum(self.bounds, MARGIN * moved + own), self.bounds)

    def explained(self, moved: Floats) -> bool:
        """Return whether random rounding may cause the error of every suspect."""
        with np.errstate(invalid="ignore"):
            off = np.abs(self.got - self.wanted)[self.suspects]
        return bool((off <= self._allowed(moved)[self.suspects]).all())

    def share(self, moved: Floats) -> float:
        """Return the largest share of the bounds that random rounding takes up."""
        counted = np.isfinite(moved) & (self.bounds > 0) & np.isfinite(self.bounds)
        return float((moved[counted] / self.bounds[counted]).max(initial=0.0))

    def narrowed(self, moved: Floats, poles: Floats | None) -> Floats:
        """Return the error bound of each element; infinite if rounding may reach a pole."""
        beyond = ~np.isfinite(moved)
        if poles is not None:
            unsteady = moved > UNSTEADY * np.abs(self.wanted)
            beyond |= unsteady & np.isinf(poles.ravel()[self.at])
        return np.where(beyond, np.inf, self._allowed(moved))

    def moved(self, sample: Elements) -> Floats:
        """Return the distances of another evaluation's elements from the wanted ones."""
        assert sample.size == self.elements.size
        there = sample.values.ravel()[self.at]
        with np.errstate(invalid="ignore"):
            off = np.abs(there - self.wanted)
        both = (np.isnan(there) & np.isnan(self.wanted)) | (there == self.wanted)
        return np.where(both, 0.0, np.where(np.isnan(off), np.inf, off))

    def _place(self, number: int) -> tuple[int, ...]:
        """Coordinates of an element that should be there."""
        if isinstance(self.elements, Grid):
            places = np.unravel_index(number, self.elements.values.shape)
            return tuple(int(x[p]) for x, p in zip(self.elements.axes, places, strict=True))
        return tuple(int(c) for c in self.elements.coords[:, number])

    def _misplaced(self) -> tuple[tuple[int, ...], str] | None:
        """An element too much, or one that is missing."""
        if self.extra is not None:
            return self.extra, "is stored, and should not be"
        if self.missing is None:
            return None
        return self._place(self.missing), "is not stored, and should be"

    def tell(self, name: str, allowed: Floats, verdict: MatchVerdict) -> None:
        """Add this comparison to a verdict."""
        verdict.pattern = verdict.pattern and self.same
        if verdict.wrong is None and (found := self._misplaced()):
            verdict.wrong = f"{_element(name, found[0])} {found[1]}"
        if not len(self.wanted):
            return
        with np.errstate(all="ignore"):
            off = np.abs(self.got - self.wanted)
            equal = (self.got == self.wanted) | (np.isnan(self.got) & np.isnan(self.wanted))
            free = ~np.isfinite(allowed)
            if self.ends is not None:
                equal |= self._whole
                refused = np.isfinite(self.got) & ~self._whole
                allowed, free = np.where(refused, 0.0, allowed), free & ~refused
            off = np.where(equal | free, 0.0, np.where(np.isnan(off), np.inf, off))
            share = np.where(off == 0, 0.0, off / allowed)
        verdict.undetermined += int((free & ~equal).sum())
        verdict.share = max(verdict.share, min(float(share.max()), BEYOND))
        if verdict.wrong is None and share.max() > 1:
            k = int(np.argmax(share > 1))
            place = self._place(int(np.arange(self.elements.size)[self.at][k]))
            should = self._should(k)
            verdict.wrong = f"{_element(name, place)} is {self.got[k]:.7g}, and should be {should}"
        finite = np.isfinite(self.wanted)
        largest = float(np.abs(self.wanted[finite]).max(initial=0.0))
        worst = float(off.max())
        # A tensor of which no element has a digit is rounding errors throughout.
        if worst > 0 and (share.max() > 1 or (np.abs(self.wanted) > allowed).any()):
            verdict.error = max(verdict.error, worst / largest if largest else float("inf"))

    def _should(self, number: int) -> str:
        """The value that an element should have, or the integers."""
        if self.ends is None or self.ends[0][number] == self.ends[1][number]:
            return f"{self.wanted[number]:.7g}"
        low, high = (end[number] for end in self.ends)
        return f"an integer from {low:.7g} to {high:.7g}"


def _element(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def _first(coords: Ints) -> tuple[int, ...]:
    """The first of some coordinates, by the first dimension, then the next."""
    order = np.lexsort(coords[::-1]) if len(coords) else np.zeros(1, np.int64)
    return tuple(int(c) for c in coords[:, order[0]])


def _same_axes(a: Elements, b: Elements) -> bool:
    return (
        isinstance(a, Grid)
        and isinstance(b, Grid)
        and all(same_axis(x, y) for x, y in zip(a.axes, b.axes, strict=True))
    )


def _places(
    coords: Ints, elements: Listed
) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return the positions of coordinates among listed elements, and which are there at all."""
    got, want = keys(coords, elements.coords)
    order = np.argsort(want, kind="stable")
    if not len(order):
        return np.zeros(len(got), np.int64), np.zeros(len(got), dtype=bool)
    place = np.minimum(np.searchsorted(want, got, sorter=order), len(order) - 1)
    return order[place], want[order[place]] == got
