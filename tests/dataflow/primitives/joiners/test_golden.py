"""Intersecter and unioner on the worked examples of docs/spec/machine.md §4.4 and §4.5."""

from __future__ import annotations

from fuseloom.dataflow.sim.conformance.bench import bench

C0 = "0@1 3@2 5@3 S0@4 S0@5 2@6 S1@7 D@8"

R0 = "0@1 1@2 2@3 S0@4 S0@5 3@6 S1@7 D@8"

C1 = "3@1 4@2 S0@3 1@4 S0@5 2@6 S1@7 D@8"

R1 = "0@1 1@2 S0@3 2@4 S0@5 3@6 S1@7 D@8"


def test_intersect() -> None:
    run = bench("intersect", C0, R0, C1, R1, outputs=3)
    assert run.outputs[0] == "3@3 S0@6 S0@8 2@9 S1@10 D@11"
    assert run.tokens[1:] == ("1 S0 S0 3 S1 D", "0 S0 S0 3 S1 D")


def test_union() -> None:
    run = bench("union", C0, R0, C1, R1, outputs=3, params={"gate": 0})
    assert run.outputs[0] == "0@2 3@3 4@4 5@5 S0@6 1@7 S0@8 2@9 S1@10 D@11"
    assert run.tokens[1:] == ("0 1 N 2 S0 N S0 3 S1 D", "N 0 1 N S0 2 S0 3 S1 D")


def test_three_way_joiners() -> None:
    streams = [x for crd in ("0 2 S0 D", "2 3 S0 D", "1 2 S0 D") for x in (crd, crd)]
    assert bench("intersect", *streams, outputs=4).tokens == ("2 S0 D",) * 4
    assert bench("union", *streams, outputs=4).tokens == (
        "0 1 2 3 S0 D",
        "0 N 2 N S0 D",
        "N N 2 3 S0 D",
        "N 1 2 N S0 D",
    )
