"""Reducers on the worked examples of docs/spec/machine.md §6.1."""

from __future__ import annotations

from fuseloom.dataflow.sim.conformance.bench import bench
from tests.dataflow.primitives.examples import ADD, COMAL


def test_reduce() -> None:
    text = "1@1 2@2 S0@3 S0@4 3@5 S1@6 D@7"
    run = bench("reduce", text, params=ADD, machine=COMAL)
    assert run.outputs == ("3@4 0@5 3@7 S0@7 D@8",)


def test_max_reduce() -> None:
    run = bench("reduce", "-1 -2 S0 -3 -1 S1 D", params={"fn": "max"})
    assert run.tokens == ("-1 -1 S0 D",)
