"""The Search tab: what a search finds is shown while it goes on, kept, taken over, asked about."""

from __future__ import annotations

import asyncio

from fuseloom_workbench.search import searching
from fuseloom_workbench.search.search_panel import SearchPanel
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings
from fuseloom_workbench.state.session import Session
from tests.waiting import until_async
from tests.workbench.jobs import alone


def states(session: Session, **wishes) -> list[dict]:
    sent: list[tuple] = []
    searching.answer(SearchRequest(session.design, SearchSettings(**wishes)), sent.append)
    return [message[1] for message in sent if message[0] == "searched"]


def test_a_search_tells_curve_space_and_funnel():
    session = Session("spmm", "random", schedule="order T: i,j,k")
    told = states(session, strategy="exhaustive", seconds=30.0)
    last = told[-1]
    assert last["over"]
    assert last["told"] == "None of those searched takes fewer, that is proved."
    cycles, bound = last["points"][-1][2:]
    assert cycles == bound == last["bests"][0]["cycles"]
    assert last["space"]["exact"]
    assert int(last["space"]["text"].replace(",", "")) > 1
    names = {row["name"]: row["count"] for row in last["funnel"]}
    assert names["simulated"] >= 1
    assert names["looked at"] >= names["simulated"]


def test_a_rule_about_what_there_is_not_is_told_at_its_field():
    session = Session("spmm", "random")
    panel = SearchPanel(session)
    alone(lambda: panel.handle({"kind": "start", "values": {"rules": "keep T\nsplit T Z"}}))
    wrong = panel.view["wrong"]
    assert wrong["field"] == "rules"
    assert "T is a result of the program" in wrong["message"]
    assert panel.view["failed"]
    panel.handle({"kind": "start", "values": {"rules": "melt T"}})
    assert panel.view["wrong"]["message"].startswith("'melt T' is none")


def test_schedules_are_drawn_at_random_with_a_floor_beneath():
    session = Session("spmm", "random")
    last = states(session, strategy="random", runs=3, seconds=30.0)[-1]
    names = {row["name"]: row["count"] for row in last["funnel"]}
    assert names["simulated"] == 3
    assert names["drawn"] >= 1
    best, bound = last["points"][-1][2:]
    assert 0 < bound <= best
    assert session.set_schedule(last["bests"][0]["schedule"])


def test_cancel_keeps_what_was_found_and_a_click_loads_it():
    session = Session("gcn", "karate", schedule="")
    panel = SearchPanel(session)
    panel.handle({"kind": "start", "values": {"gap": "200"}})
    assert panel.view["wrong"] == {
        "field": "gap", "message": "200 is out of bounds (hint: 0 to 99 %)"}  # fmt: skip

    async def scenario():
        running = asyncio.create_task(
            panel.backend._search(SearchSettings(gap=0.0, seconds=60.0).to_dict())
        )
        await until_async(
            lambda: running.done() or panel.runner.searched.get("bests"), "a schedule is found"
        )
        assert not running.done(), panel.runner.status
        panel.handle({"kind": "cancel"})
        await running

    alone(scenario())
    assert panel.view["status"] == "cancelled"
    found = panel.view["searched"]
    assert found["problem"] == panel.view["problem"]
    panel.handle({"kind": "why", "text": ""})
    assert panel.view["verdict"]["searched"]
    assert panel.view["verdict"]["best"] == f"{found['bests'][0]['cycles']:,.0f} cycles"
    panel.handle({"kind": "take", "schedule": found["bests"][0]["schedule"]})
    assert session.ok, session.message
    assert session.travels == (True, False)
    assert panel.view["old"], "the answer was about the design before"
    for odd in ({"kind": "take", "schedule": 7}, {"kind": "start", "values": []}, {"kind": "why"}):
        panel.handle(odd)
    assert session.ok


def test_a_machine_is_searched_and_taken_over_with_its_schedule():
    session = Session("spmv", "random")
    session.set_machine("hbm2")
    panel = SearchPanel(session)
    before = session.design

    def start(**values):
        asked = {"objective": "edp", "strategy": "exhaustive", "seconds": "600", **values}
        alone(lambda: panel.handle({"kind": "start", "values": asked}))

    start(parameters={"memory.channels": "2, 3"})
    assert panel.view["wrong"]["field"] == "memory.channels"
    assert "power of two" in panel.view["wrong"]["message"]
    assert not panel.view["searched"], "it was not begun"
    many = ", ".join(map(str, range(60)))
    start(parameters={"channel_capacity": many})
    assert panel.view["wrong"]["field"] == "channel_capacity", "told by the worker"
    start(parameters={"channel_capacity": many, "alu_latency": many})
    assert panel.view["wrong"]["message"] == "3,600 machines (hint: at most 1,000)"
    start(parameters={"memory.channels": "1, 2"}, lanes="1, 2")
    assert not panel.view["wrong"], panel.view["wrong"]
    found = panel.view["searched"]
    assert found["over"]
    assert session.design == before
    panel.handle({"kind": "use", "number": len(found["bests"])})
    panel.handle({"kind": "use", "number": -1})
    assert session.design == before
    panel.handle({"kind": "use", "number": 0})
    best = found["bests"][0]
    assert session.ok, session.message
    assert session.machine.memory.channels == best["machine"]["settings"]["memory.channels"]
    assert panel.view["problem"] == best["machine"]["problem"]
    assert session.design.as_written
    session.undo()
    assert session.design == before, "machine and schedule are one step"
    session.redo()
    if len(found["bests"]) > 1:
        panel.handle({"kind": "use", "number": 1})
        assert panel.view["problem"] == found["bests"][1]["machine"]["problem"]
    panel.handle({"kind": "why", "text": ""})
    assert not panel.view["verdict"].get("searched")
    session.choose("spmm")
    shown = session.design
    panel.handle({"kind": "use", "number": 0})
    assert session.design == shown, "it was found for another program"


def test_values_as_on_the_machine_shown_are_a_search_as_ever():
    session = Session("spmv", "random")
    panel = SearchPanel(session)
    values = {"parameters": {"alu_latency": "1"}, "strategy": "exhaustive", "seconds": "600"}
    alone(lambda: panel.handle({"kind": "start", "values": values}))
    assert session.record is not None, panel.runner.status
    assert not panel.view["searched"]["wishes"]["parameters"]
    assert "machine" not in panel.view["searched"]["bests"][0]
