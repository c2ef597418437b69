"""The messages of a page's process: those sent at once, and those sent later."""

from __future__ import annotations

import json

import pytest

from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.graph.sheet import sheet_of
from fuseloom_workbench.service import session_worker
from fuseloom_workbench.service.budgets import Budgets
from fuseloom_workbench.service.session_worker import QUICK, Rendering
from fuseloom_workbench.state.session import Session


def test_a_small_graph_comes_with_the_answer():
    rendering = Rendering(Session("gcn", "karate"), Budgets())
    assert sheet_of(rendering.session).seconds <= QUICK
    rendering.draw_quickly()
    parts = rendering.changes()
    assert json.loads(parts["graph"])["size"]
    assert not json.loads(parts["later"])["graph"]


@pytest.mark.deep  # takes seconds
def test_a_large_graph_comes_later(monkeypatch):
    session = Session("gpt3", "random")
    session.preset("partial")
    rendering = Rendering(session, Budgets())
    monkeypatch.setattr(session_worker, "QUICK", sheet_of(session).seconds / 2)
    rendering.draw_quickly()
    assert rendering.later.get("graph", session) is None
    assert json.loads(rendering.changes()["later"])["graph"]


def test_a_drawing_that_was_cancelled_is_not_made():
    session = Session("gcn", "karate")
    rendering = Rendering(session, Budgets())
    session.stop_drawing(sheet_of(session).key)
    assert graph.stopped(session)
    rendering.draw_quickly()
    assert rendering.later.get("graph", session) is None


@pytest.mark.parametrize("name", ["graph", "orders", "prices", "why"])
def test_what_comes_later_changes_no_other_part(name):
    """So that it is all that has to be made and sent when it comes."""
    rendering = Rendering(Session("spmm", "random"), Budgets())
    rendering.changes()
    rendering.make(name)
    assert json.loads(rendering.later_changes()["later"])[name] is False
    assert rendering.changes() == {}
