"""The observations of a run, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.observe import BUSY, IDLE, INPUT, MEMORY, ROOM, Observe, most_at_once
from fuseloom.errors import SimulationError
from tests.dataflow.sim.explain.test_critical import Sketch, row

OURS = Machine.default()


def slow_alu() -> Sketch:
    """Tokens are put at 0 to 4 and stamped 1 to 5; the ALU takes them at 1, 5, 9, 13, 17.

    It puts at the same clocks; the writer takes at 2, 6, 10, 14, 18 and ends at 19.
    """
    g = Sketch()
    a = g.add("alu", "unary", (g.source("in", "val", row(3)),), "val", fn="relu", ii=4)
    g.add("out", "valwrite", (a,), tensor="X")
    return g


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_occupancy_by_hand(engine: str) -> None:
    result = run_graph(slow_alu().bound(), OURS, engine, observe=Observe(bins=4, peaks=True))
    seen = result.observed
    assert seen is not None
    assert seen.residence.tolist() == [(1 + 5 + 9 + 13 + 17) - (1 + 2 + 3 + 4 + 5), 0]
    assert seen.occupancy_mean(result.cycles).tolist() == [30 / 19, 0]
    assert seen.occupancy_max is not None
    assert seen.occupancy_max.tolist() == [4, 1]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_tokens_per_bin_by_hand(engine: str) -> None:
    seen = run_graph(slow_alu().bound(), OURS, engine, observe=Observe(bins=4, log=True)).observed
    assert seen is not None
    assert seen.width == 8
    assert seen.tokens is not None
    assert seen.tokens.tolist() == [[5, 0, 0, 0], [2, 2, 1, 0]]


def test_timelines_by_hand() -> None:
    seen = run_graph(slow_alu().bound(), OURS, "interpreter", observe=Observe(bins=4)).observed
    assert seen is not None
    alu = seen.nodes[1]
    assert alu[BUSY].tolist() == [7, 8, 1]
    assert alu[INPUT].tolist() == [1, 0, 0]
    assert alu[IDLE].tolist() == [0, 0, 2]
    assert not alu[[ROOM, MEMORY]].any()


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_what_is_observed_unless_told_otherwise(engine: str) -> None:
    result = run_graph(slow_alu().bound(), OURS, engine, observe=Observe())
    seen = result.observed
    assert seen is not None
    assert seen.occupancy_mean(result.cycles).tolist() == [30 / 19, 0]
    assert np.array_equal(seen.nodes[:, BUSY].sum(axis=1), result.busy)
    assert seen.occupancy_max is None
    assert seen.tokens is None
    assert seen.log is None


def test_most_at_once() -> None:
    assert most_at_once(np.array([0, 1, 2, 3, 4]), np.array([2, 6, 10])) == 4
    assert most_at_once(np.array([], np.int64), np.array([], np.int64)) == 0


@pytest.mark.parametrize("options", [{"bins": 3}, {"bins": 0}, {"log_limit": 0}])
def test_options_that_make_no_sense(options: dict[str, int]) -> None:
    with pytest.raises(SimulationError):
        Observe(**options)


def test_a_plain_run_observes_nothing() -> None:
    assert run_graph(slow_alu().bound(), OURS, "compiled").observed is None
