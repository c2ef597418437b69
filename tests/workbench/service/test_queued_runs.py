"""Runs of several pages: so many at once, the others in line."""

from __future__ import annotations

import os
import signal

from tests.waiting import until

from .conftest import workers


def long_run(page):
    """A design whose run takes some seconds."""
    page.ask("choose_data", "cora_ml")
    assert page.part("status")["ok"], page.message
    page.ask("preset", "full")


def test_runs_wait_in_line_and_are_told_so(pages, supervisor):
    first, second, third = pages(), pages(), pages()
    long_run(first)
    first.start_run()
    first.until(lambda: first.run.get("share", 0) > 0)
    second.start_run()
    second.until(lambda: "yours is next in line" in second.run.get("status", ""))
    assert "this server runs 1 simulation at once" in second.run["status"]
    third.start_run()
    third.until(lambda: "yours is second in line" in third.run.get("status", ""))
    assert supervisor.counts()["runs_waiting"] == 2
    second.supervisor.call(second.client.cancel)
    second.until(lambda: second.run.get("running") is False)
    assert second.run["status"] == "cancelled"
    third.until(lambda: "next in line" in third.run.get("status", ""))
    first.supervisor.call(first.client.cancel)
    third.until(lambda: third.run.get("running") is False)
    assert third.run["status"] == "done"
    assert supervisor.counts()["runs"] == 0


def test_a_run_goes_on_while_the_design_changes(page):
    long_run(page)
    page.start_run()
    page.until(lambda: page.run.get("share", 0) > 0)
    session_worker = page.client.pid
    page.ask("choose", "spmv")
    os.kill(session_worker, signal.SIGKILL)
    page.ask("undo")
    if not page.client.has_worker:  # noticed late, and refused: a busy machine
        page.ask("undo")
    assert page.run["running"]
    assert page.client.pid != session_worker
    page.supervisor.call(page.client.cancel)
    page.until(lambda: page.run.get("running") is False)


def test_cancel_ends_the_process(page):
    long_run(page)
    page.start_run()
    page.until(lambda: page.run.get("share", 0) > 0)
    pid = page.client.run_pid
    page.supervisor.call(page.client.cancel)
    until(lambda: pid not in {p.pid for p in workers()}, "the process of the run has ended")
    assert page.run["status"] == "cancelled"
    page.ask("choose", "spmv")
    page.simulate()
    assert page.run["status"] == "done"


def test_a_killed_runner_is_told(page):
    long_run(page)
    page.start_run()
    page.until(lambda: page.run.get("share", 0) > 0)
    os.kill(page.client.run_pid, signal.SIGKILL)
    page.until(lambda: page.run.get("running") is False)
    assert page.run["failed"]
    assert page.run["status"] == "the simulator stopped: it was ended"


def test_what_the_simulator_refuses_is_said(page):
    page.ask("set_machine", "comal-hbm")
    page.ask("set_schedule", "fuse T1..H; fuse T5..Y; block 2")
    page.simulate()
    assert page.run["failed"]
    assert "a memory of queues moves words, not tiles" in page.run["status"]
