"""Kernels on arrays: what is called, that it is right, why, and what is left."""

from __future__ import annotations

import pytest

from benchmarks.access_targets import least_block_cycles
from fuseloom.access.hardware import Call, SystolicArray
from fuseloom.access.kernels import Convolution, batched_matmul, conv2d, dense, matmul, pool2d
from fuseloom.access.mapping import Mapped, map_term
from fuseloom.access.rules.sets import rules_of
from fuseloom.access.saturation.explain import replay
from fuseloom.access.saturation.saturate import SaturationLimits
from fuseloom.access.terms import Term
from fuseloom.access.text import read_term
from tests.access.test_kernels import LAYERS


@pytest.mark.parametrize(
    ("term", "array", "calls", "nodes"),
    [
        (matmul(32, 32, 32), (32, 32), [(32, 32, 32)], 20),
        (conv2d(Convolution(1, 3, 32, 32, 8, (3, 3))), (64, 64), [(27, 8, 900)], 40),
        (matmul(32, 32, 32), (16, 16), [(16, 16, 32)] * 4, 300),
        (matmul(64, 64, 64), (16, 16), [(16, 16, 64)] * 16, 3_000),
        (matmul(128, 128, 128), (16, 16), [(16, 16, 128)] * 64, 40_000),
        (matmul(512, 512, 512), (64, 64), [(64, 64, 512)] * 64, 40_000),
    ],
)
def test_the_targets(
    term: Term, array: tuple[int, int], calls: list[tuple[int, int, int]], nodes: int
) -> None:
    mapped = map_term(term, SystolicArray(*array))
    assert [(c.rows, c.columns, c.batch) for c in mapped.calls] == calls
    assert mapped.cycles == sum(2 * r + c + b - 2 for r, c, b in calls)
    assert mapped.saturation.classes.count <= nodes
    assert mapped.max_rel_error() < 1e-12
    assert not mapped.unmapped
    assert mapped.saturation.stopped.value == "saturated"
    _replays(mapped)


def _replays(mapped: Mapped) -> None:
    saturation = mapped.saturation
    steps, start = mapped.explanation, mapped.before
    assert replay(steps, start, saturation.rules, saturation.parameters) == mapped.after


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("array", [(4, 4), (5, 3), (64, 64), (1, 1)])
def test_convolutions_of_every_kind_are_mapped_and_explained(
    layer: Convolution, array: tuple[int, int]
) -> None:
    mapped = map_term(conv2d(layer), SystolicArray(*array))
    assert not mapped.unmapped
    assert mapped.max_rel_error() < 1e-12
    assert all(c.rows <= array[0] and c.columns <= array[1] for c in mapped.calls)
    done = sum(call.multiplications for call in mapped.calls)
    height, width = layer.result
    taps = layer.channels // layer.groups * layer.kernel[0] * layer.kernel[1]
    assert done == layer.batch * layer.outputs * height * width * taps
    _replays(mapped)


def test_no_block_size_is_better_utilised() -> None:
    """Against every uniform size of blocks, of both ways to say which operand is held."""
    assert least_block_cycles((2, 1, 1), SystolicArray(1, 1)) == 3, "two calls of one take 4"
    array = SystolicArray(16, 8)
    for extents in ((32, 32, 32), (7, 50, 33), (1, 40, 90), (100, 17, 5), (13, 64, 64)):
        mapped = map_term(dense(*extents), array)
        assert mapped.cycles * 0.95 <= least_block_cycles(extents, array), extents


def test_the_papers_rules_find_what_the_paper_says() -> None:
    """Figures 3, 5 and 7: an array, im2col, and eight products of blocks."""
    paper = rules_of(["paper"])
    one = map_term(matmul(32, 32, 32), SystolicArray(32, 32), paper)
    assert [step.rule for step in one.explanation] == ["systolic-array"]
    im2col = map_term(
        conv2d(Convolution(1, 3, 32, 32, 8, (3, 3))), SystolicArray(27, 8), paper,
        limits=SaturationLimits(iterations=4),
    )  # fmt: skip
    assert "flatten-and-reshape" in im2col.rules
    assert im2col.calls == (Call(27, 8, 900),)
    _replays(im2col)
    blocked = map_term(
        matmul(32, 32, 32), SystolicArray(16, 16), paper, limits=SaturationLimits(iterations=5)
    )
    assert {(c.rows, c.columns) for c in blocked.calls} == {(16, 16)}
    assert not blocked.unmapped
    assert blocked.max_rel_error() < 1e-12


def test_what_is_not_mapped_says_why() -> None:
    rules = rules_of(["boxes"], without=["split-vectors"])
    mapped = map_term(dense(4, 40, 4), SystolicArray(16, 16), rules)
    (left,) = mapped.unmapped
    assert any("(<= ?rows rows)" in x and "?rows = 40" in x for x in left.reasons)
    assert mapped.cycles == 0
    assert mapped.utilisation == 0
    none = map_term(
        dense(4, 4, 4), SystolicArray(16, 16), rules_of(["boxes"], without=["systolic-array"])
    )
    assert none.unmapped[0].reasons == ("no rule makes calls of an array",)
    groups = map_term(
        batched_matmul(2, 4, 4, 4), SystolicArray(), rules_of(["boxes"], without=["split-groups"])
    )
    assert "of pair" in groups.unmapped[0].reasons[0]


def test_pooling_has_no_calls_and_nothing_is_missing() -> None:
    mapped = map_term(pool2d(Convolution(1, 2, 4, 4, 2, (2, 2)), "max"), SystolicArray())
    assert not mapped.calls
    assert not mapped.unmapped
    assert mapped.after == mapped.before


def test_the_optimal_term_costs_no_more_and_is_proved() -> None:
    for term, array in (
        (matmul(32, 32, 32), (16, 16)),
        (matmul(64, 64, 64), (16, 16)),
        (conv2d(LAYERS[2]), (4, 4)),
        (dense(1, 40, 90), (16, 8)),
    ):
        greedy = map_term(term, SystolicArray(*array))
        best = map_term(term, SystolicArray(*array), optimal=True)
        assert best.extraction.cost <= greedy.extraction.cost
        assert best.extraction.optimal
        assert best.extraction.bound == best.extraction.cost
        assert best.max_rel_error() < 1e-12


def test_an_expression_that_is_used_twice_is_computed_once() -> None:
    text = """
    (tensor A 8 8) (tensor B 8 8)
    (compute elementwiseAdd (pair
      (access (compute dotProd (cartProd (access A 1) (access B 1))) 0)
      (access (compute dotProd (cartProd (access A 1) (access B 1))) 0)))
    """
    mapped = map_term(read_term(text).term, SystolicArray(8, 8))
    assert mapped.calls == (Call(8, 8, 8),)
    assert mapped.max_rel_error() < 1e-12
