"""One page and the hub: requests in order, limits, newer requests, deaths."""

from __future__ import annotations

import os
import signal
import time

from engine.dataflow.sim.program_runs import simulate
from workbench.session import Session
from workbench.views import LATER, PARTS

from .conftest import SLOW, workers


def test_a_page_begins_with_everything(page):
    assert set(page.parts) >= {*PARTS, *LATER}
    assert "<svg" in page.part("graph")["svg"]
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
    assert len(page.part("runs")["runs"]) == 1


def test_what_takes_too_long_is_ended_and_the_design_stays(page):
    page.ask("add_boundary", 2)
    before = page.parts["chain"]
    started = time.monotonic()
    page.tell("set_schedule", SLOW, topic="text")
    page.until(lambda: page.refusals)
    assert "takes more than 4 s of CPU time; the design is as before" in page.refusals[0]
    assert time.monotonic() - started < 40
    assert page.parts["chain"] == before
    page.ask("add_boundary", 6)
    assert len(page.regions) == 4


def test_a_newer_request_ends_one_that_takes_long(page):
    page.tell("set_schedule", SLOW)
    time.sleep(1.5)
    page.tell("preset", "full")
    page.until(lambda: page.regions == ["T1..Y"])
    assert page.refusals == ["given up for a newer request; the design is as before"]


def test_a_killed_seat_is_replaced(page):
    page.ask("move_boundary", 4, 3)
    page.simulate()
    os.kill(page.client._seat.pid, signal.SIGKILL)
    page.ask("add_boundary", 6)
    assert page.part("chain")["units"][0]["region"] == 0
    assert page.regions == ["T1..T3", "H..T6", "T7..Y"]
    assert len(page.part("runs")["runs"]) == 1  # its runs are still there
    page.ask("undo")
    page.ask("undo")
    assert page.regions == ["T1..H", "T5..Y"]


def test_a_seat_killed_at_work_is_told_at_once(page):
    page.tell("set_schedule", SLOW)
    page.until(lambda: page.client._seat is not None and page.client._seat.pid and page.client.busy)
    time.sleep(0.3)
    killed = time.monotonic()
    os.kill(page.client._seat.pid, signal.SIGKILL)
    page.until(lambda: page.refusals)
    assert time.monotonic() - killed < 5
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
    large.tell("set_schedule", "fuse T1..Y; parallel i by 64")
    large.until(lambda: large.part("later")["graph"] or large.refusals)
    other.ask("move_boundary", 4, 3)
    other.until(lambda: not other.part("later")["graph"])
    assert other.part("graph")["name"] == "T1..T3"
    large.until(lambda: not large.part("later")["graph"])
    assert large.part("graph")["svg"] or large.part("graph")["problem"]
    large.ask("preset", "full")
    large.until(lambda: not large.part("later")["graph"])
    assert "<svg" in large.part("graph")["svg"]


def test_idle_pages_give_their_seats_to_others(pages, hub):
    opened = [pages() for _ in range(5)]
    for k, one in enumerate(opened):
        one.ask("move_boundary", 4, 1 + k % 3)
        assert sum(c.seated for c in hub.clients) <= hub.budgets.workers
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
    assert one.client._seat is not None
    pid = one.client._seat.pid
    one.close()
    until = time.monotonic() + 10
    while pid in {p.pid for p in workers()}:
        assert time.monotonic() < until, before
        time.sleep(0.05)
