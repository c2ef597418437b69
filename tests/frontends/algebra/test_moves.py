"""Relations of windows, parts and insertions, against indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.frontends.algebra import moves
from fuseloom.program.relations import Relation


def ones(relation: Relation, shape: tuple[int, ...]) -> Any:
    made = np.zeros(shape)
    made[tuple(relation.coordinates(shape).T)] = 1.0
    return made


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("gap", [1, 2])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_windows_and_those_that_are_written_are_transposed(
    step: int, gap: int, before: int
) -> None:
    length, size = 9, 3
    places = (length + 2 * before - gap * (size - 1) - 1) // step + 1
    x = np.arange(1.0, length + 1)
    padded = np.pad(x, before)
    read = ones(moves.windows(step, gap, before), (places, size, length)) @ x
    for place in range(places):
        wanted = padded[place * step : place * step + gap * (size - 1) + 1 : gap]
        assert read[place].tolist() == wanted.tolist()
    written = ones(moves.transposed_windows(step, gap, before), (length, size, places))
    assert written.tolist() == ones(
        moves.windows(step, gap, before), (places, size, length)
    ).transpose(2, 1, 0).tolist()  # fmt: skip


@pytest.mark.parametrize("chosen", [slice(2, 7), slice(1, 8, 3), slice(7, None, -2)])
def test_a_part_is_a_slice(chosen: slice) -> None:
    x = np.arange(1.0, 9.0)
    even = moves.spaced(range(8)[chosen])
    assert even is not None
    wanted = x[chosen]
    read = ones(moves.part(*even), (len(wanted), 8)) @ x
    assert read.tolist() == wanted.tolist()


@pytest.mark.parametrize(("start", "step"), [(0, 1), (2, 1), (1, 2), (-1, 1)])
def test_what_is_placed_stands_where_it_is_read_again(start: int, step: int) -> None:
    part, size = np.arange(1.0, 4.0), 7
    placed = ones(moves.placed(start, step), (size, len(part))) @ part
    for n, value in enumerate(part):
        at = start + n * step
        if 0 <= at < size:
            assert placed[at] == value
    inside = sum(0 <= start + n * step < size for n in range(len(part)))
    assert np.count_nonzero(placed) == inside, "nothing else, and what leaves it is cut off"


@pytest.mark.parametrize(
    ("places", "found"),
    [([0, 1, 2], (0, 1)), ([4], (4, 1)), ([6, 4, 2], (6, -2)), ([1, 1], None), ([0, 2, 3], None),
     ([], None)],
)  # fmt: skip
def test_places_with_one_step(places: list[int], found: tuple[int, int] | None) -> None:
    assert moves.spaced(places) == found
