"""One page and the supervisor: requests in order, limits, newer requests, deaths."""

from __future__ import annotations

import base64
import json
import os
import signal

import numpy as np

from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom_workbench.service.workers import Ended
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.views import LATER, PARTS
from tests.waiting import until
from tests.workbench.input.files import market

from .conftest import SLOW, workers


def test_a_page_begins_with_everything(page):
    assert set(page.parts) >= {*PARTS, *LATER} - {"streams"}  # nobody steps through a run
    assert page.part("graph")["places"]
    assert page.part("orders")["ready"]


def test_answers_are_those_of_a_session(page):
    session = Session("gcn", "karate")
    for name, arguments in (
        ("move_boundary", [4, 3]),
        ("set_order", [0, ["i", "k", "p", "n"]]),
        ("move_row", ["n", 0]),
        ("set_machine", ["hbm2"]),
        ("undo", []),
        ("preset", ["full"]),
        ("choose", ["attention"]),
    ):
        page.ask(name, *arguments)
        getattr(session, name)(*arguments)
        assert page.part("chain") == PARTS["chain"](session)
        assert page.part("table") == PARTS["table"](session)
        assert page.part("status") == PARTS["status"](session) | {
            "answers": page.part("status")["answers"]
        }
    page.until(lambda: not page.part("later")["graph"] and not page.part("later")["orders"])
    assert page.part("graph")["name"] == page.part("table")["name"] == page.part("orders")["name"]


def test_requests_are_carried_out_in_order(page):
    for name, arguments in (
        ("preset", ["unfused"]), ("preset", ["full"]), ("add_boundary", [2]), ("add_boundary", [5]),
    ):  # fmt: skip
        page.tell(name, *arguments)
    page.until(lambda: len(page.regions) == 3 and page.still())
    assert not page.refusals


def test_a_run_gives_the_cycles_and_is_kept(page):
    page.ask("move_boundary", 4, 2)
    page.simulate()
    session = Session("gcn", "karate")
    session.set_cuts([2])
    run = simulate(session.compilation, session.built.data, session.machine)
    result = page.part("run")["result"]
    assert result["cycles"] == f"{run.cycles:,} cycles"
    assert not result["stale"]
    assert page.part("path")["path"]  # small ones are explained at once
    assert len(page.part("costs")["runs"]) == 1


def test_what_takes_too_long_is_ended_and_the_design_stays(page):
    page.ask("add_boundary", 2)
    before = page.parts["chain"]
    page.tell("set_schedule", SLOW, topic="text")
    page.until(lambda: page.refusals)
    assert "takes more than 6 s of CPU time; the design is as before" in page.refusals[0]
    assert page.parts["chain"] == before
    page.ask("add_boundary", 6)
    assert len(page.regions) == 4


def test_a_newer_request_ends_one_that_takes_long(page):
    page.tell("set_schedule", SLOW)
    page.until_at_work()
    page.tell("preset", "full")
    page.until(lambda: page.regions == ["T1..Y"])
    assert page.refusals == ["given up for a newer request; the design is as before"]


def test_a_killed_session_worker_is_replaced(page):
    page.ask("move_boundary", 4, 3)
    page.simulate()
    pid = page.client.pid
    os.kill(pid, signal.SIGKILL)
    # An edit that reaches a process while it dies is told as one that ended with it.
    until(lambda: pid not in {p.pid for p in workers()}, "the process is dead")
    page.ask("add_boundary", 6)
    assert page.part("chain")["units"][0]["region"] == 0
    assert page.regions == ["T1..T3", "H..T6", "T7..Y"]
    assert len(page.part("costs")["runs"]) == 1  # its runs are still there
    page.ask("undo")
    page.ask("undo")
    assert page.regions == ["T1..H", "T5..Y"]


def test_a_session_worker_that_died_before_is_replaced_however_late_that_is_heard(page):
    """On a loaded machine the fork server, which says that a process has ended, comes late."""
    page.ask("move_boundary", 4, 3)
    fork_server = page.supervisor.forks.pid
    os.kill(fork_server, signal.SIGSTOP)
    try:
        pid = page.client.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: pid not in {p.pid for p in workers()}, "the process is dead")
        page.tell("add_boundary", 6)
        page.until(lambda: page.client.busy)
    finally:
        os.kill(fork_server, signal.SIGCONT)
    page.until(lambda: page.still() and page.regions == ["T1..T3", "H..T6", "T7..Y"])
    assert not page.refusals


