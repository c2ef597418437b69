"""Holding, flattening and shifting, by docs/spec/machine.md §7 and docs/spec/comal.md §2.9."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError

INNER = "1 2 S0 S0 3 S1 D"
OUTER = "7 8 9 S0 D"


def test_the_outer_coordinate_comes_once_per_inner_one() -> None:
    run = bench("crdhold", INNER, OUTER)
    assert run.tokens == (INNER, "7 7 S0 S0 9 S1 D")


def test_a_flat_coordinate_counts_inner_ones_within_outer_ones() -> None:
    run = bench("flatten", INNER, OUTER, params={"factor": 10})
    assert run.tokens == ("71 72 93 S0 D",)


def test_a_shift_moves_coordinates_and_nothing_else() -> None:
    run = bench("shift", "0 4 S0 S1 D", params={"offset": 3})
    assert run.tokens == ("3 7 S0 S1 D",)
    assert run.outputs[0].split()[1] == "7@3"  # one token a cycle
    assert run.clock == 5


@pytest.mark.parametrize("op", ["crdhold", "flatten"])
@pytest.mark.parametrize(
    ("inner", "outer", "rule"),
    [
        ("1 S0 2 S1 D", "7 S0 D", "an inner coordinate without an outer one"),
        ("1 S1 D", "7 8 S0 D", "outer and inner disagree on where fibers end"),
        ("1 S1 D", "7 S1 D", "outer and inner disagree on where fibers end"),
    ],
)
def test_streams_that_do_not_nest_are_refused(op: str, inner: str, outer: str, rule: str) -> None:
    with pytest.raises(SimulationError, match=rule):
        bench(op, inner, outer, params={"factor": 10})


def test_the_reference_loses_the_last_stop_of_a_flat_level() -> None:
    """The outer stop is not in front when the last inner stop comes."""
    lossy = bench("flatten", "1 S1 D", "7 S0 D", params={"factor": 10}, machine=Machine.comal())
    assert lossy.tokens == ("71 D",)
