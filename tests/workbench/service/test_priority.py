"""Long work gives way, and what gave way is replaced."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from fuseloom_workbench.service import supervisor
from fuseloom_workbench.service.priority import BEHIND, LONG, Watch, cpu_seconds, give_way
from tests.waiting import until

BUSY = "while True: pass"
IDLE = "import time; time.sleep(60)"


@pytest.fixture(autouse=True)
def _whoever_was_there_stays(monkeypatch):
    """On a loaded machine a request takes longer than a page counts as used just now."""
    monkeypatch.setattr(supervisor, "RECENT", 600.0)


@contextmanager
def child(text: str):
    process = subprocess.Popen([sys.executable, "-c", text])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def priority(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


async def watched(pid: int, seconds: float, others: bool = True) -> Watch:
    watch = Watch(asyncio.get_running_loop(), lambda: pid, lambda: others)
    until = time.monotonic() + seconds
    while time.monotonic() < until and not watch.gave_way:
        await asyncio.sleep(0.05)
    watch.end()
    watch.end()
    return watch


def test_a_process_that_works_for_long_gives_way():
    with child(BUSY) as pid:
        watch = asyncio.run(watched(pid, 60))
        assert watch.gave_way
        assert priority(pid) == BEHIND
        assert cpu_seconds(pid) > LONG


def test_a_process_that_waits_does_not():
    with child(IDLE) as pid:
        before = priority(pid)
        assert not asyncio.run(watched(pid, 1.5)).gave_way
        assert priority(pid) == before


def test_what_was_done_before_does_not_count():
    with child("t = 0\nfor _ in range(10**9): t += 1") as pid:
        until(lambda: cpu_seconds(pid) >= 2 * LONG, "the process has computed for long")
        os.kill(pid, 19)  # it stops
        assert not asyncio.run(watched(pid, 1.0)).gave_way


def test_a_process_that_is_gone_does_no_harm():
    with child(IDLE) as pid:
        pass
    assert cpu_seconds(pid) == 0
    assert not give_way(pid)
    assert not asyncio.run(watched(pid, 0.6)).gave_way


def test_nobody_gives_way_to_nobody():
    with child(BUSY) as pid:
        assert not asyncio.run(watched(pid, 3 * LONG, others=False)).gave_way


def test_a_session_worker_that_gave_way_is_replaced(pages):
    page, other = pages(), pages()
    other.tell("undo")
    page.ask("preset", "partial")
    first = page.client.pid
    page.ask("set_schedule", "fuse T1..Y\nparallel i by 16")
    assert page.part("status")["ok"], page.message
    assert page.client.pid == first
    assert priority(first) == BEHIND
    page.ask("select_region", 0)  # the same design: compiling it anew would take long again
    assert page.client.pid == first
    page.ask("set_program", "x: 8 dense\ny[i] = x[i] + x[i]")
    page.ask("select_region", 0)
    assert page.client.pid != first
    assert priority(page.client.pid) < BEHIND
    page.ask("undo")
    assert page.part("status")["ok"], page.message
    assert "by 16" in page.part("schedule")["text"]


def test_a_page_that_nobody_sees_is_nobody_to_give_way_to(pages):
    page, left = pages(), pages()
    left.tell("undo")  # just now, as before a reload
    left.client.seen = False
    page.ask("preset", "partial")
    first = page.client.pid
    page.ask("set_schedule", "fuse T1..Y\nparallel i by 16")
    assert priority(first) < BEHIND
    page.ask("preset", "full")
    assert page.client.pid == first


def test_a_session_worker_that_gave_way_to_a_page_since_closed_goes_on(pages):
    page, other = pages(), pages()
    other.tell("undo")
    page.ask("set_schedule", "fuse T1..Y\nparallel i by 16")
    first = page.client.pid
    assert priority(first) == BEHIND
    other.client.seen = False
    page.ask("preset", "full")
    assert page.client.pid == first
