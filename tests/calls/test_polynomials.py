"""Integer expressions: random ones against their evaluation, and what is printed."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fuseloom.calls.language.reader import read_annotation
from fuseloom.calls.polynomials import (
    DataField,
    Polynomial,
    Symbol,
    is_never_negative,
    largest,
    smallest,
)
from fuseloom.errors import ProgramError

NAMES = ("x", "y", "n")
FIELD = DataField("out", "rows")
ATOMS = (*map(Symbol, NAMES), FIELD)
Values = dict[Symbol | DataField, int]
Value = Callable[[Values], int]
"""The value of an expression, computed beside it by Python."""


def drawn(rng: random.Random, depth: int, extremes: bool = True) -> tuple[Polynomial, Value]:
    """A random expression, and what it computes."""
    if depth == 0:
        if rng.random() < 0.4:
            number = rng.randint(-9, 9)
            return Polynomial.of(number), lambda values: number
        atom = rng.choice(ATOMS)
        return Polynomial.of(atom), lambda values: values[atom]
    (a, left), (b, right) = (drawn(rng, rng.randrange(depth), extremes) for _ in range(2))
    divisor = rng.randint(1, 7)
    kind = rng.choice("+-*/%" + "<>" * extremes)
    made: dict[str, tuple[Callable[[], Polynomial], Value]] = {
        "+": (lambda: a + b, lambda v: left(v) + right(v)),
        "-": (lambda: a - b, lambda v: left(v) - right(v)),
        "*": (lambda: a * b, lambda v: left(v) * right(v)),
        "/": (lambda: a // divisor, lambda v: left(v) // divisor),
        "%": (lambda: a % divisor, lambda v: left(v) % divisor),
        "<": (lambda: smallest([a, b]), lambda v: min(left(v), right(v))),
        ">": (lambda: largest([a, b]), lambda v: max(left(v), right(v))),
    }
    return made[kind][0](), made[kind][1]


def values_of(rng: random.Random) -> Values:
    return {atom: rng.choice([0, 1, 2, 3, 7, 20, rng.randrange(1000)]) for atom in ATOMS}


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_have_the_value_of_their_operations(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        expression, value = drawn(rng, rng.randint(1, 4))
        for _ in range(6):
            values = values_of(rng)
            assert expression.evaluate(values) == value(values), expression


@pytest.mark.parametrize("seed", range(3))
def test_substitution_commutes_with_evaluation(seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(150):
        expression, value = drawn(rng, 3)
        inside = {atom: drawn(rng, 2) for atom in ATOMS if rng.random() < 0.7}

        def replaced(
            atom: Symbol | DataField,
            inside: dict[Symbol | DataField, tuple[Polynomial, Value]] = inside,
        ) -> Polynomial | None:
            return inside[atom][0] if atom in inside else None

        done = expression.substituted(replaced)
        for _ in range(5):
            values = values_of(rng)
            through = {a: inside[a][1](values) if a in inside else values[a] for a in ATOMS}
            if min(through.values()) < 0:
                continue  # extremes were simplified for values that are not negative
            assert done.evaluate(values) == value(through), (expression, done)


@pytest.mark.parametrize("seed", range(3))
def test_extremes_keep_their_value_under_their_facts(seed: int) -> None:
    rng = random.Random(200 + seed)
    simplified = 0
    for _ in range(120):
        made = [drawn(rng, rng.randint(0, 2)) for _ in range(rng.randint(1, 4))]
        pairs = [rng.sample(made, 2) for _ in range(2)] if len(made) > 1 else []
        facts = [(a - b, _minus(x, y)) for (a, x), (b, y) in pairs]
        low = smallest((expression for expression, _ in made), [fact for fact, _ in facts])
        high = largest((expression for expression, _ in made), [fact for fact, _ in facts])
        simplified += "min" not in str(low) and len(made) > 1
        for _ in range(40):
            values = values_of(rng)
            if all(value(values) >= 0 for _, value in facts):
                found = [value(values) for _, value in made]
                assert low.evaluate(values) == min(found)
                assert high.evaluate(values) == max(found)
    assert simplified > 20


def _minus(x: Value, y: Value) -> Value:
    return lambda values: x(values) - y(values)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_never_to_be_negative_is_not(seed: int) -> None:
    rng = random.Random(300 + seed)
    known = 0
    for _ in range(300):
        (value, meant), (fact, other) = drawn(rng, 3), drawn(rng, 1)
        if not is_never_negative(value, [fact]):
            continue
        known += 1
        for _ in range(20):
            values = values_of(rng)
            assert other(values) < 0 or meant(values) >= 0, (value, fact)
    assert known > 30


@pytest.mark.parametrize("seed", range(3))
def test_an_expression_is_read_as_it_is_printed(seed: int) -> None:
    rng = random.Random(400 + seed)
    for _ in range(150):
        expression, _ = drawn(rng, 4, extremes=False)
        text = f"produces {{ out {{ start: {expression} }} }} when consumes {{ }}"
        ((_, again),) = read_annotation(text).produces.fields
        assert again == expression, str(expression)
        assert hash(again) == hash(expression)


def test_a_negative_quotient_is_printed_as_such() -> None:
    """``-x / 4`` is read as ``(-x) / 4``, which rounds the other way."""
    x = Polynomial.of("x")
    assert str(-(x // 4)) == "-(x / 4)"
    assert str((-x) // 4) == "(-x) / 4"
    assert str(x - x // 4) == "x - x / 4"


def test_sums_of_products_that_are_equal_have_equal_terms() -> None:
    x, y = Polynomial.of("x"), Polynomial.of("y")
    assert (x + y) * (x - y) == x * x - y * y
    assert (4 * x + 6) // 2 == 2 * x + 3
    assert (6 * x + 3) % 3 == Polynomial.of(0)
    assert x + 1 != x
    assert (x == "x") is False


def test_names_numbers_and_atoms_are_told_apart() -> None:
    x = Polynomial.of("x")
    assert (x.symbol, Polynomial.of(FIELD).symbol, (2 * x).symbol) == ("x", None, None)
    assert (Polynomial.of(3).number, (x - x).number, x.number) == (3, 0, None)
    assert [Polynomial.of(v).is_atom for v in ("x", 3, -3)] == [True, True, False]
    assert not (x // 2).is_atom
    assert str(2 - x) == "2 - x"
    assert repr(x) == "<x>"


def test_the_smallest_of_smallest_values_is_one_minimum() -> None:
    x, y, n = map(Polynomial.of, NAMES)
    assert str(smallest([smallest([x, y]), n])) == "min(n, x, y)"
    assert str(largest([largest([x + 1, n]), x])) == "max(n, x + 1)"


@pytest.mark.parametrize("divisor", [0, -2])
def test_divisors_are_positive(divisor: int) -> None:
    for divided in (Polynomial.__floordiv__, Polynomial.__mod__):
        with pytest.raises(ProgramError, match="divisors are positive"):
            divided(Polynomial.of("x"), divisor)


def test_no_values_have_no_extreme() -> None:
    with pytest.raises(ProgramError, match="no values"):
        smallest([])


def test_a_variable_without_a_value_is_named() -> None:
    with pytest.raises(KeyError, match="y"):
        (Polynomial.of("x") + Polynomial.of("y")).evaluate({Symbol("x"): 1})
