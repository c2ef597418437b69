"""Kernels: their results, what they refuse, and how they are measured."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from engine.contraction.kernels import lower, run
from engine.contraction.kernels.run import Data, Kernel, kernels, measure
from engine.contraction.loopnest.generate import nest_of, unfused
from engine.contraction.loopnest.interpreter import interpret
from engine.contraction.loopnest.parser import parse_nest
from engine.contraction.networks import binary, from_einsum
from engine.contraction.shipped import SHIPPED
from engine.contraction.solution import Solution
from engine.contraction.tree import ContractionTree
from engine.errors import DataError, FuseloomError, LimitError, ProgramError
from engine.program import StoredTensor, parse
from tests.contraction.drawn import data_of, drawn, small, wanted
from tests.contraction.kernels.nests import (
    C,
    D,
    check_all,
    compiled,
    one,
    smallest,
    solved,
)

EXTENTS = {"i": 4, "j": 5, "k": 3}


@pytest.mark.parametrize("name", SHIPPED)
def test_solutions_of_shipped_networks_in_c(name: str) -> None:
    tree = smallest(name)
    check_all(compiled(solved(tree, 24), tree), tree, (0.5, 0.15))


@pytest.mark.parametrize("seed", range(16))
def test_random_networks_and_formats(seed: int) -> None:
    rng = random.Random(seed)
    tree = drawn(rng, tied=seed % 2 == 0)
    levels = {}
    for access in tree.inputs:
        rank = len(access.indices)
        kinds = [(D,) * rank, (C,) * rank, (C,) * rank, (D, *(C,) * (rank - 1))]
        levels[access.tensor] = rng.choice(kinds)
    check_all(compiled(solved(tree, 4, seed), tree, levels), tree, (0.5, 0.2, 0.0, 1.0), seed)


@pytest.mark.parametrize("seed", range(100, 106))
def test_large_workspaces_are_emptied_where_they_were_touched(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lower, "CLEARED_WHOLE", 0)
    tree = drawn(random.Random(seed), (3, 4), tied=seed % 2 == 0)
    check_all(compiled(solved(tree, 4, seed), tree), tree, (0.5, 0.2, 0.0), seed)


def test_what_a_loop_makes_apart_is_added_where_its_own_operands_are() -> None:
    """Two workspaces are filled in one loop, and are read after it."""
    tree = small("ij,jk,kl,lm->im", "((A B) (C D))")
    loops = {"X1": ("k", "i", "j"), "X2": ("k", "m", "l"), "R": ("i", "m", "k")}
    nest = nest_of(Solution(tree, ("X1", "X2", "R"), loops))
    assert str(nest).count("forall(k") == 2
    data = data_of(tree, 3, 0.4)
    data["B"][:, 0], data["C"][1] = 0, 0  # X1 lacks one k, X2 another
    (kernel,) = compiled([nest], tree)
    np.testing.assert_allclose(kernel(data), wanted(tree, data), rtol=1e-9, atol=1e-12)
    arrays = {"A": data["A"], "B": data["B"].T, "C": data["C"], "D": data["D"].T}
    by_hand = interpret(nest, tree.extents, {n: np.ascontiguousarray(a) for n, a in arrays.items()})
    np.testing.assert_allclose(kernel(data), by_hand, rtol=1e-9, atol=1e-12)


def test_a_tensor_may_be_read_in_two_orders() -> None:
    tree = ContractionTree.of(parse("A: 3x3 csf\nR[i,k] = A[i,j] * A[j,k]"))
    data = {"A": np.array([[0, 2, 0], [1, 0, 3], [5, 0, 4.0]])}
    for text in (
        "forall(i, forall(j, forall(k, R(i,k) += A(i,j) * A(j,k))))",
        "forall(j, forall(k, forall(i, R(i,k) += A(j,k) * A(j,i))))",
        "forall(k, forall(i, forall(j, R(i,k) += A(k,j) * A(i,j))))",
        "forall(k, forall(j, forall(i, R(i,k) += A(j,i) * A(k,j))))",
    ):
        (kernel,) = compiled([parse_nest(text)], tree)
        np.testing.assert_allclose(kernel(data), data["A"] @ data["A"])


def test_three_operands_are_intersected() -> None:
    text = "forall(i, R() += A(i) * B(i) * C(i))"
    tree = binary(from_einsum("i,i,i->", {"i": 3000}))
    (kernel,) = compiled([parse_nest(text)], tree)
    data = {
        "A": (np.arange(0, 3000, 2)[:, None], np.ones(1500)),
        "B": (np.arange(0, 3000, 3)[:, None], np.ones(1000)),
        "C": ([[6], [7], [600], [2999], [2994]], [1.0, 10.0, 100.0, 1000.0, 10000.0]),
    }
    assert kernel(data) == 10101.0


FORMS: dict[str, Any] = {
    "dense": lambda a: a,
    "lists": lambda a: a.tolist(),
    "integers": lambda a: a.astype(int),
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_matrix,
    "coo": lambda a: (np.argwhere(a)[::-1], a[a != 0][::-1]),
    "explicit zeros": lambda a: (np.argwhere(a > -1), a.reshape(-1)),
    "columns backwards": lambda a: np.asfortranarray(a[::-1])[::-1],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [(C, C), (D, C), (D, D)], ids=["csf", "csr", "dense"])
def test_data_as_people_have_them(form: str, levels: tuple) -> None:
    text = "forall(j, forall(i, R(i) += A(j,i) * B(j)))"
    kernel = one(text, "ij,j->i", EXTENTS, {"A": levels})
    a = np.array([[0, 1, 0, 2, 0], [0] * 5, [0, 3, 4, 0, 5], [6, 0, 0, 0, 0.0]])
    b = np.array([1.0, 0, 2, 3, 4])
    np.testing.assert_array_equal(kernel({"A": FORMS[form](a), "B": b}), a @ b)


def test_a_stored_tensor_is_taken_in_any_format() -> None:
    kernel = one("forall(i, forall(j, R(i) += A(i,j) * B(j)))", "ij,j->i", EXTENTS)
    a = np.arange(20.0).reshape(4, 5) % 3
    stored = StoredTensor.from_dense(kernel.tree.program.tensor("A"), a).with_mode_order((1, 0))
    np.testing.assert_array_equal(kernel({"A": stored, "B": np.ones(5)}), a.sum(axis=1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"A": np.ones((4, 4)), "B": np.ones(5)}, "has shape 4x5, its data 4x4"),
        ({"A": np.ones((4, 5))}, "data of B are missing"),
        ({"A": np.ones((4, 5)), "B": np.ones(5), "X": 1}, "no tensor 'X' to be given"),
        ({"A": np.full((4, 5), np.nan), "B": np.ones(5)}, "value nan at .0,0. is not finite"),
        ({"A": np.full((4, 5), 1j), "B": np.ones(5)}, "complex128, which is not a real"),
        ({"A": ([[0, 1], [0, 1]], [1, 2]), "B": np.ones(5)}, "element .0,1. is given twice"),
        ({"A": ([[0, 5]], [1]), "B": np.ones(5)}, "coordinate 5 of element 0 is outside 0..4"),
        ({"A": ([[-1, 0]], [1]), "B": np.ones(5)}, "coordinate -1 of element 0"),
        ({"A": ([[0.0, 1.0]], [1]), "B": np.ones(5)}, "dtype float64, not integer"),
        ({"A": ([[0, 1, 2]], [1]), "B": np.ones(5)}, "coordinates of shape 1x2, found 1x3"),
        (
            {"A": (np.array([[0, 2**63]], dtype=np.uint64), [1]), "B": np.ones(5)},
            "which no int64 holds",
        ),
        ({"A": ([[0, 2**70]], [1]), "B": np.ones(5)}, "dtype object, not integer"),
        ({"A": [[1, 2], [3]], "B": np.ones(5)}, "the data of A are no array"),
        ({"A": "text", "B": np.ones(5)}, "which is not a real number"),
    ],
)
def test_data_that_contradict_their_declaration(given: dict[str, Any], message: str) -> None:
    kernel = one("forall(i, forall(j, R(i) += A(i,j) * B(j)))", "ij,j->i", EXTENTS)
    with pytest.raises(DataError, match=message):
        kernel(given)


def test_workspaces_over_the_limit_are_refused_before_anything_is_allocated() -> None:
    sizes = dict.fromkeys("ijkl", 2**30)
    tree = binary(from_einsum("ij,jk,kl->il", sizes))
    loops = {"X1": ("i", "j", "k"), "R": ("i", "k", "l")}
    nest = unfused(Solution(tree, ("X1", "R"), loops))
    with pytest.raises(LimitError, match="takes 9,223,372,036,854,775,808 bytes as a dense"):
        kernels([nest], tree)
    tree = binary(from_einsum("i,i->", {"i": 10}))
    (kernel,) = kernels([parse_nest("forall(i, R() += A(i) * B(i))")], tree, most_bytes=8)
    assert kernel.workspace_bytes == 0
    with pytest.raises(LimitError, match=r"R\[\] takes 8 bytes"):
        kernels([kernel.nest], tree, most_bytes=7)


def test_sparse_data_of_huge_extents_run() -> None:
    sizes = {"i": 2**31 - 1, "j": 2**31 - 1, "k": 2**31 - 1, "l": 3}
    tree = binary(from_einsum("ijk,kl->l", sizes))
    text = "forall(k, forall(i, forall(j, forall(l, R(l) += A(k,i,j) * B(k,l)))))"
    (kernel,) = compiled([parse_nest(text)], tree)
    far = 2**31 - 2
    data = {
        "A": ([[far, far, far], [far, 0, far], [1, 2, 3]], [1.0, 2.0, 4.0]),
        "B": ([[far, 1], [3, 0], [far, 2]], [10.0, 100.0, 1000.0]),
    }
    np.testing.assert_array_equal(kernel(data), [400.0, 30.0, 3000.0])


def test_the_reference_is_asked_before_a_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = one("forall(i, forall(j, R(i) += A(i,j) * B(j)))", "ij,j->i", EXTENTS)
    rival = one("forall(j, forall(i, R(i) += A(j,i) * B(j)))", "ij,j->i", EXTENTS)
    data = {"A": np.ones((4, 5)), "B": np.arange(5.0)}
    found = measure({"rows": kernel, "columns": rival}, data, runs=3)
    assert all(m.right and m.runs == 3 and m.seconds > 0 for m in found.values())
    assert found["rows"].max_rel_error == 0.0

    def off(tree: Any, elements: Any, sizes: bool = False) -> Any:
        return np.array([10, 10, 10, 10 + 1e-7])

    monkeypatch.setattr(run, "evaluate", off)
    (wrong,) = measure({"rows": kernel}, data, runs=3).values()
    assert not wrong.right
    assert wrong.max_rel_error == pytest.approx(1e-8)
    assert (wrong.seconds, wrong.runs) == (None, 0)


def test_errors_are_relative_to_what_is_added() -> None:
    tree = binary(from_einsum("i,i->", {"i": 3}))
    data = Data(tree, {"A": [1e16, 1.0, -1e16], "B": np.ones(3)})
    assert data.error(np.array(0.0)) < 1e-15
    assert data.error(np.array(1e9)) > 1e-9
    empty = Data(tree, {"A": np.zeros(3), "B": np.ones(3)})
    assert empty.error(np.array(0.0)) == 0.0
    assert empty.error(np.array(1e-300)) == float("inf")
    assert empty.error(np.array(np.nan)) == float("inf")


def test_measuring_ends_in_time() -> None:
    kernel = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 3})
    data = {"A": np.ones(3), "B": np.ones(3)}
    assert measure({"one": kernel}, data, runs=1000, seconds=0.0)["one"].runs == 1


def test_what_cannot_be_measured() -> None:
    first = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 3})
    second = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 4})
    data = {"A": np.ones(3), "B": np.ones(3)}
    cases: list[tuple[dict[str, Kernel], int]] = [
        ({}, 3),
        ({"a": first}, 0),
        ({"a": first, "b": second}, 3),
    ]
    for named, runs in cases:
        with pytest.raises(ProgramError):
            measure(named, data, runs=runs)
    with pytest.raises(FuseloomError, match="no nest to compile"):
        kernels([], first.tree)
