"""A better schedule for a design: found in a worker, taken over by the session."""

from __future__ import annotations

import asyncio

import pytest

from fuseloom.dataflow.space.requirements import Requirements
from fuseloom.errors import FuseloomError
from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.search import searching as search
from fuseloom_workbench.search.search_panel import SearchPanel
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings, lanes_of
from fuseloom_workbench.state.design import build
from fuseloom_workbench.state.edits import with_schedule
from fuseloom_workbench.state.session import Session
from tests.waiting import until_async
from tests.workbench.jobs import alone


def answers(session: Session, **wishes) -> list[tuple]:
    sent: list[tuple] = []
    settings = SearchSettings(**{"seconds": 1.0, **wishes})
    search.answer(SearchRequest(session.design, settings), sent.append)
    return sent


def test_what_is_found_is_better_and_simulated():
    session = Session("spmm", "random", schedule="order T: i,j,k")
    sent = answers(session)
    kinds = [message[0] for message in sent]
    assert kinds[0] == "progress"
    assert kinds[-1] == "done"
    assert kinds.count("found") == 1
    shares = [message[1] for message in sent if message[0] == "progress"]
    assert all(0 <= share <= 1 for share in shares)
    (_, schedule, told) = next(message for message in sent if message[0] == "found")
    assert "Undo goes back. None" in told
    before = session.estimate.cycles
    assert session.take(session.built.problem, schedule, told)
    assert session.message == told
    record = sent[-1][1]
    assert record["cycles"] < before
    session.undo()
    assert session.estimate.cycles == before


@pytest.mark.parametrize(
    ("wishes", "value", "bound", "told"),
    [
        ({}, 100.0, 100.0, "None of those searched takes fewer, that is proved."),
        ({}, 100.0, 80.0, "None of those searched takes fewer than 80 cycles, that is proved: at "
         "most 20% fewer."),
        ({}, 100.0, 0.0, "How much better another one could be is not proved here."),
        ({}, 0.0, 0.0, "None of those searched takes fewer, that is proved."),
        ({"objective": "energy"}, 2.5e-8, 2e-8, "None of those searched takes less than 2e-8 J, "
         "that is proved: at most 20% less."),
        ({"objective": "time", "rules": ("keep T",)}, 1e-6, 1e-6, "None of those searched that "
         "keep the rules takes less time, that is proved."),
        ({"area": 9e3, "rules": ("keep T",)}, 100.0, 100.0, "None of those searched that keep the "
         "budget and the rules takes fewer, that is proved."),
        ({"objective": "area"}, 1e4, 9e3, "None of those searched takes fewer than 9,000 LUTs, "
         "that is proved: at most 10% fewer."),
        ({"objective": "edp"}, 1e-4, 1e-4, "None of those searched takes less energy times time, "
         "that is proved."),
    ],
)  # fmt: skip
def test_what_is_proved_is_said_of_what_was_searched(wishes, value, bound, told):
    assert search.proved(value, bound, SearchSettings(**wishes)) == told


def test_a_rule_is_kept():
    session = Session("gcn", "karate")
    rules = ("split T1 T2", "order i")
    sent = answers(session, rules=rules, seconds=5.0)
    (schedule,) = (message[1] for message in sent if message[0] == "found")
    assert session.set_schedule(schedule)
    assert Requirements(rules, session.built.program).keeps(session.compilation)
    session.preset("full")
    assert not Requirements(rules, session.built.program).keeps(session.compilation)


def test_a_found_design_is_taken_over_as_it_was_searched():
    session = Session("spmm", "random")
    panel = SearchPanel(session)
    values = {"objective": "area", "strategy": "exhaustive", "seconds": "600"}
    alone(lambda: panel.handle({"kind": "start", "values": values}))
    assert session.record is not None, panel.runner.status
    assert session.design.as_written
    assert session.record.searched
    best = panel.view["searched"]["bests"][0]
    assert session.record.run.area.luts == pytest.approx(best["value"])
    session.undo()
    panel.handle({"kind": "take", "schedule": best["schedule"]})
    assert session.design.as_written
    assert session.record.run.area.luts == pytest.approx(best["value"])
    panel.handle({"kind": "why", "text": ""})
    assert not panel.view["verdict"]["searched"], "cycles are not compared with lookup tables"


def test_on_a_machine_that_copies_the_reference_nothing_is_proved():
    session = Session("spmv", "random")
    session.set_machine("comal")
    (told,) = (message[2] for message in answers(session) if message[0] == "found")
    assert told.endswith("is not proved here.")


def test_the_best_stays():
    session = Session("spmm", "random", schedule="order T: i,j,k")
    for expected in ("was found; Undo", "This schedule is the best"):
        found = next(message for message in answers(session) if message[0] == "found")
        assert expected in found[2]
        session.take(session.built.problem, *found[1:])
    assert session.travels == (True, False)


def test_blocks_lanes_edits_and_machines_stay():
    session = Session("gcn", "karate", schedule="parallel i by 2; strict on")
    session.set_machine("hbm2")
    assert lanes_of(session.design) == 2
    made = with_schedule(session.design, "fuse T1..H; parallel T1..H: i by 2; strict on")
    assert made.machine == session.machine
    assert lanes_of(made) == 2
    assert build(made).configuration != session.configuration


def test_an_answer_to_what_is_not_shown_any_more_is_refused():
    session = Session("spmv", "random")
    problem = session.built.problem
    session.choose("spmm")
    before = session.design
    assert not session.take(problem, "order y: i,j", "better")
    assert "not shown any more" in session.message
    assert session.design == before


def test_a_search_that_is_refused_says_why(monkeypatch):
    def refuse(*given, **more):
        raise FuseloomError("no schedule fits", hint="more lanes")

    monkeypatch.setattr(search, "autoschedule", refuse)
    assert answers(Session("spmv", "random"))[-1] == (
        "refused",
        "no schedule fits (hint: more lanes)",
    )


def test_the_panel_searches_and_can_be_cancelled():
    session = Session("spmv", "random", schedule="locate off")
    panel = RunPanel(session)
    before = session.answers
    alone(lambda: panel.handle({"kind": "search"}))
    assert session.record is not None, panel.runner.status
    assert session.record.run.ok
    assert session.answers > before
    assert panel.runner.found is not None

    async def scenario():
        panel.runner.found = None
        running = asyncio.create_task(panel.backend._search())
        searching = lambda: running.done() or "searching" in panel.runner.status  # noqa: E731
        await until_async(searching, "the search begins")
        assert not running.done(), panel.runner.status
        panel.handle({"kind": "cancel"})
        await running

    alone(scenario())
    assert panel.runner.status == "cancelled"
    assert panel.runner.found is None
