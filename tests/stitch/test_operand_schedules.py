"""Operands that several blocks read: broadcasts, by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import pytest

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.operand_schedules import PartMatch, from_digits
from fuseloom.stitch.schedules import BlockSchedule, IndexDigit
from fuseloom.stitch.shapes import TensorShape

from .brute_force import require_agreement, shaped


def broadcasts(dims: tuple[int, ...]) -> Iterator[tuple[DenseOperation, list[TensorShape]]]:
    """All broadcasts to an array, those among them that transpose."""
    for count in range(len(dims) + 1):
        for kept in combinations(range(len(dims)), count):
            for places in permutations(kept):
                operation = DenseOperation(
                    "y", "broadcast", shaped(*dims), ("x",), {"dimensions": places}
                )
                yield operation, [shaped(*(dims[place] for place in places))]


def test_broadcasts_equal_brute_force_on_all_small_arrays() -> None:
    for rank in range(4):
        for dims in product((1, 2, 3), repeat=rank):
            for operation, shapes in broadcasts(dims):
                require_agreement(operation, shapes)


def test_broadcasts_equal_brute_force_on_sampled_arrays() -> None:
    draw = random.Random(7)
    for _ in range(16):
        dims = tuple(draw.choice((1, 2, 3, 4, 6)) for _ in range(draw.randint(2, 4)))
        require_agreement(*draw.choice(list(broadcasts(dims))))


@pytest.mark.deep
@pytest.mark.parametrize(
    ("rank", "extents"),
    [
        *((rank, range(1, 7)) for rank in range(3)),
        (3, (1, 2, 4, 6)),
        *(pytest.param(rank, range(1, 7), marks=pytest.mark.fuzz) for rank in (3, 4)),  # minutes
    ],
    ids=str,
)
def test_broadcasts_equal_brute_force_on_all_arrays(rank: int, extents: Sequence[int]) -> None:
    for dims in product(extents, repeat=rank):
        for operation, shapes in broadcasts(dims):
            if [*operation.attributes["dimensions"]] == sorted(operation.attributes["dimensions"]):
                require_agreement(operation, shapes)


def test_parts_that_no_schedule_has_are_refused_with_the_reason() -> None:
    by_dim = [(IndexDigit(2, 2),), (IndexDigit(3, 0),), (IndexDigit(2, 1),)]
    made = from_digits(shaped(2, 3, 2), by_dim, 4, "why", (1,))
    assert (made.match, made.rule, made.dims) == (PartMatch.REFUSED, "why", (1,))
    assert from_digits(shaped(4), [(IndexDigit(4, 1),)], 4, "", ()).schedule == BlockSchedule(0, 4)
