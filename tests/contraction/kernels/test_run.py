"""Kernels: their results, what they refuse, and how they are measured."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.contraction.kernels import data as data_of_networks
from fuseloom.contraction.kernels import loops as structure
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import NestKernel, kernels, measure
from fuseloom.contraction.loopnest.generate import nest_of, unfused
from fuseloom.contraction.loopnest.interpreter import interpret
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.ranking import ranked
from fuseloom.contraction.shipped import SHIPPED
from fuseloom.contraction.solution import Solution
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import FuseloomError, LimitError, ProgramError
from fuseloom.program import parse
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


@pytest.mark.parametrize("most", [10, pytest.param(24, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("name", SHIPPED)
def test_solutions_of_shipped_networks_in_c(name: str, most: int) -> None:
    tree = smallest(name)
    check_all(compiled(solved(tree, most), tree), tree, (0.5, 0.15))


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
    monkeypatch.setattr(structure, "CLEARED_WHOLE", 0)
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

    monkeypatch.setattr(data_of_networks, "evaluate", off)
    (wrong,) = measure({"rows": kernel}, data, runs=3).values()
    assert not wrong.right
    assert wrong.max_rel_error == pytest.approx(1e-8)
    assert (wrong.seconds, wrong.runs) == (None, 0)


def test_measuring_ends_in_time() -> None:
    kernel = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 3})
    data = {"A": np.ones(3), "B": np.ones(3)}
    assert measure({"one": kernel}, data, runs=1000, seconds=0.0)["one"].runs == 1


def test_what_cannot_be_measured() -> None:
    first = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 3})
    second = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 4})
    data = {"A": np.ones(3), "B": np.ones(3)}
    cases: list[tuple[dict[str, NestKernel], int]] = [
        ({}, 3),
        ({"a": first}, 0),
        ({"a": first, "b": second}, 3),
    ]
    for named, runs in cases:
        with pytest.raises(ProgramError):
            measure(named, data, runs=runs)
    with pytest.raises(FuseloomError, match="no nest to compile"):
        kernels([], first.tree)


def test_a_result_too_large_to_be_dense_is_listed() -> None:
    sizes = {"i": 2**31 - 1, "j": 3, "k": 2**31 - 1}
    tree = binary(from_einsum("ij,jk->ik", sizes))
    nest = parse_nest("forall(i, forall(k, forall(j, R(i,k) += A(i,j) * B(k,j))))")
    with pytest.raises(LimitError, match="listed=True holds the elements alone"):
        kernels([nest], tree)
    (kernel,) = kernels([nest], tree, listed=True)
    far = 2**31 - 2
    data = {"A": ([[far, 1], [0, 2]], [2.0, 3.0]), "B": ([[1, far], [1, 5], [2, 0]], [5.0, 7, 1])}
    coords, values = kernel.run_listed(data)
    assert coords.tolist() == [[0, 0], [far, 5], [far, far]]
    assert values.tolist() == [3.0, 14.0, 10.0]
    for run in (kernel, lambda given: measure({"one": kernel}, given)):
        with pytest.raises(LimitError, match="take its elements, kernel"):
            run(data)
    with pytest.raises(LimitError, match="more positions than an int64 counts"):
        kernels([nest], binary(from_einsum("ij,jkl->ikl", {**sizes, "l": 9})), listed=True)


def test_a_dense_result_is_no_list() -> None:
    kernel = one("forall(i, R() += A(i) * B(i))", "i,i->", {"i": 3})
    with pytest.raises(ProgramError, match="makes a dense result"):
        kernel.run_listed({"A": np.ones(3), "B": np.ones(3)})


@pytest.mark.parametrize(
    "text", ["aab,bc->ac", "iijj,jk->ik", "ii->", ",ij,jk->ik", ",", "...ij,jk"]
)
def test_diagonals_numbers_and_ellipses(text: str) -> None:
    sizes = {**dict.fromkeys("abcijk", 3), "...": (2,)}
    tree = binary(from_einsum(text, sizes))
    for density in (1.0, 0.4):
        given = data_of(tree, density=density)
        if text.startswith(",") and density < 1:
            given["A"] = np.zeros(())
        data = Data(tree, given)
        found = ranked(Question(tree), data.held)
        made = kernels([c.nest for c in found.candidates[:4]], tree, levels=data.levels)
        want = np.einsum(text, *given.values())
        for kernel in made:
            np.testing.assert_allclose(kernel.run(data), want, atol=1e-9)


def test_short_runs_have_no_thread_and_larger_ones_have(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def counted(work: Callable[[], None]) -> None:
        started.append(1)
        work()

    monkeypatch.setattr("fuseloom.contraction.kernels.run.interruptible", counted)
    tree = binary(from_einsum("ij,jk->ik", {"i": 8, "j": 8, "k": 8}))
    nest = parse_nest("forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))")
    (kernel,) = kernels([nest], tree)
    few = {"A": np.eye(8), "B": np.ones((8, 8))}
    many = {"A": np.ones((8, 8)), "B": np.ones((8, 8))}
    monkeypatch.setattr("fuseloom.contraction.kernels.run.SHORT", 60.0)
    for data, threads in ((few, 1), (few, 1), (many, 2), (many, 2), (few, 2)):
        np.testing.assert_array_equal(kernel(data), data["A"] @ data["B"])
        assert len(started) == threads
    monkeypatch.setattr("fuseloom.contraction.kernels.run.SHORT", 0.0)
    (kernel,) = kernels([nest], tree)
    kernel(few)
    kernel(few)
    assert len(started) == 4
