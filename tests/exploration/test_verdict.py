"""Why one schedule is not the best: each answer follows from numbers that are looked up here."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import Dataflow
from fuseloom.exploration.reasons import verdict_on
from fuseloom.exploration.verdict import ScheduleFate, judged, outside
from fuseloom.models import load
from fuseloom.results.method import Budget


@pytest.fixture(scope="module")
def expected():
    model, data = load("spmv", "random")
    return estimate(compile_program(model.program, Schedule()), data)


def test_the_number_that_decides_is_said(expected):
    least, cycles = expected.regions[0].least, expected.cycles
    assert 0 < least <= cycles
    told = judged(expected, least / 2)
    assert told.fate is ScheduleFate.BOUNDED
    assert f"no run takes fewer than {least:,.0f} cycles" in told.text
    assert judged(expected, least).fate is not ScheduleFate.BOUNDED, "least > best alone is sure"
    slower = judged(expected, max(least, cycles - 1))
    assert (slower.fate, slower.cycles) in (
        (ScheduleFate.ESTIMATED, None),
        (ScheduleFate.EQUAL, None),
    )
    assert "is expected to take" in judged(expected, cycles).text
    assert judged(expected, cycles).fate is ScheduleFate.EQUAL
    assert f"expected to take {cycles:,.0f} cycles" in slower.text
    assert judged(expected, cycles + 1).fate is ScheduleFate.HOPED
    for run, fate in (
        (cycles + 9, ScheduleFate.SLOWER),
        (cycles + 5, ScheduleFate.EQUAL),
        (cycles, ScheduleFate.BETTER),
    ):
        assert judged(expected, cycles + 5, run).fate is fate


def test_what_is_outside_of_a_space_is_named():
    model, _ = load("gcn", "karate")
    text = "fuse T1..H; parallel T1..H: i by 4; block 2"
    made = compile_program(model.program, text)
    told = outside(made, Schedule(), Budget(lanes=2))
    assert len(told) == 2
    assert "block 2" in told[0]
    assert "4 lanes (parallel T1..H: i by 4); it has regions of at most 2" in told[1]
    assert outside(made, Schedule.parse("block 2"), Budget(lanes=4)) == ()
    plain = compile_program(model.program, "fuse T1..H")
    assert outside(plain, Schedule.parse("block 2"), Budget()) == (
        "not block 2, which all its schedules have",
    )


def test_of_a_schedule_as_text_floor_rule_and_run_decide():
    model, data = load("spmv", "random")
    method = Dataflow(model.program, data)
    assert verdict_on(method, 1.0, "fuse nothing").fate is ScheduleFate.REFUSED
    assert verdict_on(method, 1.0, "").fate is ScheduleFate.BOUNDED
    run = verdict_on(method, 1e9, "")
    assert run.fate is ScheduleFate.BETTER
    assert verdict_on(method, run.cycles, "").fate is ScheduleFate.EQUAL
    assert verdict_on(method, run.cycles, "parallel i by 2").outside
