"""Scanners and locators on the worked examples of docs/spec/machine.md §3."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError


def test_scan() -> None:
    run = bench(
        "scan",
        "0@1 1@2 S0@3 2@4 S1@5 D@6",
        arrays={"seg": [0, 2, 2, 5], "crd": [3, 7, 1, 4, 6]},
    )
    assert run.outputs == (
        "3@2 7@3 S0@4 S1@5 1@6 4@7 6@8 S2@9 D@10",
        "0@2 1@3 S0@4 S1@5 2@6 3@7 4@8 S2@9 D@10",
    )


def test_dense_scan() -> None:
    run = bench("dense_scan", "0 2 S0 D", params={"dim": 2})
    assert run.outputs == ("0@2 1@3 S0@4 0@5 1@6 S1@7 D@8", "0@2 1@3 S0@4 4@5 5@6 S1@7 D@8")


def test_locate_adds_the_parent_and_iterate_locate_does_not() -> None:
    assert bench("locate", "1 2 S0 D", "0 3 S0 D", params={"dim": 10}).tokens == ("1 32 S0 D",)
    run = bench("sam_locate", "0 3 S0 D", "1 2 S0 D")
    assert run.outputs == ("1@2 2@3 S0@4 D@5", "0@2 3@3 S0@4 D@5", "1@2 2@3 S0@4 D@5")


SEARCHED = {"seg": [0, 3, 3, 5], "crd": [1, 4, 6, 0, 4]}


def test_search_passes_on_what_is_stored() -> None:
    """Found coordinates come four cycles after they were taken; stops, as ever, after one."""
    run = bench("search", "0@1 2@2 S0@3 D@4", "1@1 2@2 6@3 S0@4 4@5 5@6 S1@7 D@8", arrays=SEARCHED)
    assert run.outputs == (
        "1@5 6@7 S0@5 4@9 S1@8 D@9",
        "0@5 2@7 S0@5 4@9 S1@8 D@9",
    )


def test_search_finds_nothing_under_the_empty_token_and_in_empty_fibers() -> None:
    refs, wanted = "N 1 S0 S0 0 S1 D", "1 S0 4 S1 S1 S2 D"
    run = bench("search", refs, wanted, arrays=SEARCHED)
    assert run.tokens == ("S0 S1 S1 S2 D", "S0 S1 S1 S2 D")


def test_search_refuses_coordinates_that_do_not_lie_under_the_references() -> None:
    for refs, wanted in (("0 S0 D", "1 S2 D"), ("S0 D", "1 S0 D"), ("0 D", "1 D"), ("3 D", "S0 D")):
        with pytest.raises(SimulationError):
            bench("search", refs, wanted, arrays=SEARCHED)
