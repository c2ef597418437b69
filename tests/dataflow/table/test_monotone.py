"""Implications between formulas of "and" and "or", against all assignments."""

from __future__ import annotations

import random
from itertools import product

import pytest

from fuseloom.dataflow.table.monotone import (
    FALSE,
    TRUE,
    Formula,
    Implications,
    Joined,
    given,
    joined,
)


def drawn(rng: random.Random, atoms: str, depth: int) -> Formula:
    if not depth or rng.random() < 0.2:
        return rng.choice(atoms)
    terms = [drawn(rng, atoms, depth - 1) for _ in range(rng.randint(2, 3))]
    return joined(rng.random() < 0.5, terms)


def holds(formula: Formula, world: dict[object, bool]) -> bool:
    if not isinstance(formula, Joined):
        return world[formula]
    values = [holds(term, world) for term in formula.terms]
    return any(values) if formula.some else all(values)


@pytest.mark.parametrize("seed", range(300))
def test_implications_hold_in_every_world(seed: int) -> None:
    rng = random.Random(seed)
    a, b = drawn(rng, "pqrstu", 4), drawn(rng, "pqrstu", 4)
    worlds = [dict(zip("pqrstu", bits, strict=True)) for bits in product((False, True), repeat=6)]
    assert Implications().implies(a, b) == all(holds(b, w) for w in worlds if holds(a, w))


def test_constants() -> None:
    asked = Implications()
    assert asked.implies(FALSE, "p")
    assert asked.implies("p", TRUE)
    assert not asked.implies(TRUE, "p")
    assert not asked.implies("p", FALSE)
    assert joined(True, ["p", TRUE]) == TRUE
    assert joined(False, ["p", FALSE]) == FALSE
    both = joined(False, ["p", joined(True, ["q", "r"])])
    assert given(both, frozenset("q"), frozenset()) == "p"
    assert given(both, frozenset(), frozenset("qr")) == FALSE


def rows(some: bool, width: int = 20) -> Formula:
    """``(x0 . y0) , (x1 . y1) , ...``, 40 atoms."""
    return joined(some, [joined(not some, [f"x{k}", f"y{k}"]) for k in range(width)])


def test_steps_grow_with_the_terms_not_with_the_assignments() -> None:
    """40 atoms have 2^40 assignments."""
    asked = Implications()
    all_x = joined(False, [f"x{k}" for k in range(20)])
    assert asked.implies(rows(False), joined(False, ["x0", joined(True, ["y7", "x7"])])) is False
    assert asked.implies(all_x, rows(False))
    assert asked.implies(rows(True), joined(True, [f"x{k}" for k in range(20)]))
    assert not asked.implies(rows(True), joined(True, [f"x{k}" for k in range(19)]))
    assert asked.steps < 200


def test_a_question_that_takes_too_many_steps_is_answered_no() -> None:
    some_x = joined(True, [f"x{k}" for k in range(20)])
    assert Implications().implies(rows(True), some_x)
    assert not Implications(max_steps=5).implies(rows(True), some_x)
