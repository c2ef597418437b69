"""Droppers on the worked examples of docs/spec/machine.md §7."""

from __future__ import annotations

from fuseloom.dataflow.sim.conformance.bench import bench


def test_crddrop() -> None:
    run = bench("crddrop", "5@1 6@2 S0@3 S0@4 7@5 S1@6 D@7", "0@1 1@2 2@3 S0@4 D@5")
    assert run.outputs == ("5@2 6@3 S0@4 S0@5 7@6 S1@7 D@9", "0@4 2@7 S0@8 D@9")


def test_valdrop_takes_a_cycle_per_pair_dropped_or_not() -> None:
    run = bench("valdrop", "1 N S0 N S0 3 S1 D", "4 5 S0 6 S0 7 S1 D")
    assert run.outputs == ("1@2 S0@4 S0@6 3@7 S1@8 D@9", "4@2 S0@4 S0@6 7@7 S1@8 D@9")
