"""Windows, parts and insertions: the relations by which a product reads or writes elsewhere.

A front end gives a relation and the shape of a tensor that holds ones where it holds
(:mod:`fuseloom.program.relations`); a product with that tensor moves elements.  Such a tensor is
declared, so a program says what it does: ``where d2 = 2*d0 + d1``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.program.relations import Relation


def windows(step: int, gap: int = 1, before: int = 0) -> Relation:
    """Places ``o`` of windows, positions ``k`` inside, and what they reach: ``s o + g k - b``.

    Parameters
    ----------
    step, gap, before : int
        From window to window, from position to position, and the padding in front.
    """
    return Relation.of((step, gap), -before)


def transposed_windows(step: int, gap: int = 1, before: int = 0) -> Relation:
    """The same dimensions, of windows that are written: ``o = s i + g k - b``.

    >>> transposed_windows(2).text(("o", "k", "i"))
    'o = k + 2*i'
    """
    return Relation(0, ((1, gap), (2, step)), -before)


def part(start: int, step: int = 1) -> Relation:
    """Elements ``o`` of a part, and where they are in the whole: ``i = s o + start``."""
    return Relation.of((step,), start)


def placed(start: int, step: int = 1) -> Relation:
    """Elements ``o`` of the whole, and the ``i`` of a part that goes there: ``o = s i + start``."""
    return Relation(0, ((1, step),), start)


def spaced(places: Sequence[int]) -> tuple[int, int] | None:
    """The first of some places and the step from each to the next; None if steps differ.

    >>> spaced([5, 3, 1]), spaced([0, 1, 3]), spaced([4])
    ((5, -2), None, (4, 1))
    """
    if not places:
        return None
    step = places[1] - places[0] if len(places) > 1 else 1
    even = list(places) == [places[0] + n * step for n in range(len(places))]
    return (places[0], step) if step and even else None
