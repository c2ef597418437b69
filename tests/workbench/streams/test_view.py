"""A recorded run as plain data, in parts that come one after another."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.display import TOKENS
from fuseloom.dataflow.samml.primitive import Family
from fuseloom_workbench.base.parts import LATER
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.streams import view as streams
from fuseloom_workbench.streams.view import Shown


def draw(dot: str, form: str) -> str:
    assert dot.startswith("digraph")
    return "<svg/>"


def shown(session: Session) -> Shown:
    return list(streams.recordings(session, draw))[-1]


@pytest.fixture
def spmv() -> Session:
    return Session("spmv")


def read(parts: dict[str, str]) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in parts.items()}


def test_first_the_drawing_then_the_tokens(spmv):
    first, second = streams.recordings(spmv, draw)
    assert not first.whole
    assert second.whole
    drawn = read(first.parts((0, -1), -1))
    assert set(drawn) == {"streams"}
    assert drawn["streams"]["svg"] == "<svg/>"
    assert drawn["streams"]["outline"] is None
    parts = read(second.parts((0, -1), -1))
    assert set(parts) == set(streams.NAMES)
    assert {part["key"] for part in parts.values()} == {streams.key(spmv)}
    assert parts["streams"]["outline"]["cycles"] == 38
    assert parts["streams"]["name"] == "y"
    assert set(parts["streams"]["colours"]) == {f"n{n.id}" for n in spmv.current.graph.nodes}


@pytest.mark.deep  # takes seconds
def test_a_long_run_begins_soon():
    session = Session("gcn", "karate")
    drawing, beginning, whole = streams.recordings(session, draw)
    assert [one.whole for one in (drawing, beginning, whole)] == [False, False, True]
    first = read(beginning.parts((0, -1), -1))
    assert first["streams"]["more"]
    assert first["streams"]["outline"]["last"] == 1_000
    last = read(whole.parts((0, -1), -1))
    assert not last["streams"]["more"]
    assert last["streams"]["outline"]["last"] == 10_000
    assert first["streams"]["key"] == last["streams"]["key"]


def test_every_family_has_a_colour():
    assert set(TOKENS) == set(Family)


def test_the_session_may_change_while_a_run_is_recorded(spmv):
    named = streams.key(spmv)
    work = streams.recordings(spmv, draw)
    next(work)
    spmv.set_machine("hbm2")
    assert streams.key(spmv) != named
    parts = read(next(work).parts((0, -1), -1))
    assert parts["streams"]["key"] == named
    assert parts["streams"]["outline"]["machine"] == "default"


@pytest.mark.deep  # takes seconds
def test_a_cycle_chooses_tokens_and_sentences():
    session = Session("gcn", "karate")
    whole = shown(session)
    assert whole.recording is not None
    bounds = read(whole.parts((0, -1), -1))["streams"]["outline"]["bounds"]
    assert len(bounds) > 3
    for number, first in enumerate(bounds[:-1]):
        parts = read(whole.parts((first, 22), -1))
        assert parts["streams_chunk"]["number"] == number
        assert parts["streams_chunk"]["first"] == first
        assert len(json.dumps(parts["streams_chunk"])) < 500_000
        story = parts["streams_story"]
        assert story["node"] == 22
        assert story["first"] <= first < story["stop"]
    beyond = read(whole.parts((1 << 30, -1), -1))
    assert beyond["streams_chunk"]["number"] == len(bounds) - 2
    assert whole.parts((0, 22), -1)["streams_story"] is whole.parts((0, 22), -1)["streams_story"]


def test_whose_story_is_told(spmv):
    whole = shown(spmv)
    assert whole.told_of(3, 5) == 3
    assert whole.told_of(-1, 5) == 5
    assert whole.told_of(99, 5) == 5
    assert spmv.current.graph.nodes[whole.told_of(-1, -1)].label == "LS A.i", "it begins there"


@pytest.mark.deep  # takes seconds
def test_ports_of_the_memory_are_drawn_too(spmv):
    spmv.set_machine("hbm2")
    whole = shown(spmv)
    count = len(spmv.current.graph.nodes)
    ports = [node for node in whole.graph.nodes if node.id >= count]
    assert ports
    assert all(node.op.startswith("mem_") for node in ports)
    assert whole.recording is not None
    ran = whole.recording.graph
    assert [(n.op, n.inputs, n.outputs) for n in ran.nodes] == [
        (n.op, n.inputs, n.outputs) for n in whole.graph.nodes
    ]
    story = read(whole.parts((0, ports[0].id), -1))["streams_story"]
    assert story["node"] == ports[0].id


def test_it_travels_to_another_process(spmv):
    whole = shown(spmv)
    whole.parts((3, 4), -1)
    there = pickle.loads(pickle.dumps(whole))
    assert there.parts((3, 4), -1) == whole.parts((3, 4), -1)


def test_what_cannot_be_drawn_or_run_says_why(spmv):
    def fail(dot: str, form: str) -> str:
        raise RuntimeError("no such engine")

    (failed,) = streams.recordings(spmv, fail)
    assert failed.whole
    assert read(failed.parts((0, -1), -1))["streams"]["problem"] == "no such engine"
    late = LATER["streams"].given_up(spmv, None, 20)
    assert late.whole
    assert late.key == streams.key(spmv)
    assert "took more than 20 s" in late.problem


def test_a_deadlock_can_be_stepped_up_to():
    session = Session("gcn", "karate", machine=Machine.default())
    session.set_capacity("1")
    whole = shown(session)
    outline = read(whole.parts((0, -1), -1))["streams"]["outline"]
    assert outline["cycles"] is None
    assert "wait" in outline["note"]


def test_nobody_steps_at_first(spmv):
    assert not streams.wanted(spmv)
    spmv.step_to(0, -1)
    assert streams.wanted(spmv)
    spmv.step_to(-1, -1)
    assert not streams.wanted(spmv)
