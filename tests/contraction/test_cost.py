"""Expected work: exact where nothing is left to chance, close where coordinates are."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.contraction.cost import Weights, work
from fuseloom.contraction.loopnest.generate import nary, nest_of, unfused
from fuseloom.contraction.loopnest.interpreter import count_steps
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.occupancy import occupancies
from fuseloom.contraction.paths import binary
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.solve import Question
from tests.contraction.drawn import data_of, drawn


@pytest.mark.parametrize("seed", range(12))
def test_products_of_full_tensors_are_exact(seed: int) -> None:
    tree = drawn(random.Random(seed))
    held = occupancies(data_of(tree, density=2.0))
    for solution in Question(tree).all(3, most=3)[0]:
        for nest in (nest_of(solution), unfused(solution), nary(solution)):
            assert work(nest, tree, held).products == count_steps(nest, tree.extents)


def test_one_sparse_tensor_is_exact() -> None:
    tree = shipped("MTTKRP")
    rng = np.random.default_rng(3)
    data = data_of(tree, density=2.0)
    data["A"] = data["A"] * (rng.random(data["A"].shape) < 0.01)
    held = occupancies(data)
    nest = parse_nest(
        "forall(i, forall(j, forall(r, where(R(i,r) += X1() * C(j,r), "
        "forall(k, X1() += A(i,j,k) * B(k,r))))))"
    )
    rows, elements, rank = held["A"].count({0, 1}), held["A"].count({0, 1, 2}), tree.extents["r"]
    found = work(nest, tree, held)
    assert found.products == pytest.approx(rank * (rows + elements))
    assert found.cleared == pytest.approx(rows * rank)
    assert found.workspace == 1


def test_independent_tensors_are_close() -> None:
    sizes = {"i": 40, "j": 50, "k": 60}
    tree = binary(from_einsum("ij,jk->ik", sizes))
    rng = np.random.default_rng(11)
    a, b = (rng.random(shape) < 0.1 for shape in ((40, 50), (50, 60)))
    held = occupancies({"A": a.astype(float), "B": b.astype(float)})
    nest = parse_nest("forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))")
    exact = (a.astype(int) @ b.astype(int)).sum()
    assert work(nest, tree, held).products == pytest.approx(exact, rel=0.1)


def test_weights_only_change_the_time() -> None:
    tree = shipped("TTMc")
    held = occupancies(data_of(tree))
    nest = nest_of(Question(tree).all(0, most=1)[0][0])
    one, other = (
        work(nest, tree, held, Weights(product=p, scatter=p, add_up=p)) for p in (0.5, 5.0)
    )
    assert one.products == other.products
    assert one.nanoseconds < other.nanoseconds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))", "product"),
        ("forall(j, forall(k, forall(i, R(k,i) += A(j,i) * B(j,k))))", "scatter"),
        ("forall(i, forall(k, forall(j, R(i,k) += A(i,j) * B(k,j))))", "add_up"),
    ],
)
def test_the_innermost_loop_tells_the_kind_of_product(text: str, kind: str) -> None:
    """A has elements here and there, B all."""
    tree = binary(from_einsum("ij,jk->ik", {"i": 30, "j": 30, "k": 30}))
    held = occupancies({"A": np.eye(30), "B": np.ones((30, 30))})
    amounts = work(parse_nest(text), tree, held).amounts
    kinds = {k: getattr(amounts, k) for k in ("product", "scatter", "add_up")}
    assert kinds == {**dict.fromkeys(kinds, 0.0), kind: 900.0}


def test_what_no_near_cache_holds_costs_lines() -> None:
    """The result's rows are used again after all others where j is outermost."""
    tree = binary(from_einsum("ij,jk->ik", {"i": 2000, "j": 20, "k": 200}))
    held = occupancies({"A": np.ones((2000, 20)), "B": np.ones((20, 200))})
    inside, outside = (
        work(parse_nest(text), tree, held).amounts.far
        for text in (
            "forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))",
            "forall(j, forall(i, forall(k, R(i,k) += A(j,i) * B(j,k))))",
        )
    )
    assert outside >= 2000 * 20 * 200 / 8 > 10 * inside
