"""Compositions that come with the program, against results that are computed by other means."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.commands import BreakBefore, Parallelize
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.pipelines import MOST_ELEMENTS, PIPELINES, pipeline_named, read_extents
from fuseloom.errors import ProgramError

SMALL = {
    "softmax": {"h": 19, "w": 23},
    "sgerb": {"h": 19, "w": 23},
    "sgerb-sums": {"h": 19, "w": 23},
    "blur": {"h": 19, "w": 23},
    "unsharp": {"h": 19, "w": 23},
    "haversine": {"n": 101},
    "gemm-bias-relu": {"m": 19, "k": 7, "n": 11},
    "add6": {"n": 101},
    "conv-pool": {"h": 12, "w": 16, "c": 3, "o": 5},
}


def test_every_pipeline_is_tried() -> None:
    assert set(SMALL) == set(PIPELINES)


@pytest.mark.parametrize("name", PIPELINES)
def test_fused_calls_give_what_other_means_give(name: str) -> None:
    case = PIPELINES[name].make(SMALL[name], seed=2)
    largest = np.abs(case.expected).max()
    calls = len(case.composition.calls)
    for commands in ([], [Parallelize(0)], [BreakBefore(calls // 2)]):
        fused = FusedFunction(case.composition, commands, workers=2)
        for tile in (3, 8, 1000):
            case.result.fill(np.nan)
            fused(**case.arguments, **{PIPELINES[name].tile: tile})
            assert np.abs(case.result - case.expected).max() <= 2e-5 * largest


def test_only_the_rows_that_pooling_needs_are_convolved() -> None:
    case = PIPELINES["conv-pool"].make({"h": 13, "w": 8, "c": 1, "o": 2})
    counts = FusedFunction(case.composition).counts(**case.arguments, n=2)
    assert counts.computed["t1"] == 12 * 8 * 2
    assert set(counts.recomputation.values()) == {1.0}


@pytest.mark.parametrize(
    ("name", "extents", "says"),
    [
        ("softmax", {"q": 3}, "softmax has no extent q"),
        ("softmax", {"h": 0}, "h is 0"),
        ("softmax", {"h": MOST_ELEMENTS, "w": 2}, "would have more than"),
        ("gemm-bias-relu", {"m": 1, "k": 2, "n": MOST_ELEMENTS}, "would have more than"),
    ],
)
def test_extents_that_do_not_fit_are_refused(name: str, extents, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        PIPELINES[name].make(extents)


@pytest.mark.parametrize(
    ("text", "says"), [("h", "'h' is no extent"), ("h=2,h=3", "h has two extents")]
)
def test_texts_that_are_no_extents_are_refused(text: str, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        read_extents(text)


def test_a_name_that_is_none_is_refused_with_the_closest() -> None:
    with pytest.raises(ProgramError, match="is no pipeline") as told:
        pipeline_named("sofmax")
    assert told.value.hint == "did you mean 'softmax'?"
