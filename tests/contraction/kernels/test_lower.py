"""Lowering: which levels a loop runs through."""

from __future__ import annotations

import pytest

from fuseloom.codegen.imperative import Block, Clear, For, If, Seek, While
from fuseloom.contraction.kernels import loops as structure
from fuseloom.contraction.kernels import lower as lowering
from fuseloom.contraction.kernels.lower import lower
from fuseloom.contraction.kernels.references import bind
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.errors import ProgramError
from tests.contraction.drawn import small
from tests.contraction.kernels.nests import C, D, Levels

SIZES = dict.fromkeys("ijkl", 4)


def loops(block: Block) -> list[object]:
    """The loops of a block, each with those within it: ``dense``, ``levels`` or ``both``."""
    found: list[object] = []
    for command in block:
        match command:
            case For(first=first, body=body):
                kind = "levels" if "Var" in repr(first) else "dense"
                found.append((kind, loops(body)))
            case While(_, body):
                assert any(isinstance(c, If) and "Seek" in repr(c) for c in body)
                found.append(("both", loops(body)))
            case If(_, then, otherwise):
                found += loops(then) + loops(otherwise)
    return found


def lowered(text: str, einsum: str, levels: Levels | None = None) -> list[object]:
    tree = binary(from_einsum(einsum, SIZES))
    return loops(lower(bind(parse_nest(text), tree, levels)).routine.body)


PRODUCT = "forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))"


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({}, [("levels", [("both", [("levels", [])])])]),
        ({"B": (D, C)}, [("levels", [("levels", [("levels", [])])])]),
        ({"A": (D, C)}, [("dense", [("both", [("levels", [])])])]),
        ({"B": (D, D)}, [("levels", [("levels", [("dense", [])])])]),
        ({"A": (D, D), "B": (D, D)}, [("dense", [("dense", [("dense", [])])])]),
    ],
)
def test_a_loop_runs_through_the_intersection_of_compressed_levels(
    levels: Levels, expected: list[object]
) -> None:
    assert lowered(PRODUCT, "ij,jk->ik", levels) == expected


def test_a_consumer_runs_where_its_producer_has_something() -> None:
    """``X1`` is empty wherever A has no j: the loop over j need not go there."""
    text = (
        "forall(i, forall(j, where(forall(l, R(i,l) += X1() * C(j,l)), "
        "forall(k, X1() += A(i,j,k) * B(k)))))"
    )
    found = lowered(text, "ijk,k,jl->il", {"C": (D, D)})
    assert found == [("levels", [("levels", [("both", []), ("dense", [])])])]


def test_a_loop_that_makes_two_things_is_split_by_their_levels() -> None:
    tree = small("ij,jk,kl,lm->im", "((A B) (C D))")
    text = (
        "where(forall(i, forall(m, forall(k, R(i,m) += X1(k,i) * X2(k,m)))), forall(k, "
        "where(forall(m, forall(l, X2(k,m) += C(k,l) * D(m,l))), "
        "forall(i, forall(j, X1(k,i) += A(i,j) * B(k,j))))))"
    )
    found = loops(lower(bind(parse_nest(text), tree)).routine.body)
    first = ("levels", [("levels", [("both", [])])])
    dense = ("dense", [("dense", [("dense", [])])])
    assert found == [first, first, dense]
    both_dense = {"B": (D, D), "C": (D, D)}
    found = loops(lower(bind(parse_nest(text), tree, both_dense)).routine.body)
    inner = ("levels", [("levels", [])])
    assert found == [("dense", [inner, inner]), dense]


@pytest.mark.parametrize(
    ("whole", "levels", "touched"),
    [(4, {}, False), (3, {}, True), (3, {"B": (D, D)}, False), (0, {"A": (D, D)}, True)],
)
def test_of_a_large_workspace_what_was_touched_is_emptied(
    whole: int, levels: Levels, touched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Touched elements are cleared if sparse loops wrote them; four elements, as a whole."""
    monkeypatch.setattr(structure, "CLEARED_WHOLE", whole)
    text = (
        "forall(i, where(forall(k, R(i,k) += X1(k) * C(i,k)), "
        "forall(j, forall(k, X1(k) += A(i,j) * B(j,k)))))"
    )
    tree = binary(from_einsum("ij,jk,ik->ik", SIZES))
    routine = lower(bind(parse_nest(text), tree, levels)).routine
    assert ("Put" in repr(routine.body)) == touched
    assert isinstance(routine.body[0], Clear) == touched


def test_what_becomes_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "MOST_COMMANDS", 3)
    with pytest.raises(ProgramError, match="more than 3 loops"):
        lowered(PRODUCT, "ij,jk->ik")


def test_positions_are_sought_from_where_they_are() -> None:
    tree = binary(from_einsum("i,i->", SIZES))
    body = lower(bind(parse_nest("forall(i, R() += A(i) * B(i))"), tree)).routine.body
    (merge,) = (c for c in body if isinstance(c, While))
    (test,) = (c for c in merge.body if isinstance(c, If))
    assert all(isinstance(c.value, Seek) and c.value.first.name == c.name for c in test.otherwise)