def test_a_session_worker_killed_at_work_is_told_at_once(page):
    page.tell("set_schedule", SLOW)
    page.until_at_work()
    os.kill(page.client.pid, signal.SIGKILL)
    page.until(lambda: page.refusals)
    assert "stopped (it was ended); the design is as before" in page.refusals[0]


def test_memory_is_limited(page):
    page.ask("set_program", "A: 12000x12000 csr\nx: 12000 dense\ny[i] = A[i,j] * x[j]")
    said = page.message + str(page.refusals)
    assert "needs more memory than a session may use here" in said or "s of CPU time" in said
    page.ask("preset", "full")
    assert page.regions == ["T1..Y"]


def test_too_many_requests_are_not_kept(page):
    for _ in range(40):
        page.tell("undo")
    page.until(page.still)
    page.until(lambda: "given up: too many newer requests came" in page.refusals)


def test_a_large_graph_does_not_hold_anybody_up(pages):
    large, other = pages(), pages()
    large.ask(
        "fold", {f"k:{name}": False for name in ("T1", "T2", "T3", "H", "T5", "T6", "T7", "x")}
    )
    large.tell("set_schedule", "fuse T1..Y; parallel i by 4")
    large.until(lambda: large.part("later")["graph"] or large.refusals)
    other.ask("move_boundary", 4, 3)
    other.until(lambda: not other.part("later")["graph"])
    assert other.part("graph")["name"] == "T1..T3"
    large.until(lambda: not large.part("later")["graph"])
    assert large.part("graph")["places"] or large.part("graph")["problem"]
    large.ask("preset", "full")
    large.until(lambda: not large.part("later")["graph"])
    assert len(large.part("graph")["places"]) == 76


def test_idle_pages_give_their_seats_to_others(pages, supervisor):
    opened = [pages() for _ in range(5)]
    for k, one in enumerate(opened):
        one.ask("move_boundary", 4, 1 + k % 3)
        assert sum(c.has_worker for c in supervisor.clients) <= supervisor.budgets.workers
    for one in opened:
        one.ask("add_boundary", 7)
        assert len(one.regions) == 3


def test_a_closed_page_leaves_no_process(pages):
    one = pages()
    one.ask("preset", "full")
    one.start_run()
    one.tell("set_schedule", SLOW)
    one.until(lambda: one.client.busy)
    before = {p.pid for p in workers()}
    pid = one.client.pid
    assert pid
    one.close()
    until(lambda: pid not in {p.pid for p in workers()}, f"{pid} of {before} has ended")


