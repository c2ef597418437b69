"""Statements that read patterns where they are; whole terms are in ``test_term_program.py``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.access.constructs.construct import Array
from fuseloom.access.readings import Reading, constant, number, whole_tensor
from fuseloom.access.term_statements import PatternStatements
from fuseloom.access.views import part_of, widened
from fuseloom.errors import ProgramError

A, X = whole_tensor("A", (3, 4)), whole_tensor("x", (4,))
GIVEN = {"A": (3, 4), "x": (4,)}
DATA = {"A": np.arange(12.0).reshape(3, 4) - 5, "x": np.array([1.0, -2.0, 3.0, -4.0])}


def _value(writer: PatternStatements, made: Reading) -> Array:
    program = fl.parse(writer.program("p", "R", made))
    return np.asarray(fl.evaluate(program, DATA)["R"].dense(), dtype=np.float64)


def _rows(reading: Reading) -> Reading:
    return reading.moved(lambda view: widened(view, (3, 4), (1,)))


def _beyond(reading: Reading, filling: str, low: int, count: int) -> Reading:
    """Elements of a vector from an index on, which may be outside."""
    made = [part_of(view, (count,), 0, low) for view in reading.places]
    return replace(reading, places=tuple(x for x in made if x is not None), filling=filling)


def test_sums_with_an_operand_that_lacks_an_index() -> None:
    writer = PatternStatements(GIVEN)
    made = writer.sum([A, _rows(X)], 1)
    assert np.array_equal(_value(writer, made), (DATA["A"] + DATA["x"]).sum(1))


def test_what_is_summed_and_not_read_counts_as_often() -> None:
    writer = PatternStatements(GIVEN)
    turned = X.moved(lambda view: widened(view, (4, 3), (0,)))
    assert np.array_equal(_value(writer, writer.product([turned], 1)), 3 * DATA["x"])


def test_the_largest_counts_zeros_but_not_what_is_absent() -> None:
    writer = PatternStatements(GIVEN)
    assert _value(writer, writer.largest(_beyond(X, "zero", 3, 3), 0)) == 0.0
    writer = PatternStatements(GIVEN)
    assert _value(writer, writer.largest(_beyond(X, "zero", 1, 1), 0)) == -2.0
    writer = PatternStatements(GIVEN)
    some = writer.largest(_beyond(X, "minimum", -2, 3), 0)
    assert _value(writer, some) == 1.0
    with pytest.raises(ProgramError, match="largest of nothing"):
        writer.largest(_beyond(X, "minimum", 4, 2), 0)


def test_numbers_are_folded_or_stored() -> None:
    writer = PatternStatements(GIVEN)
    half = number(0.5, constant((4,)))
    assert writer.product([half, half], 0).value == 1.0
    assert writer.sum([half, half], 1).value == 1.0
    assert writer.largest(half, 0).value == 0.5
    assert np.array_equal(_value(writer, writer.sum([half, X], 1)), DATA["x"] + 0.5)


def test_joined_patterns_and_the_order_of_a_result() -> None:
    writer = PatternStatements(GIVEN)
    turned = A.moved(lambda view: widened(view, (4, 3), (1, 0)))
    made = writer.joined([turned, turned], 1)
    assert np.array_equal(_value(writer, made), np.hstack([DATA["A"].T] * 2))
    writer = PatternStatements(GIVEN)
    product = writer.product([A, _rows(X)], 2)
    text = writer.program("p", "R", product.moved(lambda view: widened(view, (4, 3), (1, 0))))
    assert "R[j,i] = A[i,j] * x[j]" in text.splitlines()


def test_minus_infinity_is_refused() -> None:
    writer = PatternStatements(GIVEN)
    for change in (writer.copied, writer.complete, lambda x: writer.function("relu", x)):
        with pytest.raises(ProgramError, match="minus infinity"):
            change(_beyond(X, "minimum", 1, 4))
