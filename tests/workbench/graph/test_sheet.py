"""The drawing of a session, folded and compared; its text has no names."""

from __future__ import annotations

import pytest

from fuseloom_workbench.graph.folding import GroupLevel
from fuseloom_workbench.graph.sheet import sheet_of
from fuseloom_workbench.state.session import Session
from tests.workbench.outcomes import outcome


@pytest.mark.deep  # takes seconds
def test_large_graphs_fold_by_themselves_and_choices_survive_edits(session):
    assert sheet_of(session).note == ""
    session.set_schedule("fuse T1..Y; parallel i by 4")
    sheet = sheet_of(session)
    assert sheet.auto is GroupLevel.KERNEL
    assert sheet.note.startswith("292 nodes, more than 150: kernels are folded.")
    assert not sheet.folded.items
    session.fold({key: key != "k:T2" for key in sheet.drawn.net.groups})
    assert len(sheet_of(session).folded.boxes) == 7
    assert sheet_of(session).note == ""
    session.set_schedule("fuse T1..Y; parallel i by 4; locate off")
    assert [b.key for b in sheet_of(session).folded.boxes].count("k:T2") == 0
    assert len(sheet_of(session).folded.boxes) == 7


def test_the_text_names_no_nodes_and_is_made_once(session):
    sheet = sheet_of(session)
    assert sheet_of(session) is sheet
    assert sheet.dot.count("->") == len(session.current.graph.streams)
    assert "Acc1" not in sheet.dot
    session.draw_framed(True)
    assert sheet_of(session).dot.count("subgraph") >= 4
    assert sheet_of(session).key != sheet.key


def test_the_comparison_says_what_it_found_or_why_it_cannot(session):
    session.compare_graph("A")
    assert sheet_of(session).told == (
        "Nothing is compared: no run is pinned (hint: pin a run as A in the list of runs)"
    )
    session.finish(session.built, outcome(session=session))
    session.pin(0)
    assert "run A is what is shown" in sheet_of(session).told
    session.preset("full")
    assert sheet_of(session).told == (
        "Against run A (partial): 60 of 76 nodes are the same, 16 are new (+); "
        "25 of its 85 nodes are missing (−)."
    )
    session.compare_graph("global")
    assert sheet_of(session).told.startswith("Against global iteration: 56 of 76 nodes")


def test_a_drawing_can_be_asked_for_again(session):
    sheet = sheet_of(session)
    session.draw_again(sheet.key)
    session.draw_again(sheet.key)
    again = sheet_of(session)
    assert again.dot == sheet.dot + "\n// 2"
    assert again.key == sheet.key
    session.draw_framed(True)
    assert "//" not in sheet_of(session).dot


@pytest.mark.parametrize("model", ["spmv", "gpt3"])
def test_other_models_have_kernels_too(model):
    session = Session(model)
    session.draw_whole(True)
    sheet = sheet_of(session)
    assert sheet.folded.size <= 150
    assert all(item.groups for item in sheet.drawn.net.items)
