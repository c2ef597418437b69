"""The expected contents of a stream: tokens from shapes, and chances from counts."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.cost.flow import Flow, NestingLevel, References


def test_a_scalar_is_a_value_and_the_end() -> None:
    flow = Flow(None, 0)
    assert (flow.values, flow.tokens) == (1.0, 2.0)


def test_every_fiber_has_a_stop() -> None:
    """``1 2 S0 3 4 5 S1 D``: five values in two fibers, and the end."""
    rows = NestingLevel(2.0)
    inner = NestingLevel(5.0, rows)
    assert (rows.fibers, inner.fibers) == (1.0, 2.0)
    assert Flow(inner, 0).tokens == 8.0
    assert Flow(rows, 0).tokens == 2 + 1 + 1


def test_chances_are_counts_per_fiber_within_certainty() -> None:
    flow = Flow(NestingLevel(6.0, NestingLevel(4.0)), 0, counts=np.array([4.0, 2.0, 0.0, 9.0]))
    assert flow.chance().tolist() == [1.0, 0.5, 0.0, 1.0]
    nowhere = Flow(NestingLevel(0.0, NestingLevel(0.0)), 0, counts=np.array([0.0, 0.0]))
    assert nowhere.chance().tolist() == [0.0, 0.0]


def test_weights_of_references_are_made_once() -> None:
    asked: list[int] = []

    def weights() -> np.ndarray:
        asked.append(1)
        return np.ones(3)

    references = References(None, 0, weights)
    assert asked == []
    assert references.counts is references.counts
    assert asked == [1]


def test_flows_are_told_apart_by_identity() -> None:
    """Arrays in them have no truth value, so they are never compared field by field."""
    counts = np.ones(2)
    assert Flow(None, 0, counts) != Flow(None, 0, counts)
    with pytest.raises(AssertionError):
        Flow(None, 0).chance()
