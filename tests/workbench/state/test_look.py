"""The view of a session: it changes no design, and shows nothing that does not exist."""

from __future__ import annotations

import pytest

from fuseloom_workbench.state.look import Window


def test_looking_changes_no_design(session):
    before = session.design, session.built, session.answers
    session.select_region(1)
    session.select_node(3)
    session.draw_framed(True)
    session.draw_towards("TB")
    session.fold({"k:T2": True})
    session.compare_graph("global")
    session.look_into(Window("window", 1, 0, 10))
    assert (session.design, session.built, session.answers) == before
    assert (session.region, session.node, session.clusters) == (1, 3, True)


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_a_region_that_is_not_there_is_not_shown(session, number):
    session.select_node(3)
    session.select_region(number)
    assert (session.region, session.node) == (0, 3)


def test_another_region_has_nothing_selected(session):
    session.select_cell("T1", "i")
    session.select_region(1)
    assert (session.cell, session.node) == (("", ""), -1)
