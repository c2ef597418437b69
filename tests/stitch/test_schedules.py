"""Schedules: blocks, divisions, and when two are the same, by brute force."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

from fuseloom.errors import ScheduleError
from fuseloom.stitch.schedules import (
    MOST_BLOCKS,
    BlockSchedule,
    IndexDigit,
    SplitType,
    dimension_digits,
    divisions_of,
    divisors,
    first_schedule,
    merged_digits,
    schedule_with,
    schedules_of,
)

from .brute_force import every_schedule

SHAPES = [dims for rank in range(4) for dims in product((1, 2, 3, 4, 6), repeat=rank)]


@pytest.mark.parametrize("dims", [(), (1,), (6,), (4, 3), (2, 3, 4), (3, 1, 2, 2)])
def test_all_schedules_and_their_blocks(dims: tuple[int, ...]) -> None:
    expected = every_schedule(dims)
    assert [one for one, _ in expected] == list(schedules_of(dims))
    for schedule, blocks in expected:
        assert schedule.blocks(dims) == len(np.unique(blocks))


def test_blocks_are_products_of_what_is_left_or_right_of_the_split() -> None:
    dims = (8, 6, 5)
    assert BlockSchedule(1, 3, SplitType.ROW).blocks(dims) == 8 * 3
    assert BlockSchedule(1, 3, SplitType.COLUMN).blocks(dims) == 3 * 5
    assert BlockSchedule(0, 1).blocks(dims) == 1  # one block, as the paper has it
    assert BlockSchedule(2, 1, SplitType.COLUMN).blocks(dims) == 1


def test_digits_agree_if_and_only_if_blocks_do() -> None:
    """Of all shapes with as many elements: the digits of a position decide on the block."""
    for dims in SHAPES:
        known: dict[object, object] = {}
        for schedule, blocks in every_schedule(dims):
            by_dim = dimension_digits(schedule, dims)
            digits = merged_digits(one for of_one in by_dim for one in of_one)
            if dims:
                positions = np.zeros(prod(dims), dtype=np.int64)
                left = np.arange(prod(dims))
                for size, stride in reversed(digits):
                    positions += left % size * stride
                    left //= size
                assert np.array_equal(positions, blocks)
            assert known.setdefault(blocks.tobytes(), digits) == digits
        assert len(set(known.values())) == len(known)
        assert len(divisions_of(dims)) == len(known)


def test_a_division_has_one_first_schedule() -> None:
    assert first_schedule(BlockSchedule(1, 1, SplitType.ROW), (8, 4)) == BlockSchedule(0, 8)
    columns = BlockSchedule(1, 1, SplitType.COLUMN)
    assert first_schedule(columns, (8, 4)) == BlockSchedule(0, 1)
    for dims in ((4, 6), (2, 2, 2)):
        for schedule in schedules_of(dims):
            first = first_schedule(schedule, dims)
            assert first in divisions_of(dims)
            assert first_schedule(first, dims) == first


def test_schedules_of_other_dimensions_with_the_same_blocks() -> None:
    digits = [IndexDigit(2, 0), IndexDigit(6, 1)]
    assert schedule_with((2, 6), digits) == BlockSchedule(0, 1, SplitType.COLUMN)
    assert schedule_with((2, 2, 3), digits) == BlockSchedule(0, 1, SplitType.COLUMN)
    assert schedule_with((12,), digits) is None


@pytest.mark.parametrize(
    ("schedule", "dims", "message"),
    [
        (BlockSchedule(2, 1), (4, 4), "there is no dimension 2 of [4, 4] to split"),
        (BlockSchedule(-1, 1), (4, 4), "there is no dimension -1"),
        (BlockSchedule(0, 3), (4, 4), "3 parts do not divide dimension 0 of [4, 4]"),
        (BlockSchedule(0, 0), (4, 4), "0 parts do not divide"),
        (BlockSchedule(0, -2), (4, 4), "-2 parts do not divide"),
        (BlockSchedule(0, 2), (), "2 parts do not divide dimension 0 of [1]"),
        (BlockSchedule(0, 2), (0,), "2 parts do not divide dimension 0 of [0]"),
        (BlockSchedule(1, 32768), (65536, 32768), "makes 2,147,483,648 blocks"),
    ],
)
def test_refusals(schedule: BlockSchedule, dims: tuple[int, ...], message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        schedule.blocks(dims)
    assert message in str(caught.value)


def test_schedules_with_too_many_blocks_are_left_out() -> None:
    dims = (65536, 65536)
    made = schedules_of(dims)
    assert max(one.blocks(dims) for one in made) <= MOST_BLOCKS
    assert BlockSchedule(1, 16384) in made
    assert BlockSchedule(1, 32768) not in made


def test_arrays_without_elements_have_no_schedules() -> None:
    assert schedules_of((4, 0)) == ()
    assert divisions_of((0,)) == ()
    assert BlockSchedule(1, 1).blocks((0, 4)) == 0


def test_divisors() -> None:
    assert divisors(1) == (1,)
    assert divisors(0) == (1,)
    assert divisors(36) == (1, 2, 3, 4, 6, 9, 12, 18, 36)
    assert all(sum(n % d == 0 for d in range(1, n + 1)) == len(divisors(n)) for n in range(1, 90))


def test_texts_are_ways_to_divide_and_others_are_refused() -> None:
    assert BlockSchedule(1, 2, SplitType("row")) == BlockSchedule(1, 2, "row")  # type: ignore[arg-type]
    assert BlockSchedule(1, 2, "row").blocks((8, 4, 3)) == 16  # type: ignore[arg-type]
    with pytest.raises(ScheduleError, match="'diagonal' is no way to divide"):
        BlockSchedule(1, 2, "diagonal")  # type: ignore[arg-type]
