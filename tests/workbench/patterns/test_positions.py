"""The elements that positions see, against the values that the interpreter gives them."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from fuseloom.access.constructs import ShapeError
from fuseloom.access.kernels import Convolution, apply, batched_matmul, conv2d, matmul, pool2d
from fuseloom.access.meaning import evaluate, random_data, shape_of, shapes_of
from fuseloom.access.rules.soundness import random_term
from fuseloom.access.terms import Term, subterms, tensor
from fuseloom.errors import LimitError
from fuseloom_workbench.patterns.positions import MOST_POSITIONS, positions_of

CONVOLUTION = conv2d(Convolution(1, 4, 7, 8, 6, (3, 2), (2, 1), (1, 0), groups=2))


def seen(side, data, position):
    """The values that a side sees at a position, in order; 0 for what pads."""
    flat = np.concatenate([data[source.name].ravel() for source in side.sources])
    return np.where(side.at(position) > 0, flat[side.at(position) - 1], 0.0)


def check(term: Term) -> None:
    """Every position of a part that only views tensors sees the values that it has."""
    data = random_data(term, 3)
    positions = positions_of(term)
    value = evaluate(term, data)
    shape = shape_of(term)
    rows = value.reshape(prod(shape.access), -1)
    for number in range(positions.count):
        sides = [seen(side, data, number) for side in positions.sides]
        assert np.array_equal(np.concatenate(sides), rows[number])


@pytest.mark.parametrize(
    "term",
    [matmul(3, 4, 5), CONVOLUTION, batched_matmul(2, 3, 4, 2)],
    ids=["matmul", "conv2d", "batched"],
)
def test_what_is_paired_is_what_the_interpreter_pairs(term):
    products = [x for x in subterms(term) if x.construct in ("cartProd", "pair")]
    assert products
    for part in products:
        check(part)


def test_the_operator_is_that_of_what_is_computed():
    windows = pool2d(Convolution(1, 2, 4, 4, 2, (2, 2), (2, 2)), "max")
    positions = positions_of(windows)
    assert (positions.operator, positions.count) == ("reduceMax", 8)
    data = random_data(windows, 1)
    values = evaluate(windows, data).ravel()
    for number in range(positions.count):
        assert seen(positions.sides[0], data, number).max() == values[number]


def test_a_call_of_the_array_sees_a_vector_and_a_column():
    vectors, weights = apply("access", tensor("A", (5, 3)), 1), tensor("W", (3, 2))
    call = Term("systolicArray", (3, 2), (vectors, weights))
    data = random_data(call, 2)
    positions = positions_of(call)
    left, right = positions.sides
    products = [seen(left, data, n) @ seen(right, data, n) for n in range(positions.count)]
    assert np.allclose(np.reshape(products, (5, 2)), evaluate(call, data))


def test_what_is_computed_stands_for_itself():
    term = apply("transpose", matmul(4, 3, 2), (1, 0))
    (side,) = positions_of(term).sides
    (source,) = side.sources
    assert (source.name, source.dims, source.part.construct) == ("result 1", (4, 2), "compute")
    assert side.at(1).tolist() == [3]


def test_padding_is_told_apart():
    term = apply("pad", apply("access", tensor("A", (2, 2)), 1), "zero", 1, 1, 1)
    told = positions_of(term).told(0)
    assert told[0] == [{"runs": {"A": [[0, 2]]}, "padded": 2}]


def test_random_views_see_what_they_hold():
    random = np.random.default_rng(5)
    checked = 0
    while checked < 150:
        term = random_term(random, 4)
        try:
            shapes_of(term)
        except (ShapeError, ValueError):
            continue
        views = {"compute", "systolicArray", "pad", "literal"}
        if any(x.construct in views for x in subterms(term)) or term.construct == "tensor":
            continue
        check(term)
        checked += 1


def test_positions_are_told_in_parts():
    positions = positions_of(apply("access", tensor("A", (500, 2)), 1))
    assert len(positions.told(0)) == MOST_POSITIONS
    assert positions.told(499) == [[{"runs": {"A": [[998, 2]]}, "padded": 0}]]


def test_too_many_elements_are_refused():
    with pytest.raises(LimitError, match="more than are drawn"):
        positions_of(apply("access", tensor("A", (3000, 3000)), 1))
