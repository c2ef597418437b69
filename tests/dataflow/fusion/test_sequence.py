"""The order in which statements are carried out: what it may be, and that meaning stays."""

from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks.certificates import space
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.sequence import sequence_to, sequenced
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom.program import evaluate, parse

SEED = 16_100
TEXT = """A: 3x3 csr
T[i,j] = relu(A[i,j])
U[i,j] = exp(A[i,j])
D[i,j] = relu(U[i,j])
V[i,j] = relu(T[i,j])
Y[i,j] = U[i,j] + V[i,j]
output Y"""
PROGRAM = parse(TEXT)
DATA = {"A": np.eye(3)}


def names(schedule: str) -> list[str]:
    return [s.out.tensor for s in sequenced(PROGRAM, Schedule.parse(schedule)).statements]


def test_those_named_take_each_other_s_places() -> None:
    assert names("") == ["T", "U", "D", "V", "Y"]
    assert names("sequence U, T") == ["U", "T", "V", "Y", "D"]
    assert names("sequence V, U") == ["T", "V", "U", "Y", "D"]
    assert sequenced(PROGRAM, Schedule.parse("sequence T, U, V, Y")) is PROGRAM


@pytest.mark.parametrize(
    ("schedule", "message", "hint"),
    [
        ("sequence V, T", "'sequence V, T': V would come before T, which it reads", "V after T"),
        ("fuse T..U\nsequence Y, T", "U would come before|Y would come before", "name Y after"),
        ("sequence T, D", "D is not carried out, as no output of the program needs it", "known"),
        ("sequence A, T", "A is an input, which no statement assigns", "known"),
        ("sequence T, Q", "no statement assigns Q", "known: T, U, V, Y"),
        ("sequence T, T", "names T twice", "each statement once"),
        ("sequence T", "names one statement alone", "changes places"),
        ("sequence T, 3", "'3' is not the name of a tensor", "write sequence"),
        ("sequence U, T; sequence T, U", "'sequence T, U' is a second sequence", "in one"),
    ],
)
def test_what_is_refused(schedule: str, message: str, hint: str) -> None:
    with pytest.raises(FuseloomError, match=message) as told:
        prepare(PROGRAM, Schedule.parse(schedule))
    assert hint in str(told.value.hint)
    assert f"line {schedule.count(chr(10)) + 1}" in str(told.value)


def test_spans_are_of_the_new_order() -> None:
    with pytest.raises(ScheduleError, match="claim"):
        compile_program(PROGRAM, "fuse T..V; fuse U..Y")
    made = compile_program(PROGRAM, "sequence V, U; fuse T..V; fuse U..Y")
    regions = [[s.out.tensor for s in r.region.statements] for r in made.regions]
    assert regions == [["T", "V"], ["U", "Y"]]
    assert "sequence V, U" in str(made.resolved)
    again = compile_program(PROGRAM, made.resolved)
    assert [r.graph for r in again.regions] == [r.graph for r in made.regions]
    assert simulate(made, DATA).check().ok


def test_the_shortest_sequence_to_an_order() -> None:
    for order in (["T", "V", "U", "Y"], ["U", "T", "V", "Y"], ["T", "U", "V", "Y"]):
        wanted = sequence_to(PROGRAM, order)
        text = "" if wanted is None else str(wanted)
        assert [name for name in names(text) if name != "D"] == order
    assert sequence_to(PROGRAM, ["T", "U", "V", "Y"]) is None


def test_what_a_program_means_does_not_depend_on_it() -> None:
    """Of random programs under random orders: some are legal, and those mean what it meant."""
    print("seed", SEED)
    rng, legal, told = random.Random(SEED), 0, {True}
    for seed in range(SEED, SEED + 24):
        given = space(2 * seed + 1)
        chosen = [s.out.tensor for s in given.program.live]
        chosen = rng.sample(chosen, rng.randint(2, len(chosen)))
        schedule = Schedule.parse(f"sequence {', '.join(chosen)}")
        try:
            changed, _ = prepare(given.program, schedule)
        except ScheduleError as reason:
            told.add("would come before" in reason.message)
            continue
        legal += 1
        meant, means = evaluate(given.program, given.data), evaluate(changed, given.data)
        for name in given.program.outputs:
            assert np.array_equal(meant[name].values, means[name].values)
        if legal % 3 == 0:
            run = simulate(compile_program(given.program, schedule), given.data, given.machine)
            assert run.check().ok
    assert legal >= 4
    assert told == {True}
