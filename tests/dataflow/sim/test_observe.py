"""The observations of a run, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.observe import (
    BUSY,
    IDLE,
    INPUT,
    MEMORY,
    ROOM,
    Observe,
    is_peeked,
    most_at_once,
    peeked_streams,
)
from fuseloom.dataflow.sim.process import PEEK
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


def test_streams_are_named_by_the_port_that_looks() -> None:
    machine = Machine.default()
    nodes = [
        Node(0, "scan", (7,), (1, 2), {"tensor": "A", "level": 0}),
        Node(1, "unary", (3,), (4,), {"fn": "exp"}),
    ]
    assert is_peeked(nodes[0], 0, machine)
    assert not is_peeked(nodes[1], 0, machine)
    assert peeked_streams(nodes, machine) == {7}
    assert peeked_streams([], machine) == frozenset()


RUNS: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("repeat", ("4 5 S0 D", "R R S R S D"), {}),
    ("repsig", ("1 2 S0 D",), {}),
    ("crdhold", ("1 2 S0 3 S1 D", "7 8 S0 D"), {}),
    ("flatten", ("1 2 S0 3 S1 D", "7 8 S0 D"), {"params": {"factor": 4}}),
    ("intersect", ("1 2 S0 D", "1 2 S0 D", "2 S0 D", "2 S0 D"), {"outputs": 3}),
    ("union", ("1 2 S0 D", "1 2 S0 D", "2 S0 D", "2 S0 D"), {"outputs": 3}),
    ("reduce", ("1 2 S0 S0 3 S1 D",), {"params": {"fn": "add"}}),
    ("stopdrop", ("1 S0 D",), {}),
    ("unary", ("1 S0 D",), {"params": {"fn": "exp"}}),
]


@pytest.mark.parametrize(("op", "inputs", "how"), RUNS, ids=[run[0] for run in RUNS])
def test_golden_models_peek_only_where_the_trait_says(
    op: str, inputs: tuple[str, ...], how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: set[int] = set()
    golden = interpreter.implementation(op).generator

    def watched(process: Any) -> Any:
        behaviour = golden(process)
        answer = None
        while True:
            try:
                request = behaviour.send(answer)
            except StopIteration:
                return
            if request[0] == PEEK:
                looked.add(process.inputs.index(request[1]))
            answer = yield request

    real = interpreter.implementation

    def implementation(name: str) -> Any:
        found = real(name)
        return type(found)(watched, found.reads) if name == op else found

    monkeypatch.setattr(interpreter, "implementation", implementation)
    run = bench(op, *inputs, **how)
    node, machine = run.result.graph.nodes[0], Machine.default()
    allowed = {port for port in range(len(inputs)) if is_peeked(node, port, machine)}
    assert looked <= allowed
