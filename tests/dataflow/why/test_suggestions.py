"""Changes that are expected to help: which, with what promise, and within which time."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.why.edits import EditKind
from fuseloom.dataflow.why.promises import held
from fuseloom.dataflow.why.suggestions import suggestions
from tests.dataflow.why.explained import FULL, PARTIAL, data, explained

HEAVY = ("T1", "T2", "T3", "H")
AMPLE = 600.0
"""Seconds in which every change is looked at, however busy the machine is."""


@pytest.mark.deep  # takes seconds
def test_the_full_fusion_is_to_be_cut_between_the_layers() -> None:
    asked = replace(explained(FULL).asked, heavy=HEAVY)
    first, *others = suggestions(asked, seconds=AMPLE)
    assert (first.kind, first.text) == (EditKind.CUT, "Cut before A·H")
    assert first.promise.now == 49_474
    assert first.promise.estimated < 14_200
    node = next(s for s in others if s.kind is EditKind.NODE)
    assert (node.text, node.promise.least) == ("Acc1_p twice as fast", 25_139)
    assert not node.applies
    assert node.promise.text == "≥ 25,139"


def test_a_suggestion_keeps_its_promise() -> None:
    asked = replace(explained(FULL).asked, heavy=HEAVY)
    for made in suggestions(asked, seconds=AMPLE):
        if made.schedule is None:
            continue
        compiled = compile_program(asked.compilation.program, made.schedule)
        assert str(compiled.resolved) == made.schedule
        record = program_record(simulate(compiled, data()), None, Detail())
        assert record.cycles >= made.promise.least
        assert held(made.promise, record).held


def test_hardware_comes_last() -> None:
    kinds = [s.kind.hardware for s in suggestions(explained(FULL).asked, seconds=AMPLE)]
    assert kinds == sorted(kinds)
    assert True in kinds


def test_at_least_one_change_is_looked_at_whatever_the_time() -> None:
    asked = replace(explained(FULL).asked, heavy=HEAVY)
    ticks = count(0, 100)
    found = suggestions(asked, seconds=0.5, clock=lambda: float(next(ticks)))
    assert [s.kind for s in found] == [EditKind.CUT, EditKind.NODE]


@pytest.mark.deep  # takes seconds
def test_channels_with_more_room_are_a_change_of_the_machine() -> None:
    asked = explained(PARTIAL).asked
    assert not [s for s in suggestions(asked, seconds=0.1) if s.kind is EditKind.CHANNELS]
    narrow = Machine(channel_capacity=2)
    made = compile_program(asked.compilation.program, "fuse T1..T2; order T1..T2: i,k,p,n")
    slow = replace(
        asked,
        compilation=made,
        machine=narrow,
        record=None,
        estimate=estimate(made, data(), machine=narrow),
    )
    found = [s for s in suggestions(slow, seconds=AMPLE) if s.kind is EditKind.CHANNELS]
    assert found[0].machine is not None
    assert found[0].machine.channel_capacity == 8
    assert found[0].text == "Channels of 8 tokens"


def test_what_is_good_already_has_no_change_of_its_schedule() -> None:
    good = explained("fuse T1..H; fuse T5..Y").asked
    assert all(s.kind.hardware for s in suggestions(good, seconds=AMPLE))


def test_plain_data() -> None:
    told = suggestions(replace(explained(FULL).asked, heavy=HEAVY), seconds=0)[0].to_dict()
    assert told["promise"]["estimated"] > 0
    assert told["kind"] in {kind.value for kind in EditKind}
