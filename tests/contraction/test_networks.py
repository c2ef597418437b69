"""Einsum strings, trees by hand and by optimisers."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest
from opt_einsum import contract, get_symbol

import fuseloom as fl
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.networks import LETTERS, from_einsum, read_extents
from fuseloom.contraction.paths import binary, optimised, tree_path
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import DataError, ProgramError
from tests.contraction.drawn import data_of, wanted
from tests.tiers import counts

SIZES = {"i": 2, "j": 3, "k": 4, "l": 2, "p": 3}
CHAIN = "ij,jk,kl,lp->ip"


@pytest.mark.parametrize(
    "path", [None, "(((A B) C) D)", "((A B) (C D))", "(A ((B C) D))", [(1, 2), (0, 2), (0, 1)]]
)
def test_every_tree_computes_the_product(path: object) -> None:
    tree = binary(from_einsum(CHAIN, SIZES), path)  # type: ignore[arg-type]
    data = data_of(tree)
    every = np.einsum(CHAIN, *(data[name] for name in "ABCD"))
    np.testing.assert_allclose(wanted(tree, data), every, atol=1e-12)


@pytest.mark.parametrize("by", ["opt_einsum", "cotengra"])
@pytest.mark.parametrize("einsum", [CHAIN, "ij,ik,il->", "ijk,kp,jp->ip", "ij,kl->ijkl", "ij->j"])
def test_trees_of_optimisers(by: str, einsum: str) -> None:
    tree = optimised(from_einsum(einsum, SIZES), by)
    data = data_of(tree)
    names = sorted(data)
    want = np.einsum(einsum, *(data[name] for name in names))
    np.testing.assert_allclose(wanted(tree, data), want, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ij,jk->ii", "result ii has the index i twice"),
        ("ij,jk->iz", "index z is in no operand"),
        ("ij,...->i", "not in its result"),
        ("ij,..k->i", "is no list of indices"),
        ("i...j...,jk", "is no list of indices"),
        ("ij->jk->i", "is no list of indices"),
        ("i1,1j->ij", "is no list of indices"),
        ("...ij,jk", "no size is given for ..."),
        ("ij,jq->iq", "no size is given for q"),
        (",".join(["ij"] * 30) + "->ij", "at most 24 operands"),
    ],
)
def test_strings_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(message)) as caught:
        from_einsum(text, SIZES)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ([(0, 0), (0, 1), (0, 1)], "names no two"),
        ([(0, 1), (0, 7), (0, 1)], "names no two"),
        ([(0, 1)], "leaves C, D, X1 apart"),
        ("((A B) C)", "does not cover D"),
        ("(((A B) A) D)", "has A twice"),
        ("(A B C D)", "no binary tree"),
        ("((A B) (C E))", "'E', which is no operand"),
        ("((A B) (C D)", "is no one binary tree"),
        ("", "does not cover A, B, C, D"),
    ],
)
def test_paths_that_are_refused(path: object, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        binary(from_einsum(CHAIN, SIZES), path)  # type: ignore[arg-type]


def test_a_path_is_for_one_product() -> None:
    tree = binary(from_einsum(CHAIN, SIZES))
    with pytest.raises(ProgramError, match="several statements"):
        binary(tree.program, "(A B)")
    total = fl.parse("A: 3x3 csr\nB: 3x3 csr\nT[i,j] = A[i,j] + B[i,j]")
    with pytest.raises(ProgramError, match="this program is one of add"):
        binary(total, "(A B)")


def test_names_of_operands_and_of_intermediates_do_not_meet() -> None:
    tree = binary(from_einsum("ij,jk,kl->il", SIZES, ["X1", "X2", "Y"]), "((X1 X2) Y)")
    assert [c.name for c in tree.contractions] == ["X1_", "R"]


def test_paths_of_text() -> None:
    assert tree_path("(A (B C))", "ABC") == [(1, 2), (0, 1)]


@pytest.mark.parametrize("text", ["i=0", "i=-1", "i=x", "i", "i=99999999999"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ProgramError, match="is no size"):
        read_extents(text)


def test_two_sizes_of_an_index() -> None:
    with pytest.raises(ProgramError, match="index i has two sizes"):
        read_extents("i=2,i=3")


def test_an_optimiser_that_is_not_known() -> None:
    with pytest.raises(ProgramError, match="no optimiser is called 'magic'"):
        optimised(from_einsum(CHAIN, SIZES), "magic")


# What NumPy's einsum takes

GIVEN: dict[str, list[tuple[int, ...]]] = {
    "ab,bc": [(4, 2), (2, 3)],
    "ca,ab": [(4, 2), (2, 3)],  # the result in order of letters: bc
    "ba": [(2, 3)],
    "ii": [(3, 3)],
    "ii->i": [(3, 3)],
    "aab,bc->ac": [(3, 3, 4), (4, 2)],
    "aba,bc->ac": [(3, 4, 3), (4, 2)],
    "iii->i": [(3, 3, 3)],
    "iijj->ij": [(3, 3, 2, 2)],
    "iijj,jk": [(3, 3, 2, 2), (2, 3)],
    "ijij,ij->": [(2, 3, 2, 3), (2, 3)],
    "ii,jj,ij->": [(3, 3), (2, 2), (3, 2)],
    ",ij->ji": [(), (2, 3)],
    "ij,,jk->ik": [(2, 3), (), (3, 2)],
    ",": [(), ()],
    "i,->i": [(3,), ()],
    "...ij,...jk->...ik": [(2, 3, 4), (2, 4, 2)],
    "...ij,jk": [(2, 2, 3, 4), (4, 2)],
    "...ii->...i": [(2, 3, 3)],
    "b...,...->...b": [(2, 3, 4), (3, 4)],
    "...,...": [(2, 3), (3,)],
    "...,...->...": [(2, 1, 3), (4, 1)],
    "i...->...": [(3, 2)],
    "...": [(2, 3)],
    "ij,jk->ik": [(2, 1), (3, 4)],  # a dimension of size 1 is broadcast
    " i j , j k -> i k ": [(2, 3), (3, 2)],
    "αβ,βγ->αγ": [(2, 3), (3, 2)],
}


def computed(tree: ContractionTree, arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The result by the tree, by the kernels' reference, and by the dataflow."""
    data = Data(tree, arrays)
    run = fl.simulate(fl.compile(tree.program), arrays)
    return [wanted(tree, arrays), data.wanted, next(iter(run.results.values())).to_dense()]


