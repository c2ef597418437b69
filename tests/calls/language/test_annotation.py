"""Annotations are read as they are printed."""

from __future__ import annotations

import random

import pytest

from fuseloom.calls.language.annotation import Annotation, Interval, Subset
from fuseloom.calls.language.reader import read_annotation
from fuseloom.calls.polynomials import DataField, Polynomial

FIELDS = ("start", "len", "row", "rows", "n", "for_", "x")


def drawn_value(rng: random.Random, names: list[str], depth: int = 3) -> Polynomial:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(
            [
                Polynomial.of(rng.randint(-20, 20)),
                Polynomial.of(rng.choice(names)),
                Polynomial.of(DataField(rng.choice(["out", "a"]), rng.choice(FIELDS))),
            ]
        )
    left, right = (drawn_value(rng, names, depth - 1) for _ in range(2))
    divisor = rng.randint(1, 9)
    return rng.choice(
        [
            lambda: left + right, lambda: left - right, lambda: left * right,
            lambda: left // divisor, lambda: left % divisor,
        ]
    )()  # fmt: skip


def drawn_subset(rng: random.Random, data: str, names: list[str]) -> Subset:
    fields = rng.sample(FIELDS, rng.randint(1, len(FIELDS)))
    return Subset(data, tuple((field, drawn_value(rng, names)) for field in fields))


def drawn_annotation(rng: random.Random) -> Annotation:
    symbolic = tuple(f"t{n}" for n in range(rng.randrange(4)))
    outside = [*symbolic, "width"]
    loops = tuple(
        Interval(f"i{n}", *(drawn_value(rng, outside) for _ in range(3)))
        for n in range(rng.randrange(4))
    )
    names = [*outside, *(loop.variable for loop in loops)]
    inputs = tuple(drawn_subset(rng, f"in{n}", names) for n in range(rng.randrange(4)))
    return Annotation(symbolic, loops, drawn_subset(rng, "out", names), inputs)


@pytest.mark.parametrize("seed", range(100))
def test_random_annotations_are_read_as_they_are_printed(seed: int) -> None:
    made = drawn_annotation(random.Random(seed))
    again = read_annotation(str(made))
    assert again == made
    assert str(again) == str(made)


def test_parts_are_printed_with_their_fields() -> None:
    x = Polynomial.of("x")
    assert str(Subset("a", (("start", x), ("len", x + 1)))) == "a { start: x, len: x + 1 }"
    zero = Polynomial.of(0)
    assert str(Interval("i", zero, x, zero + 4)) == "for i in [0, x, 4]"


def test_a_call_without_inputs_is_printed() -> None:
    made = Annotation((), (), Subset("out", (("start", Polynomial.of(0)),)), ())
    assert str(made).splitlines() == ["produces { out { start: 0 } }", "when consumes { }"]
