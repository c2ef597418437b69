"""Replaying a vector: nothing differs from what happens, and each deviation is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.conformance.conform import check, replay
from fuseloom.dataflow.sim.conformance.vectors import bind_vector
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.tokens import format_token
from tests.dataflow.sim.conformance.test_vectors import vector

ENGINE = "interpreter"


@pytest.fixture(scope="module")
def right() -> dict[str, Any]:
    """A vector with what our own golden models make of it."""
    bound, streams = bind_vector(vector())
    result = run_graph(bound, Machine.comal(), ENGINE, log=True)
    assert result.log is not None
    log = [[format_token(token), time] for token, time in result.log[streams["c"]]]
    log = [[int(token) if token.isdigit() else token, time] for token, time in log]
    clock = int(result.clocks[1])
    return vector(clocks={"w": clock}, dequeued={"c": log}, elapsed=result.cycles)


def test_a_right_vector_passes(right: dict[str, Any]) -> None:
    assert check(right, ENGINE) == []


def test_each_deviation_is_named(right: dict[str, Any]) -> None:
    def differences(**changes: Any) -> list[str]:
        return check({**right, **changes}, ENGINE)

    (clock,) = differences(clocks={"w": 99})
    assert clock.startswith("w ends at cycle")
    assert clock.endswith("reference 99")
    (elapsed,) = differences(elapsed=98)
    assert "cycles, reference 98" in elapsed
    (crd,) = differences(outputs={"w.crd": [0, 3]})
    assert crd == "w.crd is [0 2] (2), reference [0 3] (2)"
    log = right["dequeued"]["c"]
    (short,) = differences(dequeued={"c": log[:-1]})
    assert short == "stream c: 4 tokens taken, reference 3"
    late = [*log[:1], [log[1][0], log[1][1] + 5], *log[2:]]
    (stamp,) = differences(dequeued={"c": late})
    assert stamp.startswith("stream c, token 1: 2@")
    other = [*log[:1], [3, log[1][1]], *log[2:]]
    (token,) = differences(dequeued={"c": other})
    assert "reference 3@" in token


def test_clocks_of_nodes_that_may_end_late_are_not_compared() -> None:
    late = vector(
        nodes=[*vector()["nodes"][:1], {"op": "consume", "name": "w", "in": "c"}],
        clocks={"w": 1234},
        outputs={},
    )
    assert check(late, ENGINE) == []


def test_a_run_that_fails_is_the_only_difference() -> None:
    """Two empty operands are an error of the reference machine (docs/spec/comal.md §2.13)."""
    nodes = [
        {"op": "gen", "name": "a", "out": "v:a", "tokens": ["N", "D"]},
        {"op": "gen", "name": "b", "out": "v:b", "tokens": ["N", "D"]},
        {"op": "binary", "name": "sum", "in1": "v:a", "in2": "v:b", "out": "v:c", "fn": "add"},
        {"op": "consume", "name": "end", "in": "v:c"},
    ]
    (problem,) = check(vector(nodes=nodes, clocks={"sum": 1}, outputs={}), ENGINE)
    assert "both operands are empty" in problem
    assert problem.startswith("sum at cycle")


def test_replaying_a_file_counts_from_zero_and_says_what_lacks(
    tmp_path: Path, right: dict[str, Any]
) -> None:
    path = tmp_path / "vectors.json"
    lacking = vector(nodes=[{"op": "warp", "name": "w"}], cap=None)
    path.write_text(json.dumps([right, lacking]))
    first, second = replay(path, ENGINE)
    assert first.ok
    assert not second.ok
    assert second.lacking == {"warp"}
    assert str(second) == "1 write (unbounded): not implemented: warp"
    assert first.to_dict() == {"number": 0, "kind": "write", "capacity": 4, "differences": []}
