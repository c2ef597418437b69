"""A session worker reads the run store in a child process when it has changed, and lives on."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom_workbench.service import sharing
from fuseloom_workbench.service.budgets import KEEP_RUNS
from fuseloom_workbench.service.sharing import Sharing, stamp
from fuseloom_workbench.service.supervisor import Supervisor
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.shared import StoredRuns
from tests.workbench.state.test_shared import put

from .conftest import BUDGETS, PATIENCE, Page


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    monkeypatch.setattr(sharing, "POLL", 0.05)
    return tmp_path / "runs.sqlite"


def settled(shelf: Sharing, rounds: int = 200) -> list[str]:
    """Let it work until nothing is under way; what the log was told."""
    told = []
    shelf.begin()
    for _ in range(rounds):
        if not shelf.works:
            break
        ready = select.select(shelf.works, [], [], PATIENCE)[0]
        told += [shelf.take(work)[1] for work in ready]
        shelf.begin()
    assert not shelf.works
    return [reason for reason in told if reason]


def after_a_pause(shelf: Sharing) -> list[str]:
    shelf.due = 0.0
    return settled(shelf)


def test_it_looks_once_and_again_only_when_something_has_changed(path):
    session = Session("gcn", "karate")
    key = put(path, session, 1_234)
    shelf = Sharing(session, str(path), 20)
    assert settled(shelf) == []
    assert session.record.run.cycles == 1_234
    assert session.judged.estimated == {key: session.estimate.cycles}
    assert session.name_of(session.others[0]) == "partial"
    shelf.due = 0.0
    shelf.begin()
    assert not shelf.works  # nothing is new
    session.preset("full")
    shelf.begin()
    assert not shelf.works  # all there is for this problem is known
    put(path, session, 2_345)
    after_a_pause(shelf)
    assert session.record.run.cycles == 2_345
    assert session.shared.total == 2


def test_another_problem_is_looked_for_at_once(path):
    session, other = Session("gcn", "karate"), Session("spmv", "random")
    put(path, session, 1_000)
    put(path, other, 50)
    shelf = Sharing(session, str(path), 20)
    settled(shelf)
    shelf.due = time.monotonic() + 1_000
    session.choose("spmv", "random")
    assert session.record is None
    settled(shelf)
    assert session.record.run.cycles == 50
    session.undo()
    settled(shelf)
    assert session.record.run.cycles == 1_000


def test_what_is_under_way_for_another_problem_is_ended(path):
    session = Session("gcn", "karate")
    put(path, session)
    shelf = Sharing(session, str(path), 20)
    shelf.begin()
    (work,) = shelf.works
    session.choose("spmv", "random")
    shelf.begin()
    assert work not in shelf.works
    settled(shelf)
    assert session.shared.problem == session.built.problem
    assert session.others == []


def test_the_own_run_of_many_is_looked_for(path, monkeypatch):
    monkeypatch.setattr("fuseloom_workbench.state.shared.LATEST", 3)
    monkeypatch.setattr("fuseloom_workbench.state.shared.FASTEST", 1)
    monkeypatch.setattr(sharing, "LATEST", 3)
    session = Session("gcn", "karate")
    put(path, session, 2_000)
    session.preset("full")
    for number in range(5):
        put(path, session, 1_000 + number, schedule=f"fuse T1..T{number}", estimated=1.0)
    shelf = Sharing(session, str(path), 20)
    settled(shelf)
    assert (len(session.others), session.shared.total) == (4, 6)
    assert session.record is None
    session.preset("partial")
    settled(shelf)
    assert session.record.run.cycles == 2_000


def test_a_look_that_had_to_wait_does_not_keep_the_next_one_away(path):
    """The pause after it is a multiple of its CPU time: a busy machine stretches only the look."""
    session = Session("gcn", "karate")
    put(path, session, 1_000)
    shelf = Sharing(session, str(path), 20)
    shelf.begin()
    (work,) = shelf.works
    shelf.began -= 1_000
    assert settled(shelf) == []
    assert work.cpu_seconds > 0
    assert shelf.due <= time.monotonic() + max(sharing.POLL, sharing.SHARE * work.cpu_seconds)


def test_a_store_that_cannot_be_read_is_told_once_and_tried_again(path, monkeypatch):
    session = Session("gcn", "karate")
    shelf = Sharing(session, str(path), 20)
    shelf.begin()
    shelf.began -= 1_000  # it has waited long for a file that another process kept
    (reason,) = settled(shelf)
    assert "there is no run store" in reason
    assert shelf.due <= time.monotonic() + sharing.AGAIN
    assert session.shared.trouble == "Kept runs are not read: there is no run store of this server"
    assert after_a_pause(shelf) == []
    shelf.begin()
    assert not shelf.works  # not at once
    put(path, session, 1_000)
    after_a_pause(shelf)
    assert session.shared.trouble == ""
    assert session.record.run.cycles == 1_000


def test_a_look_that_fails_is_said(path, monkeypatch):
    def fail(*given, **more):
        raise ZeroDivisionError

    session = Session("gcn", "karate")
    put(path, session)
    monkeypatch.setattr(sharing, "look", fail)
    shelf = Sharing(session, str(path), 20)
    (reason,) = settled(shelf)
    assert "took too long, or failed" in reason
    assert session.shared.trouble == reason
    assert session.shared == StoredRuns(session.built.problem, trouble=reason, reason=reason)


def test_schedules_that_take_too_long_are_tried_once(path):
    session = Session("gcn", "karate")
    put(path, session, 1_000, schedule="fuse T1..Y; parallel i by 512")
    shelf = Sharing(session, str(path), 1)
    settled(shelf)
    assert session.judged.estimated == {}
    assert session.judged.problem == session.built.problem
    put(path, session, 2_000, estimated=5.0)
    began = time.process_time()
    after_a_pause(shelf)
    assert session.shared.total == 2
    assert time.process_time() - began < 1


def test_the_stamp_tells_writing_from_looking(path):
    session = Session("spmv", "random")
    assert stamp(str(path)) == (None, None)
    put(path, session)
    before = stamp(str(path))
    settled(Sharing(session, str(path), 20))
    assert stamp(str(path)) == before
    assert main(["simulate", "--model", "spmv", "--data", "random", "--keep"]) == 0
    put(path, session, engine="0.0.1+a")
    assert stamp(str(path)) != before


# Whole pages -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "runs.sqlite"


@pytest.fixture(scope="module")
def keeping_supervisor(store: Path) -> Iterator[Supervisor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEEP_RUNS, str(store))
        made = Supervisor(BUDGETS)
        ready = threading.Event()
        made.when_ready(ready.set)
        assert ready.wait(2 * PATIENCE)
    yield made
    made.stop()


@pytest.fixture
def page(keeping_supervisor: Supervisor) -> Iterator[Page]:
    opened = Page(keeping_supervisor)
    yield opened
    opened.close()


def watch(page: Page) -> None:
    page.supervisor.call(page.client.watch)


def test_a_page_shows_what_others_keep_and_keeps_what_it_runs(store, page):
    session = Session("gcn", "karate")
    session.set_cuts([2])
    key = put(store, session, 4_321, estimated=4_000.0)
    watch(page)  # nothing was asked for
    page.until(lambda: page.part("costs")["runs"])
    (row,) = page.part("costs")["runs"]
    assert (row["key"], row["cycles"], row["estimated"]) == (key, 4_321, 4_000.0)
    page.ask("move_boundary", 4, 2)
    assert page.part("run")["result"]["cycles"] == "4,321 cycles"
    assert page.part("run")["result"]["kept"]
    page.ask("undo")
    assert page.part("run")["result"]["stale"]
    page.ask("take_kept", key)
    assert "was taken over" in page.message
    assert page.part("run")["done"]
    page.ask("undo")
    page.simulate()
    other = Page(page.supervisor)
    watch(other)
    other.until(lambda: len(other.part("costs")["runs"]) == 2)
    other.until(lambda: other.part("run")["done"])
    assert other.part("run")["result"]["cycles"] == page.part("run")["result"]["cycles"]
    other.close()


def test_a_page_that_lost_its_session_worker_sees_them_again(store, page):
    watch(page)
    page.until(lambda: page.client.has_worker)
    page.supervisor.call(page.client.release)
    page.until(lambda: not page.client.has_worker)
    session = Session("gcn", "karate")
    session.set_cuts([1])
    key = put(store, session, 9_999)
    watch(page)
    page.until(lambda: key in [row["key"] for row in page.part("costs")["runs"]])


def test_a_watch_never_takes_another_page_s_session_worker(store, keeping_supervisor):
    pages = [Page(keeping_supervisor) for _ in range(BUDGETS.workers + 1)]
    for one in pages[:-1]:
        one.ask("move_boundary", 4, 3)
    watch(pages[-1])
    time.sleep(0.5)
    assert not pages[-1].client.has_worker
    assert all(one.client.has_worker for one in pages[:-1])
    assert pages[-1].refusals == []
    for one in pages:
        one.close()


def test_a_page_without_the_flag_looks_at_nothing(supervisor):
    assert not supervisor.keeps_runs
    page = Page(supervisor)
    watch(page)
    page.ask("move_boundary", 4, 3)
    assert page.part("costs")["runs"] == []
    assert page.part("costs")["trouble"] == ""
    page.close()
