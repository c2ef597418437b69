"""Questions: why a schedule is not the best, what is wrong with a text; nothing changes."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.explain.data import PAGE
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.exploration.verdict import ScheduleFate
from fuseloom_workbench.state import commands
from fuseloom_workbench.state.answered import digest
from fuseloom_workbench.state.records import source_of
from fuseloom_workbench.state.session import Session


@pytest.fixture
def session():
    return Session("spmm", "random")


def why(session, text="", best=0, lanes=0, copies=0, kept=""):
    commands.carry_out(session, "why_not", [text, best, lanes, copies, kept])
    return session.verdict


def test_the_rule_or_the_number_that_decides_is_told(session):
    before, least = session.built, session.estimate.regions[0].least
    assert why(session)["fate"] == "unknown"
    told = why(session, best=least / 2, lanes=1)
    assert told["fate"] == ScheduleFate.BOUNDED.value
    assert f"{least:,.0f} cycles" in told["text"]
    assert (told["outside"], told["from"]) == ([], "the search")
    told = why(session, text="order T: i,j,k", best=session.estimate.cycles, lanes=1)
    assert told["fate"] in (ScheduleFate.BOUNDED.value, ScheduleFate.ESTIMATED.value)
    assert why(session, text="fuse Q..R", best=9.0, lanes=1)["fate"] == ScheduleFate.REFUSED.value
    assert why(session, text="x" * 200_000, best=9.0, lanes=1)["fate"] == ScheduleFate.REFUSED.value
    told = why(session, text="parallel i by 2", best=9.0, lanes=1)
    assert "2 lanes" in told["outside"][0]
    assert session.built is before


def test_a_run_decides_and_is_compared_with_where_nothing_was_searched(session):
    built = session.built
    run = simulate(built.compilation, built.data, built.design.machine)
    session.finish(built, program_record(run, run.check(), PAGE, source_of(built)))
    told = why(session)
    assert (told["fate"], told["from"]) == (ScheduleFate.EQUAL.value, "the runs of this page")
    assert told["cycles"] == f"{run.cycles:,} cycles"
    assert why(session, best=run.cycles + 1, lanes=1)["fate"] == ScheduleFate.BETTER.value


def test_what_was_found_is_taken_for_the_same_problem_only(session):
    problem = digest(session.built.problem)
    commands.carry_out(session, "take_found", [problem, "order T: i,j,k", True])
    assert session.ok
    assert session.built.region_order(0) == ("i", "j", "k")
    assert "Undo goes back" in session.message
    assert session.design.as_written
    session.set_machine("hbm2")
    before = session.design
    commands.carry_out(session, "take_found", [problem, "", False])
    assert not session.ok
    assert session.design == before


def test_a_text_is_checked_as_it_is_written(session):
    before, answers = session.built, session.answers
    text = str(session.built.program)
    commands.carry_out(session, "check", ["program", text, 1])
    assert session.checked == {"what": "program", "number": 1, "ok": True, "message": ""}
    commands.carry_out(
        session, "check", ["program", text.replace("T[i,j] =", "T[i,j] = Z[i] *"), 2]
    )
    line = text.splitlines()[session.checked["line"] - 1]
    assert line.startswith("T[i,j]")
    assert session.checked["column"] == line.index("=") + 3
    assert not session.checked["ok"]
    commands.carry_out(session, "check", ["schedule", "fuse", 3])
    assert (session.checked["ok"], session.checked["line"]) == (False, 1)
    commands.carry_out(session, "check", ["program", "(" * 50_000, 4])
    assert not session.checked["ok"]
    assert (session.built, session.answers) == (before, answers)
