"""Nests against their network: what each reference reads, and what is refused."""

from __future__ import annotations

import pytest

from fuseloom.contraction.kernels.references import bind, level_formats
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import LevelFormat, parse
from tests.contraction.kernels.nests import C, D

SIZES = {"i": 3, "j": 3, "k": 3}


def test_a_transposed_use_of_a_tensor_is_a_layout_of_its_own() -> None:
    tree = ContractionTree.of(parse("A: 3x3 csf\nR[i,j] = A[i,j] * A[j,i]"))
    nest = parse_nest("forall(i, forall(j, R(i,j) += A(i,j) * A(i,j)))")
    orders = [layout.format.mode_order for layout in bind(nest, tree).stored]
    assert sorted(orders) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("declared", "levels"),
    [
        ("dense", (D, D)),
        ("csr", (D, C)),
        ("csc", (D, C)),
        ("csf", (C, C)),
        ("coo", (C, C)),
        ("[compressed, dense]", (C, C)),
    ],
)
def test_levels_follow_the_declaration(declared: str, levels: tuple[LevelFormat, ...]) -> None:
    text = f"A: 3x3 {declared}\nx: 3 dense\ny[i] = A[i,j] * x[j]"
    assert level_formats(ContractionTree.of(parse(text)))["A"] == levels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("forall(i, forall(j, forall(k, Q(i,k) += A(i,j) * B(j,k))))", "the nest makes Q"),
        ("forall(i, forall(j, forall(k, R(i,k) += A(i,j) * A(j,k))))", "no such use of"),
        ("forall(i, forall(j, R(i,j) += A(i,j)))", "leaves out B"),
        ("forall(i, forall(j, forall(k, R(i) += A(i,j) * B(j,k))))", "result is R"),
        ("forall(j, forall(i, forall(k, R(i,k) += A(i,j) * B(j,k))))", "in the order i,j"),
        ("forall(i, R(i,k) += A(i,j) * B(j,k))", "stands in no loop"),
    ],
)
def test_nests_that_do_not_compute_the_network(text: str, message: str) -> None:
    tree = binary(from_einsum("ij,jk->ik", SIZES))
    with pytest.raises(ProgramError, match=message):
        bind(parse_nest(text) if "stands" not in message else _unverified(text), tree)


def _unverified(text: str):  # what the parser itself refuses
    from fuseloom.contraction.loopnest.ir import Assign, Forall
    from fuseloom.program import Access

    out, left, right = Access("R", ("i", "k")), Access("A", ("i", "j")), Access("B", ("j", "k"))
    return Forall("i", Assign(out, (left, right)))


def test_what_is_made_is_read_once_and_by_its_consumer() -> None:
    tree = binary(from_einsum("ij,jk,ik->ik", SIZES))
    made = "forall(i, forall(k, forall(j, X1(i,k) += A(i,j) * B(k,j))))"
    for text in ("R(i,k) += X1(i,k) * X1(i,k) * C(i,k)", "R(i,k) += X1(i,k)"):
        nest = parse_nest(f"where(forall(i, forall(k, {text})), {made})")
        with pytest.raises(ProgramError, match=r"no such use of|leaves out C"):
            bind(nest, tree)


def test_a_dense_tensor_is_read_in_any_order() -> None:
    tree = binary(from_einsum("ij,jk->ik", SIZES))
    nest = parse_nest("forall(j, forall(i, forall(k, R(i,k) += A(i,j) * B(j,k))))")
    assert bind(nest, tree, {"A": (D, D)}).layouts["R", 0].format.all_dense


@pytest.mark.parametrize("levels", [(C,), (C, D), (D, LevelFormat.SINGLETON), ()])
def test_levels_that_kernels_do_not_read(levels: tuple[LevelFormat, ...]) -> None:
    tree = binary(from_einsum("ij,jk->ik", SIZES))
    nest = parse_nest("forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))")
    with pytest.raises(ProgramError, match="a kernel cannot read A"):
        bind(nest, tree, {"A": levels})
