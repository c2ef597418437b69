"""The design that a session is compared with: what it can be, and what it follows."""

from __future__ import annotations

import pytest

from fuseloom_workbench.state.beside import beside, choices, compare, load_beside
from fuseloom_workbench.state.commands import COMMANDS, LOOKS, carry_out
from fuseloom_workbench.state.session import Session
from tests.workbench.outcomes import outcome


def compared(session: Session, key: str) -> Session:
    compare(session, key)
    other = beside(session)
    assert other is not None
    return other


def ran(session: Session) -> None:
    session.finish(session.built, outcome(session=session))


def test_nothing_is_compared_at_first():
    assert beside(Session("gcn", "karate")) is None


@pytest.mark.parametrize("name", ["unfused", "full"])
def test_a_preset_is_built_for_the_data_and_machine_shown(name):
    session = Session("gcn", "karate")
    other = compared(session, f"preset {name}")
    alone = Session("gcn", "karate")
    alone.preset(name)
    assert other.configuration == alone.configuration
    assert session.set_machine("hbm2")
    again = beside(session)
    assert again is not None
    assert again.machine.name == "hbm2"
    assert again.built.preset_name == name


def test_the_usual_choice_is_the_pinned_run_then_the_step_before_then_a_preset():
    session = Session("gcn", "karate")
    compare(session, "usual")
    assert session.comparand.key == "preset unfused"
    cuts = session.cuts
    session.add_boundary(2)
    compare(session, "usual")
    assert session.comparand.key == "before"
    assert beside(session).cuts == cuts
    ran(session)
    session.pin(0)
    session.preset("full")
    compare(session, "usual")
    assert session.comparand.name.startswith("run A")
    assert beside(session).configuration == session.reference.configuration


def test_the_step_before_stays_what_it_was():
    session = Session("gcn", "karate")
    before = session.configuration
    session.add_boundary(2)
    compared(session, "before")
    session.add_boundary(3)
    assert beside(session).configuration == before


def test_run_a_is_whichever_is_pinned_and_its_run_is_shown():
    session = Session("gcn", "karate")
    ran(session)
    session.preset("unfused")
    ran(session)
    session.pin(0)
    first = compared(session, "A")
    assert first.record is session.reference
    session.pin(1)
    assert beside(session).configuration == session.reference.configuration
    assert beside(session).configuration != first.configuration


def test_designs_of_other_programs_or_data_are_not_compared_with():
    session = Session("gcn", "karate")
    ran(session)
    compared(session, "run 0")
    session.choose("graphsage")
    assert beside(session) is None
    assert all("run" not in choice.key for choice in choices(session))


def test_it_shows_the_region_of_what_is_shown_until_another_is_selected():
    session = Session("gcn", "karate")
    other = compared(session, "preset unfused")
    session.select_region(1)
    beside(session)
    assert other.current.name == "T5"
    carry_out(session, "look_beside", ["select_region", [0]])
    assert beside(session).current.name == "T1"
    session.select_region(0)
    assert beside(session).current.name == "T1"
    session.select_region(1)
    assert beside(session).current.name == "T5"


def test_only_looking_is_done_on_the_left():
    session = Session("gcn", "karate")
    other = compared(session, "preset unfused")
    kept = other.built
    edits = set(COMMANDS) - LOOKS - {"look_beside", "load_beside", "compare"}
    for name in sorted(edits):
        turn, answers = session.comparand.turn, other.answers
        carry_out(session, "look_beside", [name, []])
        assert other.built is kept
        assert not other.ok
        assert "Load" in other.message
        assert other.answers == answers + 1, name
        assert session.comparand.turn == turn + 1, "a page is told of it"
    assert session.ok


def test_loading_shows_the_left_design_and_undo_goes_back():
    session = Session("gcn", "karate")
    before = session.configuration
    other = compared(session, "preset full")
    load_beside(session)
    assert session.configuration == other.configuration != before
    session.undo()
    assert session.configuration == before


@pytest.mark.parametrize("key", ["run 7", "run x", "preset nothing", "A", "anything", "before"])
def test_what_is_not_offered_changes_nothing(key):
    session = Session("gcn", "karate")
    compare(session, key)
    assert session.comparand.key == ""
    carry_out(session, "look_beside", ["select_region", [0]])
    load_beside(session)
    assert session.ok
