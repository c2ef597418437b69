"""Positions: sums, their quotients, and loops that are divided for them."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.positions import (
    AtomRule,
    LoopDivisionError,
    PositionSum,
    digits_of,
    row_strides,
    strided,
    substituted,
    variable,
)
from tests.tiers import counts


def test_a_sum_has_each_variable_once() -> None:
    i, j = variable("i", 4), variable("j", 3)
    at = i.times(2).plus(j).plus(i).plus(j.times(-1))
    assert str(at) == "0 + 3*i"
    assert (at.least, at.most, at.names) == (0, 9, {"i"})
    assert at.factor("i") == 3
    assert at.factor("j") == 0
    assert variable("one", 1) == PositionSum()


def test_a_loop_is_divided_where_that_makes_sums() -> None:
    with pytest.raises(LoopDivisionError) as asked:
        variable("i", 12).divided(4)
    assert (asked.value.loop, asked.value.inner) == ("i", 4)
    with pytest.raises(LoopDivisionError) as asked:
        variable("i", 12).times(2).plus(variable("j", 2)).divided(8)
    assert (asked.value.loop, asked.value.inner) == ("i", 4)


def test_what_no_division_helps_is_a_quotient() -> None:
    over, left = variable("i", 6).divided(4)
    assert [atom.rule for atom, _ in (*over.terms, *left.terms)] == [
        AtomRule.QUOTIENT, AtomRule.REMAINDER,
    ]  # fmt: skip
    assert over.factor("i") is None
    assert [substituted(over, {"i": at}) for at in range(6)] == [0, 0, 0, 0, 1, 1]
    assert [substituted(left, {"i": at}) for at in range(6)] == [0, 1, 2, 3, 0, 1]


def test_fixed_numbers_are_not_divided() -> None:
    over, _ = variable("b", 8, AtomRule.FIXED).divided(2)
    assert over.terms[0][0].rule is AtomRule.QUOTIENT


def test_what_runs_backwards_is_divided_too() -> None:
    i, j = variable("i", 4), variable("j", 8)
    over, left = i.times(-8).plus(j.times(-1)).plus(31).divided(8)
    assert (str(over), str(left)) == ("3 + -1*i", "7 + -1*j")


def test_clamped_is_only_what_may_be_outside() -> None:
    i = variable("i", 4)
    assert i.clamped(4) == i
    cut = i.plus(-1).clamped(2)
    assert [substituted(cut, {"i": at}) for at in range(4)] == [0, 0, 1, 1]


@counts(small=150, deep=5_000)
def test_quotients_and_digits_are_right(count: int) -> None:
    for seed in range(count):
        check_digits(random.Random(seed))


def check_digits(draw: random.Random) -> None:
    extents = [draw.choice((1, 2, 3, 4, 6)) for _ in range(draw.randint(1, 3))]
    rules = [AtomRule.FIXED if draw.random() < 0.3 else AtomRule.LOOP for _ in extents]
    sizes = [[extent] for extent in extents]
    dims = [draw.choice((1, 2, 3, 4, 6)) for _ in range(3)]
    strides = [draw.choice((0, 1, 2, 5, -3)) for _ in dims]
    factors = row_strides(extents)
    offset = draw.choice((0, 0, 3))
    turned = draw.random() < 0.3
    while True:
        at = PositionSum()
        for place, parts in enumerate(sizes):
            stride = factors[place] * prod(parts)
            for number, extent in enumerate(parts):
                stride //= extent
                name = f"i{place}_{number}"
                at = at.plus(variable(name, extent, rules[place]).times(stride))
        at = at.times(-1).plus(at.most) if turned else at
        at = at.plus(offset)
        try:
            over, left = at.divided(dims[-1])
            moved = strided(at, [at.most + 1, *dims], [0, *strides])
            digits = digits_of(at, [at.most + 1, *dims])
            break
        except LoopDivisionError as asked:
            place, number = map(int, asked.loop[1:].split("_"))
            whole = sizes[place][number]
            sizes[place][number : number + 1] = [whole // asked.inner, asked.inner]
    names = [f"i{p}_{n}" for p, parts in enumerate(sizes) for n in range(len(parts))]
    for indices in product(*(range(extent) for parts in sizes for extent in parts)):
        values = dict(zip(names, indices, strict=True))
        value = substituted(at, values)
        assert divmod(value, dims[-1]) == (substituted(over, values), substituted(left, values))
        expected = []
        for extent in dims[::-1]:
            value, digit = divmod(value, extent)
            expected.append(digit)
        assert [substituted(one, values) for one in digits[1:]] == expected[::-1]
        total = sum(a * b for a, b in zip(expected[::-1], strides, strict=True))
        assert substituted(moved, values) == total


def test_an_array_without_elements_has_no_positions() -> None:
    with pytest.raises(ProgramError, match="without elements"):
        digits_of(PositionSum(), (2, 0))
