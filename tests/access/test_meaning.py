"""Shapes and values of terms: the shape rules agree with what is computed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from fuseloom.access.constructs import CONSTRUCTS, ShapeError
from fuseloom.access.kernels import Convolution as Layer
from fuseloom.access.kernels import apply, conv2d, dot_products, matmul
from fuseloom.access.meaning import evaluate, path_to, random_data, read_data, shape_of, shapes_of
from fuseloom.access.rules.soundness import random_term
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Path, Term, part_at, replaced, subterms, tensor, tensors
from fuseloom.errors import DataError

TERMS = 5_000


def test_the_shape_of_random_terms_is_that_of_their_value() -> None:
    """Constructs whose shape rule accepts are computed, by themselves, with that shape."""
    random = np.random.default_rng(7)
    shaped = refused = 0
    seen: set[str] = set()
    for _ in range(TERMS):
        term = random_term(random, int(random.integers(1, 5)))
        shapes, fault = _shapes(term)
        if fault is not None:
            refused += 1
            assert not _has_shape(part_at(term, fault)), term
            continue
        if max(shape.elements for shape in shapes.values()) > 1_000_000:
            continue
        shaped += 1
        seen.add(term.construct)
        data = {n: random.integers(-4, 5, size=dims) for n, dims in tensors(term).items()}
        with np.errstate(all="ignore"):
            assert evaluate(term, data).shape == shapes[term].dims
    assert shaped > TERMS / 3
    assert refused > TERMS / 6
    assert seen >= set(CONSTRUCTS) - {"tensor", "systolicArray"}


def _shapes(term: Term) -> tuple[Mapping[Term, AccessShape], Path | None]:
    try:
        return shapes_of(term), None
    except ShapeError as error:
        return {}, error.path


def _has_shape(part: Term) -> bool:
    """Whether a construct whose operands have shapes has one, too."""
    shapes = [shape_of(x) for x in part.operands]
    try:
        CONSTRUCTS[part.construct].shape(shapes, part.attributes)
    except ShapeError as error:
        return "two shapes" in error.message
    return True


def test_dot_products_are_those_of_the_pairs() -> None:
    """Multiplying operands as matrices is what multiplying their tuples gives."""
    left = apply("access", tensor("A", (2, 3, 4)), 2)
    right = apply("access", tensor("B", (5, 4)), 1)
    random = np.random.default_rng(0)
    data = {"A": random.normal(size=(2, 3, 4)), "B": random.normal(size=(5, 4))}
    pairs = evaluate(apply("cartProd", left, right), data)
    assert pairs.shape == (2, 3, 5, 2, 4)
    direct = evaluate(dot_products(left, right), data)
    assert np.allclose(pairs.prod(axis=3).sum(axis=-1), direct)
    pair = apply("pair", left, left)
    assert np.allclose(
        evaluate(apply("compute", "dotProd", pair), data), (data["A"] ** 2).sum(axis=-1)
    )


def test_what_is_shared_is_one_part() -> None:
    rows = apply("access", tensor("A", (3, 4)), 1)
    term = dot_products(rows, rows)
    assert len(list(subterms(term))) == 4
    assert path_to(term, rows) == (0, 0)
    assert replaced(term, (0, 1), tensor("B", (3,))) != term


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "A is not given"),
        ({"A": np.ones((3, 2))}, "shape"),
        ({"A": np.ones((2, 3), dtype=complex)}, "no real numbers"),
        ({"A": np.full((2, 3), "x")}, "no real numbers"),
        ({"A": np.full((2, 3), 2**60 + 1)}, "round"),
        ({"A": np.full((2, 3), -(2**63))}, "round"),
    ],
)
def test_data_that_do_not_fit_are_refused(data: dict[str, np.ndarray], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_data({"A": (2, 3)}, data)


def test_a_tensor_has_one_shape() -> None:
    two = apply("pair", tensor("A", (2,)), tensor("A", (3,)))
    with pytest.raises(ShapeError, match="two shapes") as caught:
        shape_of(two)
    assert caught.value.path == (1,)


def test_what_is_too_large_is_refused_before_it_is_held() -> None:
    rows = apply("access", tensor("A", (60_000, 2)), 1)
    with pytest.raises(DataError, match="bytes"):
        evaluate(apply("cartProd", rows, rows), {"A": np.ones((60_000, 2))})
    with pytest.raises(DataError, match="bytes"):
        evaluate(dot_products(rows, rows), {"A": np.ones((60_000, 2))})
    with pytest.raises(DataError, match="tensor A would hold"):
        random_data(tensor("A", (10**9, 10**9)))
    assert shape_of(dot_products(rows, rows)) == AccessShape((60_000, 60_000), ())


def test_a_convolution_does_not_hold_its_pairs() -> None:
    layer = Layer(1, 64, 56, 56, 64, (3, 3), padding=(1, 1))
    data = {"activations": np.ones(layer.activations), "weights": np.ones(layer.weights)}
    assert evaluate(conv2d(layer), data)[0, 0, 5, 5] == 64 * 9
    assert evaluate(matmul(1, 1, 1), {"activations": [[2]], "weights": [[3]]}) == 6
