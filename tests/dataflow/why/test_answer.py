"""The sentence on why a schedule takes its cycles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import PAGE
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.why.answer import Answer, Cause, Pinned, answer
from fuseloom.dataflow.why.recomputation import recomputation
from fuseloom.results.check import Check
from tests.dataflow.why.explained import FULL, PARTIAL, data, explained

IDEAL = Machine.preset("ideal")


def of(schedule: str, **more: object) -> Answer:
    made = explained(schedule)
    found = recomputation(made.compilation, made.context, made.estimate)
    return answer(made.asked, found, **more)


def test_recomputation_leads() -> None:
    found = of(FULL, pinned=Pinned("partial", 14_106))
    assert found.cause is Cause.RECOMPUTED
    assert str(found) == (
        "A·X to relu are computed once per non-zero of A instead of once: 156 rows of H instead "
        "of 34, 35,368 cycles more than partial (A). ·W1 computes 43,524 values, not 9,486 "
        "(4.6×), and Acc1_p alone works for 48,670 of the 49,474 cycles."
    )


def test_the_node_that_limits_a_layer() -> None:
    found = of(PARTIAL, pinned=Pinned("full", 49_474), unfused_bytes=228_232.0)
    assert found.cause is Cause.NODE
    assert str(found) == (
        "Acc1_p of ·W1 sets the pace: it works for 10,048 of the 14,106 cycles, 35,368 cycles "
        "fewer than full (A). Fusion saves 62,904 of 228,232 bytes of memory traffic."
    )


def test_without_a_run_the_estimate_speaks() -> None:
    made = explained(PARTIAL)
    found = answer(replace(made.asked, record=None))
    assert found.cause is Cause.NODE
    assert "est. " in found.rest


def test_as_many_cycles() -> None:
    assert "as many cycles as it (A)" in str(of(PARTIAL, pinned=Pinned("it", 14_106)))


@pytest.mark.parametrize(
    ("machine", "cause"),
    [
        (replace(IDEAL, memory=replace(IDEAL.memory, latency=4_000)), Cause.MEMORY),
        (Machine(name="narrow", channel_capacity=2), Cause.ROOM),
    ],
)
def test_waits_lead_where_they_are_most_of_the_run(machine: Machine, cause: Cause) -> None:
    made = explained(PARTIAL)
    compiled = made.compilation if cause is Cause.MEMORY else made.compilation.sized(2)
    run = simulate(compiled, data(), machine, observe=Observe(log=True))
    record = program_record(run, None, PAGE)
    expected = estimate(compiled, data(), machine=machine)
    asked = replace(
        made.asked, compilation=compiled, machine=machine, record=record, estimate=expected
    )
    found = answer(asked)
    assert found.cause is cause, found
    assert found.head.startswith("The run waits for")
    assert " %)" in found.rest


def test_plain_data() -> None:
    assert of(FULL).to_dict()["cause"] == "recomputed"


@pytest.mark.parametrize(
    ("machine", "whose"),
    [(Machine.default(), "a fault of the tool"), (Machine.comal(), "copies 15 faults")],
)
def test_a_wrong_result_has_no_cause(machine: Machine, whose: str) -> None:
    asked = explained(FULL).asked
    assert asked.record is not None
    check = Check(0.5, True, None, share=9.0, wrong="Y[3, 1] is 2, and should be 1")
    told = answer(replace(asked, machine=machine, record=replace(asked.record, check=check)))
    assert told.cause is Cause.WRONG
    assert told.head == "Do not trust this number:"
    assert told.rest.startswith("Y[3, 1] is 2, and should be 1. ")
    assert whose in told.rest
