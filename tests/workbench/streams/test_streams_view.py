"""The component: what it asks for, what it is given."""

from __future__ import annotations

import asyncio
import json

import panel as pn
import pytest

from fuseloom_workbench.state.session import Session
from fuseloom_workbench.streams.streams_view import StreamsView, streams
from tests.waiting import until_async


@pytest.fixture
def spmv() -> Session:
    return Session("spmv")


def test_nothing_is_recorded_before_somebody_looks(spmv):
    view = StreamsView(spmv)
    assert view.view == {}
    assert not view.busy


def test_a_look_brings_drawing_tokens_and_story(spmv):
    view = StreamsView(spmv)
    view.handle({"kind": "step", "cycle": 0, "node": -1})
    assert 'id="n0"' in view.view["svg"]
    assert view.view["outline"]["cycles"] == 38
    chunk, story = json.loads(view.chunk), json.loads(view.story)
    assert chunk["first"] == 0
    assert chunk["stop"] == 39
    assert story["moments"]
    assert not view.busy
    answers = view.answers
    view.handle({"kind": "step", "cycle": 20, "node": 4})
    assert view.answers > answers
    assert json.loads(view.story)["node"] == 4
    assert spmv.node == view.selected == 4


def test_another_views_selection_is_followed(spmv):
    view = StreamsView(spmv)
    view.handle({"kind": "step", "cycle": 5, "node": 4})
    spmv.select_node(7)
    assert json.loads(view.story)["node"] == view.selected == 7
    assert spmv.moment == (5, -1)


def test_another_design_is_recorded_anew(spmv):
    view = StreamsView(spmv)
    view.handle({"kind": "step", "cycle": 0, "node": -1})
    before = view.view["key"]
    spmv.set_machine("hbm2")
    assert view.view["key"] != before
    assert view.view["outline"]["machine"] == "hbm2"
    spmv.undo()
    assert view.view["key"] == before


def test_another_region_begins_at_its_start():
    session = Session("gcn", "karate")
    session.step_to(40, 3)
    session.select_region(1)
    assert session.moment == (0, -1)
    session.step_to(7, 2)
    session.preset("full")
    assert session.moment == (0, -1)
    session.step_to(-1, -1)
    session.preset("partial")
    assert session.moment == (-1, -1)


def test_only_while_somebody_looks(spmv):
    view = StreamsView(spmv)
    view.handle({"kind": "step", "cycle": 0, "node": -1})
    view.handle({"kind": "step", "cycle": -1, "node": -1})
    before = view.drawn
    spmv.set_machine("hbm2")
    assert view.drawn == before
    assert not view.busy


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "step", "cycle": "0", "node": 1},
        {"kind": "step", "cycle": 1 << 40, "node": 1},
        {"kind": "step", "cycle": 0, "node": -7},
        {"kind": "step"},
        {"kind": "other", "cycle": 0, "node": 0},
    ],
)
def test_what_is_no_request_is_not_answered(spmv, request_):
    view = StreamsView(spmv)
    view.receive(request_)
    assert spmv.moment == (-1, -1)


def test_a_graph_and_its_data_alone(spmv):
    view = streams(spmv.current.graph, spmv.built.data)
    assert view.view["outline"]["cycles"] == 38
    view.handle({"kind": "step", "cycle": 12, "node": 3})
    assert json.loads(view.story)["node"] == view.selected == 3
    assert json.loads(view.chunk)["number"] == 0


def test_recording_does_not_hold_up_the_loop(spmv):
    """In a notebook the tokens come from a thread, and the answer is there before them."""

    async def work() -> list[bool]:
        view = StreamsView(spmv)
        seen = []
        view.handle({"kind": "step", "cycle": 0, "node": -1})

        def outlined() -> bool:
            seen.append(view.busy)
            return bool(view.view.get("outline"))

        await until_async(outlined, "the outline of the recording is there")
        return seen

    seen = asyncio.run(work())
    assert seen
    assert pn.state.curdoc is None
