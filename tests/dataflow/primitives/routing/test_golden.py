"""Copies and lanes on the worked examples of docs/spec/machine.md §8."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.conformance.bench import bench


def test_broadcast_takes_no_time() -> None:
    run = bench("broadcast", "4@1 5@1 S0@3 D@3", outputs=2)
    assert run.outputs == ("4@2 5@2 S0@4 D@4",) * 2
    assert run.clock == 3


FORKED = "0 1 2 S0 3 S1 D"

LANES = ("10 11 S0 12 S1 D", "20 S0 21 22 S1 D")


def test_fork_and_join() -> None:
    assert bench("fork", FORKED, outputs=2).tokens == ("0 2 S0 S1 D", "1 S0 3 S1 D")
    assert bench("join", *LANES).tokens == ("10 11 S0 20 S0 12 S0 21 22 S1 D",)


def test_ordered_join_is_right_for_any_length() -> None:
    lanes = ("1 S0 3 S1 D", "2 S1 D")  # three rows on two lanes
    assert bench("join", *lanes).tokens == ("1 S0 2 S1 3 S0 D",)
    joined = bench("ordered_join", "0 1 2 S0 D", *lanes, params={"levels": 1})
    assert joined.tokens == ("1 S0 2 S0 3 S1 D",)


@pytest.mark.parametrize(
    ("levels", "guide", "lanes", "expected"),
    [
        (0, "0 1 2 S0 3 S1 D", ("0 2 S0 S1 D", "1 S0 3 S1 D"), "0 1 2 S0 3 S1 D"),
        # Empty rows, an empty outer fiber, a lane without a row of its own.
        (1, "0 S0 S0 1 2 S1 D", ("5 S1 S1 S2 D", "S1 S1 6 S2 D"), "5 S1 S1 6 S0 S2 D"),
        (1, "S0 D", ("S1 D", "S1 D"), "S1 D"),
        (2, "0 1 S0 D", ("5 S0 S2 D", "6 7 S0 8 S2 D"), "5 S0 S1 6 7 S0 8 S2 D"),
    ],
)
def test_ordered_join_levels(
    levels: int, guide: str, lanes: tuple[str, str], expected: str
) -> None:
    run = bench("ordered_join", guide, *lanes, params={"levels": levels})
    assert run.tokens == (expected,)
