"""The compiled engine: growing rings, limits, errors, its cache of machine code."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import DeadlockError, SimulationError
from tests.dataflow.sim.compiled.graphs import (
    CRD,
    OURS,
    REF,
    VAL,
    graph,
    softmax,
    tokens,
)


def test_token_limit() -> None:
    with pytest.raises(SimulationError, match="more than 1,000 tokens"):
        compiled.run(softmax(10, 100), OURS, limits=Limits(1000))


def test_channels_with_room_for_more_than_can_be_counted() -> None:
    bound = softmax(4, 5)
    wide = BoundGraph(bound.graph.with_capacity(2**80), bound.arrays)
    assert compiled.run(wide, OURS).cycles == compiled.run(bound, OURS).cycles


def test_progress_and_cancel() -> None:
    seen: list[tuple[int, float]] = []

    def watch(count: int, share: float) -> bool:
        seen.append((count, share))
        return len(seen) < 3

    with pytest.raises(SimulationError, match="cancelled"):
        compiled.run(softmax(2000, 1000), Machine.default(1024), progress=watch)
    assert len(seen) == 3
    assert seen == sorted(seen)


def test_deadlock_names_the_same_circle_as_the_golden_models() -> None:
    messages = []
    for engine in (interpreter, compiled):
        with pytest.raises(DeadlockError) as caught:
            engine.run(softmax(2, 20), Machine.default(8))
        messages.append(str(caught.value))
    assert "binary 9" in messages[1]
    assert "more capacity" in messages[1]
    assert messages[0].split(": ")[0] == messages[1].split(": ")[0]


@pytest.mark.parametrize(
    ("bound", "rule"),
    [
        (
            graph(
                [VAL, VAL, VAL],
                ("source", (), (0,), {"kind": "val"}),
                ("source", (), (1,), {"kind": "val"}),
                ("binary", (0, 1), (2,), {"fn": "add"}),
                ("sink", (2,), (), {}),
                n0=tokens("1 2 S0 D", VAL),
                n1=tokens("1 S0 D", VAL),
            ),
            "operands disagree",
        ),
        (
            graph(
                [REF, VAL],
                ("source", (), (0,), {"kind": "ref"}),
                ("array", (0,), (1,), {"tensor": "A"}),
                ("sink", (1,), (), {}),
                n0=tokens("0 7 S0 D"),
                n1={"vals": np.zeros(3, np.float32)},
            ),
            "outside",
        ),
        (
            graph(
                [REF, CRD, REF],
                ("source", (), (0,), {"kind": "ref"}),
                ("scan", (0,), (1, 2), {"tensor": "A", "level": 0}),
                ("sink", (1,), (), {}),
                ("sink", (2,), (), {}),
                n0=tokens("5 D"),
                n1={"seg": np.array([0, 1]), "crd": np.array([0])},
            ),
            "outside",
        ),
    ],
)
def test_contradicting_tokens(bound: BoundGraph, rule: str) -> None:
    with pytest.raises(SimulationError, match=rule):
        compiled.run(bound, OURS)


def test_segments_must_fit_their_coordinates() -> None:
    bound = graph(
        [REF, CRD, REF],
        ("root", (), (0,), {}),
        ("scan", (0,), (1, 2), {"tensor": "A", "level": 0}),
        ("sink", (1,), (), {}),
        ("sink", (2,), (), {}),
        n1={"seg": np.array([0, 9]), "crd": np.array([0])},
    )
    with pytest.raises(SimulationError, match="segments"):
        compiled.run(bound, OURS)