def check(text: str, shapes: list[tuple[int, ...]], seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    arrays = {
        name: np.asarray(rng.integers(-3, 4, shape) * 1.0)
        for name, shape in zip(LETTERS, shapes, strict=False)
    }
    plain = text.translate(str.maketrans("αβγ", "abc"))
    want = np.einsum(plain, *arrays.values())
    tree = binary(from_einsum(text, shapes=shapes))
    for got in computed(tree, arrays):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("text", GIVEN)
def test_strings_mean_what_they_mean_to_numpy(text: str) -> None:
    check(text, GIVEN[text])


@counts(small=15, deep=120, fuzz=300)
def test_random_strings_mean_what_they_mean_to_numpy(count: int) -> None:
    rng = random.Random(5)
    sizes = {x: rng.randint(1, 3) for x in "abcde"}
    for seed in range(count):
        ranks = [rng.randint(0, 3) for _ in range(rng.randint(1, 3))]
        words = ["".join(rng.choices("abcde", k=rank)) for rank in ranks]
        rest = {n: rng.randint(0, 1) for n in range(len(words))} if rng.random() < 0.4 else {}
        every = sorted({*"".join(words)})
        result = rng.sample(every, rng.randint(0, min(2, len(every))))
        shown = [w + "..." * (n in rest) for n, w in enumerate(words)]
        arrow = rng.random() < 0.6
        text = ",".join(shown) + (f"->{'...' * bool(rest)}{''.join(result)}" if arrow else "")
        left = Counter("".join(words))
        if not arrow and sum(n == 1 for n in left.values()) > 3:
            continue
        shapes = [(*(sizes[x] for x in w), *([2] * rest.get(n, 0))) for n, w in enumerate(words)]
        check(text, shapes, seed)


def test_more_indices_than_there_are_letters() -> None:
    """In a chain of vectors' outer products, with characters as opt_einsum gives them."""
    symbols = [get_symbol(n) for n in range(70)]
    words = ["".join(symbols[n : n + 4]) for n in range(0, 66, 3)]
    text = f"{','.join(words)}->{symbols[0]}{symbols[66]}"
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, (2, 1, 1, 2)) * 1.0 for _ in words]
    network = from_einsum(text, shapes=[a.shape for a in arrays])
    want = contract(text, *arrays)
    data = dict(zip([a.tensor for a in network.live[-1].operands], arrays, strict=True))
    for tree in (binary(network), optimised(network)):
        np.testing.assert_allclose(Data(tree, data).wanted, want)


def test_extents_of_an_ellipsis() -> None:
    assert read_extents("...=2x3,k=4") == {"...": (2, 3), "k": 4}
    program = from_einsum("...k,k->...", {"...": (2, 3), "k": 4})
    assert program.tensor("R").shape == (2, 3)
    with pytest.raises(ProgramError, match="no size of an index"):
        read_extents("k=2x3")


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        ("ij,jk", [(2, 3)], "2 operands and 1 shape"),
        ("ij,jk", [(2, 3), (4, 2)], "index j has the sizes 3 and 4"),
        ("ii->i", [(2, 3)], "index i has the sizes 2 and 3"),
        ("ij", [(2, 3, 4)], "A has the indices i,j, and the shape (2, 3, 4)"),
        ("ijk...", [(2, 3)], "A has the indices i,j,k,..."),
        ("...,...", [(2, 3), (2,)], "has the sizes 3 and 2"),
    ],
)
def test_shapes_that_do_not_fit(text: str, shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(message)) as caught:
        from_einsum(text, shapes=shapes)
    assert caught.value.hint


def test_a_tree_names_the_operand_of_which_a_diagonal_is_taken() -> None:
    network = from_einsum("aab,bc,cd->ad", dict.fromkeys("abcd", 2))
    tree = binary(network, "(A (B C))")
    assert [str(c) for c in tree.contractions][1:] == [
        "X1[b,d] = B[b,c] * C[c,d]",
        "R[a,d] = A_diagonal[a,b] * X1[b,d]",
    ]
    assert tree.given == ("A", "B", "C")
    with pytest.raises(DataError, match="no tensor 'A_at'"):
        Data(tree, {"A_at": np.eye(2)})
