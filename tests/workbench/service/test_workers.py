"""A fork server that hangs, is lost or never gets ready: pages are told in time, and go on."""

from __future__ import annotations

import os
import signal
import socket
import threading
from dataclasses import replace

import pytest

from fuseloom_workbench.service import workers
from fuseloom_workbench.service.supervisor import Supervisor
from fuseloom_workbench.service.wire import WorkerConnection, pack
from fuseloom_workbench.service.workers import REAPED, Worker

from .conftest import BUDGETS, PATIENCE, Page


@pytest.fixture(scope="module")
def own():
    """A supervisor that tests may spoil; the one that replaces its fork server comes last."""
    made = Supervisor(replace(BUDGETS, wall_time=3))
    ready = threading.Event()
    made.when_ready(ready.set)
    assert ready.wait(2 * PATIENCE)
    yield made
    made.stop()


def ask_until_answered(page: Page, *request) -> None:
    """Ask again if no process was free within three seconds, which a loaded machine may need."""
    for _ in range(20):
        refused = len(page.refusals)
        page.ask(*request)
        if len(page.refusals) == refused:
            return
    raise AssertionError(page.refusals)


def test_a_fork_server_that_never_gets_ready_is_ended(monkeypatch):
    monkeypatch.setattr(workers, "LOADING", 0.3)
    supervisor = Supervisor(replace(BUDGETS, wall_time=2))
    try:
        failures = []
        monkeypatch.setattr(
            workers, "note", lambda event, **more: failures.append((event, more.get("reason")))
        )
        ended = threading.Event()
        monkeypatch.setattr(supervisor, "lost", lambda fork_server: ended.set())
        assert ended.wait(PATIENCE)
        assert failures == [("fork_server_failed", "the engine was not loaded within 0.3 s")]
    finally:
        supervisor.stop()


def test_a_number_that_is_given_again_is_not_the_process_that_died(own, monkeypatch):
    """Numbers of processes come round: in ten minutes of many visitors all of them are used."""
    now = [0.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: now[0])
    gone = {"signal": 0, "code": 0}
    found: list[list[bool]] = []

    def work() -> None:
        fork_server = own.forks
        fork_server._hear({"gone": 4_000_001, **gone}, [])
        fork_server._hear({"gone": 4_000_002, **gone}, [])
        early, late = Worker(own, fork_server), Worker(own, fork_server)
        now[0] = REAPED - 1  # died before it could say its number
        fork_server.register(early, 4_000_001)
        now[0] = REAPED + 1  # another process
        fork_server.register(late, 4_000_002)
        found.append([early.ended.done(), late.ended.done()])
        late.reap("the test ends")

    own.call(work)
    ended = threading.Event()
    own.call(ended.set)
    assert ended.wait(PATIENCE)
    assert found == [[True, False]]


def test_last_words_are_heard_when_the_death_is_told_first(own):
    """A runner sends its result and ends: which of the two is seen first is chance."""
    heard: list[object] = []
    ours, its = socket.socketpair()

    def work() -> None:
        worker = Worker(own, own.forks, pid=4_000_000)
        worker.line = WorkerConnection(ours, lambda message, _: heard.append(message), lambda: None)
        its.sendall(pack({"progress": [1, ""]}) + pack({"done": "x" * 100_000}))
        its.close()
        worker.ended.add_done_callback(lambda end: heard.append(end.result()))
        worker.reap("it ended with code 0")

    own.call(work)
    ended = threading.Event()
    own.call(lambda: own.loop.call_soon(ended.set))
    assert ended.wait(PATIENCE)
    assert heard == [{"progress": [1, ""]}, {"done": "x" * 100_000}, "it ended with code 0"]


def test_the_dead_are_not_remembered_for_ever(own, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: now[0])
    left: list[int] = []

    def work() -> None:
        for number in range(1000):
            now[0] += 1
            own.forks._hear({"gone": 4_000_000 + number, "signal": 9, "code": 0}, [])
        left.append(len(own.forks._reaped))

    own.call(work)
    ended = threading.Event()
    own.call(ended.set)
    assert ended.wait(PATIENCE)
    assert left[0] <= REAPED + 1


def test_a_fork_server_that_hangs_or_dies_is_replaced(own):
    page = Page(own)
    hung = own.forks.pid
    os.kill(hung, signal.SIGSTOP)
    page.ask("move_boundary", 4, 3)
    assert page.refusals == [
        "given up: no process was free within 3 s, those of this server are busy; try again later"
    ]
    page.start_run()
    page.until(lambda: own.forks is not None and own.forks.pid != hung)
    page.until(lambda: page.run.get("running") is False)
    page.until(page.still)
    ask_until_answered(page, "move_boundary", 4, 3)
    assert page.regions == ["T1..T3", "H..Y"]
    assert not os.path.exists(f"/proc/{hung}")

    os.kill(own.forks.pid, signal.SIGKILL)
    page.until(lambda: not own.ready)
    refused = len(page.refusals)
    page.tell("add_boundary", 6)
    page.until(lambda: len(page.refusals) > refused or len(page.regions) == 3)
    page.until(lambda: own.ready)
    ask_until_answered(page, "add_boundary", 6)
    assert page.regions[:2] == ["T1..T3", "H..T6"]
