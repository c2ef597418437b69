"""The interpreter's counters add up, and its errors name the node."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError


def test_stalls_and_work_add_up() -> None:
    run = bench("binary", "6@9 S0@10 D@11", "3 S0 D", params={"fn": "add"}, capacity=1)
    result = run.result
    assert (result.busy >= 0).all()
    assert result.stall_input[0] >= 9
    assert result.first[0] == 9
    assert result.clocks[0] == result.busy[0] + result.stall_input[0] + result.stall_output[0]


@pytest.mark.parametrize(
    ("op", "inputs", "params"),
    [
        ("intersect", ("0 S0 D", "0 S0 D", "0 S1 D", "0 S1 D"), {}),
        ("intersect", ("0 S0 D", "0 1 D", "0 S0 D", "0 S0 D"), {}),
        ("union", ("N S0 D", "0 S0 D", "0 S0 D", "0 S0 D"), {"gate": 0}),
        ("binary", ("1 S0 D", "1 2 S0 D"), {"fn": "add"}),
        ("locate", ("1 S0 D", "1 D"), {"dim": 3}),
        ("reduce", ("1 S1 D", "0 S1 D"), {"fn": "add"}),
        ("spacc1", ("0 S0 D", "1 S1 D", "2 S0 D"), {"fn": "add"}),
        ("spacc1", ("0 S0 D", "1 S1 2 S0 D", "2 S1 2 S0 D"), {"fn": "add"}),
        ("spacc1", ("0 S0 D", "5 S1 D", "2 S1 D"), {"fn": "add", "dim": 5}),
        ("crddrop", ("1 D", "0 S0 D"), {}),
        ("valdrop", ("1 S0 D", "0 1 S0 D"), {}),
        ("ordered_join", ("0 1 S0 D", "5 S1 D", "S0 D"), {"levels": 1}),
        ("ordered_join", ("0 1 2 S0 D", "5 S1 D", "6 S1 D"), {"levels": 1}),
    ],
)
def test_contradicting_tokens_are_reported_with_the_node(
    op: str, inputs: tuple[str, ...], params: dict[str, str]
) -> None:
    outputs = 3 if op in ("intersect", "union") else None
    with pytest.raises(SimulationError, match=rf"^{op} at cycle \d+: .*\(got "):
        bench(op, *inputs, params=params, outputs=outputs)


def test_references_outside_the_data_are_reported() -> None:
    with pytest.raises(SimulationError, match="outside the level's 1 fiber"):
        bench("scan", "1 S0 D", arrays={"seg": [0, 1], "crd": [3]})
    with pytest.raises(SimulationError, match="outside the 2 stored values"):
        bench("array", "2 S0 D", arrays={"vals": [3, 4]})
