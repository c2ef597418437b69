"""Statements as they are written: names, numbers, and tensors that relations make."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.frontends.algebra.expressions import Index, Unsupported, add, largest
from fuseloom.program import evaluate
from fuseloom.program.relations import Relation
from fuseloom.stitch.program_statements import (
    DenseView,
    StatementWriter,
    is_uniform,
    relation_of,
)


def test_names_are_those_of_the_language_and_each_is_taken_once() -> None:
    writer = StatementWriter("m")
    assert [writer.free_name(x) for x in ("a.1", "a_1", "max", "1x", "_")] == [
        "a_1", "a_1_1", "max_1", "t1x", "_"
    ]  # fmt: skip


def test_equal_statements_are_one() -> None:
    writer = StatementWriter("m")
    x = writer.given("x", (3,))
    first, second = (writer.compute(name, add, [x, np.ones(3)]) for name in "ab")
    assert first == second
    assert len(writer.statements) == 1


def test_numbers_stay_numbers() -> None:
    made = StatementWriter("m").compute("y", largest, [np.zeros((2, 3)), np.ones((2, 3))])
    assert isinstance(made, np.ndarray)
    assert made.shape == (2, 3)
    assert made.min() == 1


def test_results_are_tensors_of_their_own() -> None:
    writer = StatementWriter("m")
    x = writer.given("x", (2,))
    wide = DenseView("x", (None, 0), (3, 2))
    program = writer.program([x, x, wide, np.full((2,), 5.0)], ["a", "b", "c", "d"])
    found = evaluate(program, {"x": np.array([1.0, 2.0])})
    assert len(set(program.outputs)) == 4
    values = [found[name].dense().tolist() for name in program.outputs]
    assert values == [[1, 2], [1, 2], [[1, 2]] * 3, [5, 5]]


def test_what_is_no_statement_is_refused() -> None:
    writer = StatementWriter("m")
    with pytest.raises(Unsupported, match="the number inf"):
        writer.number(float("inf"))
    with pytest.raises(Unsupported, match="numbers that are known"):
        writer.held(np.array([1.0, 2.0]), "c")
    with pytest.raises(Unsupported, match="by its place"):
        writer.compute("y", lambda x: add(x, Index(0)), [writer.given("x", (2,))])


@pytest.mark.parametrize(
    ("relation", "shape"),
    [
        (Relation.of((1, 1)), (3, 2, 4)),
        (Relation.of((2, 1), -1), (3, 4, 5)),
        (Relation.of((-1,), 3), (4, 4)),
        (Relation(0, ((1, 2),), 1), (9, 4)),
        (Relation.of((1,), 0, (2, 0, 2, 1)), (4, 3)),
        (Relation(2, (), 1), (2, 3, 4)),
    ],
)
def test_relations_are_found_in_their_ones(relation: Relation, shape: tuple[int, ...]) -> None:
    ones = np.zeros(shape)
    ones[tuple(relation.coordinates(shape).T)] = 1
    found = relation_of(ones)
    assert found is not None
    again = np.zeros(shape)
    again[tuple(found.coordinates(shape).T)] = 1
    np.testing.assert_array_equal(again, ones)


@pytest.mark.parametrize("array", [np.tri(3), np.full((2, 2), 2.0), np.zeros((2, 2)), np.ones(())])
def test_other_arrays_hold_no_relation(array: np.ndarray) -> None:
    assert relation_of(array) is None


def test_uniform_arrays() -> None:
    assert is_uniform(np.full(3, np.nan))
    assert not is_uniform(np.array([]))
    assert not is_uniform(np.arange(3))
    assert is_uniform(np.array([[1, 2], [1, 2]]), 0)