def test_a_fault_in_the_server_leaves_no_page_without_an_answer(page, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(page.client, "_question", fail)
    page.ask("move_boundary", 4, 3)
    assert page.refusals == ["the server failed at this; the design is as before"]
    monkeypatch.undo()
    page.ask("move_boundary", 4, 2)
    assert page.regions == ["T1..T2", "T3..Y"]


def test_a_run_that_cannot_begin_is_over(page, monkeypatch):
    async def never(*_):
        raise Ended("it could not be started")

    monkeypatch.setattr(page.supervisor, "fork", never)
    page.start_run()
    page.until(lambda: page.run.get("running") is False)
    assert page.run["failed"]
    assert page.run["status"] == "it could not be started"
    monkeypatch.undo()
    page.simulate()
    assert page.part("run")["result"]["cycles"]


def test_a_simulator_for_a_run_that_was_cancelled_serves_no_other(page):
    """Run, cancel, another design, Run: the first process may come only then."""
    for to in (3, 2, 5):
        (gap,) = [k for k in range(1, 8) if page.part("chain")["units"][k]["region"] == 1][:1]
        page.start_run()
        page.supervisor.call(page.client.cancel)
        page.tell("move_boundary", gap, to)
        page.start_run()
        page.until(lambda: page.run.get("running") is False and page.run["status"] == "done")
        page.until(page.still)
        assert not page.part("run")["result"]["stale"]
        assert len(page.part("chain")["regions"]) == 2


def test_many_seats_leave_no_open_file(page):
    page.ask("preset", "full")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(4):
        page.start_run()
        page.supervisor.call(page.client.cancel)
        page.supervisor.call(page.client.release)
        page.ask("undo")
        page.ask("redo")
    page.until(lambda: len(os.listdir("/proc/self/fd")) <= before)


def test_a_better_schedule_is_found_shown_and_can_be_undone(page):
    page.ask("choose", "spmm")
    page.ask("set_schedule", "order T: i,j,k")
    page.run = {}
    settings = {"strategy": "auto", "gap": 1.0, "seconds": 5}
    page.supervisor.call(lambda: page.client.run(explain=False, search=True, settings=settings))
    page.until(lambda: page.run.get("running") is False and page.still())
    assert not page.run["failed"], page.run
    assert "was found; Undo goes back" in page.message
    assert any("searching" in state for state in page.states)
    told = [one["run"]["searched"] for one in page.news if "searched" in one.get("run", {})]
    assert told[-1]["over"]
    assert told[-1]["wishes"]["gap"] == 1.0
    assert told[-1]["problem"] == page.part("search")["problem"]
    assert told[-1]["bests"][0]["schedule"]
    result = page.part("run")["result"]
    assert not result["stale"]
    (run,) = page.part("costs")["runs"]
    assert (run["kind"], run["basis"]) == ("searched", "exact")
    found = page.part("schedule")["text"]
    page.ask("undo")
    assert page.part("schedule")["text"] != found
    assert page.part("run")["result"]["stale"]


def test_a_search_can_be_cancelled(page):
    page.run = {}
    page.supervisor.call(lambda: page.client.run(explain=False, search=True))
    page.until(lambda: "searching" in page.run.get("status", ""))
    before = page.parts["schedule"]
    page.supervisor.call(page.client.cancel)
    page.until(lambda: page.run.get("running") is False)
    assert page.run["status"] == "cancelled"
    page.ask("select_region", 0)
    assert page.parts["schedule"] == before


def test_a_run_to_step_through_comes_later_in_two_parts(page):
    page.ask("choose", "spmv")
    assert "streams" not in page.parts
    page.ask("step_to", 12, 4)
    page.until(lambda: "streams_chunk" in page.parts and not page.part("later")["streams"])
    seen = [json.loads(n["parts"]["streams"]) for n in page.news if "streams" in n.get("parts", {})]
    assert [bool(one["outline"]) for one in seen][-1]
    assert seen[-1]["outline"]["cycles"] == 38
    assert "<svg" in seen[-1]["svg"]
    assert page.part("streams_story")["node"] == 4
    assert page.part("selection")["node"] == 4
    known = page.parts["streams"]
    page.ask("step_to", 20, 6)
    assert page.part("streams_story")["node"] == 6
    assert page.parts["streams"] is known
    page.ask("set_machine", "hbm2")
    page.until(lambda: page.part("streams")["key"] != json.loads(known)["key"])
    page.until(lambda: not page.part("later")["streams"])
    assert page.part("streams")["outline"]["machine"] == "hbm2"
    page.ask("step_to", -1, -1)
    before = page.parts["streams"]
    page.ask("undo")
    assert page.still()
    assert page.parts["streams"] is before


def test_a_recording_that_takes_too_long_says_so(page):
    page.ask("preset", "full")
    page.ask("step_to", 0, -1)
    page.until(lambda: "streams" in page.parts and not page.part("later")["streams"])
    shown = page.part("streams")
    assert shown["outline"] or "took more than 4 s and was given up" in shown["problem"]
    page.ask("preset", "partial")
    assert not page.refusals


def test_a_file_goes_to_the_session_in_parts_and_outlives_its_process(page):
    matrix = np.zeros((16, 4), np.float32)
    matrix[5, 3] = 2
    content = market(matrix)
    page.ask("upload_begin", 1, "mine.mtx", len(content))
    assert page.part("upload")["received"]["state"] == "coming"
    half = len(content) // 2
    for at, some in ((0, content[:half]), (half, content[half:])):
        page.ask("upload_part", 1, at, base64.b64encode(some).decode())
    assert page.part("upload")["received"]["state"] == "done"
    bound = [{"tensor": "W2", "label": "mine.mtx", "used": True}]
    assert page.part("upload")["bound"] == bound
    page.supervisor.call(lambda: page.client.release())
    page.ask("add_boundary", 2)
    assert page.part("upload")["bound"] == bound, "another process has it, too"
    page.ask("upload_begin", 2, "a.pkl", 3)
    page.ask("upload_part", 2, 0, base64.b64encode(b"\x80\x04x").decode())
    assert "never read" in page.message
    page.ask("check", "program", "A: 3x", 1)
    assert not page.part("checked")["ok"]
