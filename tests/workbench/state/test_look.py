"""The view of a session: it changes no design, and shows nothing that does not exist."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.why.spots import spots
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


def test_a_kernel_is_selected_with_its_region_and_again_not(session):
    before = session.design, session.answers
    session.select_node(3)
    session.select_kernel(5)
    assert (session.kernel, session.region, session.node) == (5, 1, -1)
    assert session.statements == session.built.units[5].statements
    session.select_kernel(5)
    assert session.statements == ()
    assert (session.design, session.answers) == before


@pytest.mark.parametrize("number", [-1, 8, 99])
def test_a_kernel_that_is_not_there_is_not_selected(session, number):
    session.select_kernel(2)
    session.select_kernel(number)
    assert session.kernel == -1


def test_whatever_is_selected_names_its_statements(session):
    for node, spot in enumerate(spots(session.current)):
        session.select_node(node)
        assert session.statements == (spot.statement,)
    for column in session.current.table.columns:
        session.select_cell(column.name, "i")
        assert session.statements
    session.select_kernel(1)
    session.select_region(1)
    assert session.kernel == -1
    session.select_kernel(1)
    session.add_boundary(1)
    assert session.kernel == -1, "of another design it may be another kernel"
