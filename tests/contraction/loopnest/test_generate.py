"""Algorithm 1: the paper's example word for word, and every solution right."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.contraction.loopnest.generate import layouts, nary, nest_of, unfused
from fuseloom.contraction.loopnest.interpreter import interpret
from fuseloom.contraction.loopnest.ir import Nest, verify
from fuseloom.contraction.shipped import SHIPPED, shipped
from fuseloom.contraction.solution import Solution
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from tests.contraction.drawn import Array, data_of, drawn, small, wanted

SECTION_4_1 = (
    "forall(r, forall(j, where(forall(k, forall(i, R(j,k,i) += Y(k,i) * D(r,j,k))), "
    "where(forall(q, forall(k, forall(i, Y(k,i) += X(q,i) * C(r,q,k)))), "
    "forall(p, forall(q, forall(i, X(q,i) += A(p,q,i) * B(r,j,p))))))))"
)


def computed(nest: Nest, tree: ContractionTree, data: dict[str, Array]) -> Array:
    """A nest's result, dimensions as the tree has them."""
    verify(nest)
    levels = layouts(nest, tree)
    given = {name: np.transpose(array, levels[name]) for name, array in data.items()}
    result = interpret(nest, tree.extents, given)
    return np.transpose(result, np.argsort(levels[tree.result.tensor]))


def test_the_notation_of_the_papers_section_4() -> None:
    loops = {"X1": tuple("rjpqi"), "X2": tuple("rjqki"), "R": tuple("rjki")}
    nest = nest_of(Solution(shipped("running example"), ("X1", "X2", "R"), loops))
    assert str(nest).replace("X1", "X").replace("X2", "Y") == SECTION_4_1


@pytest.mark.parametrize("name", SHIPPED)
def test_solutions_of_what_is_shipped(name: str) -> None:
    network = SHIPPED[name]
    tree = small(network.einsum, network.tree)
    data = data_of(tree)
    want = wanted(tree, data)
    question = Question(tree)
    *_, least = question.least()
    solutions, _ = question.all(least.bounds, most=12)
    for solution in solutions:
        for nest in (nest_of(solution), unfused(solution), nary(solution)):
            np.testing.assert_allclose(computed(nest, tree, data), want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_solutions_of_random_trees(seed: int) -> None:
    tree = drawn(random.Random(seed))
    data = data_of(tree, seed)
    want = wanted(tree, data)
    question = Question(tree)
    *_, least = question.least()
    for solution in question.all(least.bounds, most=4)[0]:
        for nest in (nest_of(solution), unfused(solution), nary(solution)):
            np.testing.assert_allclose(computed(nest, tree, data), want, rtol=1e-9, atol=1e-12)
