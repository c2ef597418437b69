"""The iteration of loops, and the clearing of workspaces."""

from __future__ import annotations

import pytest

from fuseloom.contraction.kernels import loops
from fuseloom.contraction.kernels.references import bind
from fuseloom.contraction.loopnest.ir import Forall, Where
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.program import LevelFormat

TREE = binary(from_einsum("ij,jk,kl->il", {"i": 3, "j": 4, "k": 5, "l": 6}), "((A B) C)")
D, C = LevelFormat.DENSE, LevelFormat.COMPRESSED
ROWS = "forall(i, where(forall(k, forall(l, R(i,l) += X1(k) * C(k,l))), forall(j, forall(k, \
X1(k) += A(i,j) * B(j,k)))))"


@pytest.mark.parametrize(
    ("levels", "wanted"),
    [
        ({}, {"i": 1, "j": 2, "k": 1, "l": 1}),
        ({"B": (D, C)}, {"i": 1, "j": 1, "k": 1, "l": 1}),
        ({"A": (D, C), "B": (D, D)}, {"i": 0, "j": 1, "k": 0, "l": 1}),
    ],
)
def test_compressed_levels_of_each_loop(
    levels: dict[str, tuple[LevelFormat, ...]], wanted: dict[str, int]
) -> None:
    bound = bind(parse_nest(ROWS), TREE, levels)
    nest = bound.nest
    assert isinstance(nest, Forall)
    assert isinstance(nest.body, Where)
    found = {}
    part = nest.body.producer
    for loop in (nest, part):
        while isinstance(loop, Forall):
            ((needed, _),) = loops.split(bound, loop.index, loop.body)
            found[loop.index] = len(needed)
            loop = loop.body
    part = nest.body.consumer
    assert isinstance(part, Forall)
    assert isinstance(part.body, Forall)
    ((needed, _),) = loops.split(bound, "l", part.body.body)
    found["l"] = len(needed)
    assert found == wanted


@pytest.mark.parametrize(("whole", "few"), [(5, False), (4, True)])
def test_a_large_workspace_that_few_elements_fill(
    whole: int, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "CLEARED_WHOLE", whole)
    bound = bind(parse_nest(ROWS), TREE)
    nest = bound.nest
    assert isinstance(nest, Forall)
    assert isinstance(nest.body, Where)
    assert loops.touches_few(bound, "X1", nest.body.producer) is few
