"""Accumulators on the worked examples of docs/spec/machine.md §6.3."""

from __future__ import annotations

from fuseloom.dataflow.sim.conformance.bench import bench
from tests.dataflow.primitives.examples import ADD


def test_spacc1() -> None:
    crds = "1@1 4@2 S0@3 0@4 4@5 S1@6 2@7 S2@8 D@9"
    vals = "1@1 2@2 S0@3 3@4 4@5 S1@6 5@7 S2@8 D@9"
    run = bench("spacc1", "0@1 2@2 S0@3 1@4 S1@5 D@6", crds, vals, params=ADD)
    assert run.outputs == (
        "0@8 1@8 4@8 S0@8 2@11 S1@11 D@12",
        "3@8 1@8 6@8 S0@8 5@11 S1@11 D@12",
    )
    assert run.clock == 11


def test_spacc1_max() -> None:
    run = bench("spacc1", "0 1 S0 D", "2 S0 2 S1 D", "-3 S0 -5 S1 D", params={"fn": "max"})
    assert run.tokens == ("2 S0 D", "-3 S0 D")
