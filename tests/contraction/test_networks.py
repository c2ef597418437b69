"""Einsum strings, trees by hand and by optimisers."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.contraction.networks import (
    binary,
    from_einsum,
    optimised,
    read_extents,
    tree_path,
)
from fuseloom.errors import ProgramError
from tests.contraction.drawn import data_of, wanted

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
        ("ij,jk", "does not say what its result has"),
        ("ii,ij->j", "has the index i twice"),
        ("ij,jk->iz", "index z is in no operand"),
        ("ij,...->i", "is no list of indices"),
        ("ij,->i", "an operand has no index"),
        ("ij,jq->iq", "no size is given for q"),
        (",".join(["ij"] * 30) + "->ij", "at most 24 operands"),
    ],
)
def test_strings_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        from_einsum(text, SIZES)


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
