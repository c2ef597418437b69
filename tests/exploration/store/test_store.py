"""The store: each run once, whatever happens to those who do it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from fuseloom.errors import RecordError, StoreError
from fuseloom.exploration.store import Outcome, RunStore, State
from fuseloom.exploration.store.database import Database
from fuseloom.results.check import Check
from tests.exploration.store.samples import LABEL, identity, outcome, record


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "folder" / "runs.sqlite")


def test_a_run_is_claimed_once_and_kept(store: RunStore) -> None:
    lease = store.claim(identity(1), LABEL)
    assert lease is not None
    assert store.claim(identity(1)) is None
    (held,) = store.runs()
    assert (held.state, held.cycles, held.finished) == (State.LEASED, None, False)
    assert held.holder is not None
    assert held.holder.pid == os.getpid()
    assert store.finish(lease, Outcome.of(record(1)))
    assert not store.finish(lease, Outcome.of(record(1)))
    assert store.claim(identity(1)) is None
    kept = store.get(identity(1).key)
    assert kept is not None
    assert kept.record == record(1)
    assert kept.identity == identity(1)
    assert kept.label == LABEL
    assert (kept.state, kept.cycles, kept.seconds) == (State.DONE, 101, 0.25)
    assert store.counts() == {State.DONE: 1}
    assert store.get("0" * 64) is None


def test_refusals_and_wrong_results_are_results(store: RunStore) -> None:
    for number in range(5, 8):
        assert store.put(identity(number), outcome(number), LABEL)
        assert not store.put(identity(number), outcome(1))
    wrong = Outcome.of(record(1, 0.5))
    assert store.put(identity(1), wrong)
    states = {run.state: run for run in store.runs()}
    assert states.keys() == {State.REFUSED, State.LIMIT, State.FAILED, State.DONE}
    assert states[State.DONE].reason.startswith("MISMATCH")
    assert states[State.FAILED].reason == 'ZeroDivisionError: "=1,2" unhappy'
    with pytest.raises(RecordError):
        Outcome(State.DONE)
    with pytest.raises(RecordError):
        Outcome(State.FAILED, record(1))
    with pytest.raises(RecordError):
        Outcome(State.LEASED)


def test_what_was_estimated_is_still_to_be_done(store: RunStore) -> None:
    estimated = Outcome(State.ESTIMATED)
    assert store.put(identity(1), estimated, LABEL)
    assert not store.put(identity(1), estimated, LABEL)
    (run,) = store.runs()
    assert (run.state, run.cycles, run.label.estimated) == (State.ESTIMATED, None, 90.0)
    lease = store.claim(identity(1))
    assert lease is not None
    assert lease.attempts == 1
    assert store.claim(identity(1)) is None
    assert not store.put(identity(1), estimated)
    assert store.release(lease)
    assert store.counts() == {State.ESTIMATED: 1}
    lease = store.claim(identity(1))
    assert lease is not None
    assert store.finish(lease, outcome(1))
    assert not store.put(identity(1), estimated)
    (run,) = store.runs()
    assert (run.state, run.label.estimated, run.attempts) == (State.DONE, 90.0, 1)
    # what others did takes its place, with the estimate
    store.put(identity(2), estimated, LABEL)
    assert store.put(identity(2), outcome(2))
    (run,) = store.runs(limit=1)
    assert (run.state, run.label.estimated) == (State.DONE, 90.0)


def test_a_lease_can_be_given_back(store: RunStore) -> None:
    lease = store.claim(identity(1))
    assert lease is not None
    assert store.release(lease)
    assert not store.release(lease)
    assert store.runs() == []
    store.put(identity(1), outcome(6))
    again = store.claim(identity(1), again=[State.LIMIT])
    assert again is not None
    assert again.attempts == 2
    assert store.claim(identity(1), again=[State.LIMIT]) is None
    assert store.release(again)
    (run,) = store.runs()
    assert (run.state, run.reason, run.holder) == (State.LIMIT, "more than 3 tokens", None)


def test_threads_get_one_lease_between_them(store: RunStore) -> None:
    got: list[int] = []

    def claim() -> None:
        got.extend(number for number in range(20) if store.claim(identity(number)))

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(20))


def test_the_lease_of_a_dead_process_is_free(store: RunStore) -> None:
    store.put(identity(6), outcome(6))
    child = os.fork()
    if not child:
        store.claim(identity(1))
        store.claim(identity(2))
        store.claim(identity(6), again=[State.LIMIT])
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # nobody has collected it yet
    assert store.counts()[State.LEASED] == 3
    lease = store.claim(identity(1))
    assert lease is not None
    assert lease.attempts == 2
    assert store.put(identity(2), outcome(2))
    store.collect()
    assert store.counts() == {State.LEASED: 1, State.DONE: 1, State.LIMIT: 1}
    os.waitpid(child, 0)


def test_a_fork_opens_the_store_anew(store: RunStore) -> None:
    store.put(identity(1), outcome(1))
    child = os.fork()
    if not child:
        code = 0 if store.put(identity(2), outcome(2)) and len(store.runs()) == 2 else 1
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert store.put(identity(3), outcome(3))
    assert len(store.runs()) == 3


def test_lists(store: RunStore) -> None:
    for number in range(10):
        store.put(identity(number), outcome(number), LABEL)
    assert [run.cycles for run in store.runs([State.DONE], 3)] == [109, 108, 104]
    seen = store.change()
    assert store.since(seen) == []
    store.put(identity(11), outcome(11))
    (new,) = store.since(seen)
    assert new.cycles == 111
    assert store.find(new.key[:20]) == store.get(new.key)
    assert [run.key for run in store.whole()] == [run.key for run in reversed(store.runs())]
    assert all(run.identity.program for run in store.whole([State.DONE]))
    firsts = sorted(run.key[0] for run in store.runs())
    shared = next(a for a, b in pairwise(firsts) if a == b)
    with pytest.raises(StoreError, match="several runs"):
        store.find(shared)
    for start in ("", "x", "%", "0' OR 1", "f" * 70):
        with pytest.raises(StoreError):
            store.find(start)


def test_who_follows_misses_nothing_when_runs_are_thrown_away(store: RunStore) -> None:
    store.put(identity(1), outcome(1))
    seen = store.change()
    assert store.collect(older=-10).runs == 1
    store.put(identity(2), outcome(2))
    assert [run.cycles for run in store.since(seen)] == [102]


def test_garbage_goes_by_age_and_size(store: RunStore) -> None:
    for number in range(30):
        store.put(identity(number, f"program {number % 3}"), outcome(number))
    held = store.claim(identity(31))
    assert held is not None
    assert store.collect(older=1000).runs == 0
    half = store.collect(larger=20_000, dry_run=True)
    assert 0 < half.runs < 30
    assert len(store.runs()) == 31
    assert store.collect(larger=20_000) == half
    left = [run.cycles for run in store.runs([State.DONE])]
    assert left[0] == 128
    assert store.collect(larger=0).runs == 30 - half.runs
    assert store.counts() == {State.LEASED: 1}
    assert store.finish(held, outcome(1))
    database = Database(store.path)
    assert [row["text"] for row in database.read("SELECT text FROM programs")] == [
        identity(31).program
    ]


def test_figures_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RecordError, match="more than 64 bits"):
        Outcome.of(record(2**63))


def test_the_frame(store: RunStore) -> None:
    assert len(store.frame()) == 0
    for number in range(8):
        store.put(identity(number), outcome(number), LABEL)
    frame = store.frame()
    assert len(frame) == 8
    assert frame["cycles"].sum() == 510
    assert frame["cycles"].isna().sum() == 3
    assert str(frame["changed"].dt.tz) == "UTC"
    assert frame[frame["state"] == "done"]["cycles"].min() == 100


# Several processes -----------------------------------------------------------------------------

WRITER = """
import sys
from fuseloom.exploration.store import RunStore
from tests.exploration.store.samples import LABEL, identity, outcome
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = RunStore(path)
mine = 0
for number in range(first, first + count):
    lease = store.claim(identity(number), LABEL)
    if lease is not None:
        assert store.finish(lease, outcome(number))
        mine += 1
print(mine)
"""
READER = """
import sys, time
from fuseloom.exploration.store import RunStore
store = RunStore(sys.argv[1])
wanted, seen, change, rounds = int(sys.argv[2]), set(), 0, 0
while len(seen) < wanted:
    for run in store.since(change):
        change = run.change
        if run.finished:
            seen.add(run.key)
    rounds += 1
    store.counts(), store.runs(limit=20)
    time.sleep(0.05)
print(rounds)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def said(process: subprocess.Popen[str]) -> int:
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return int(output)


def several(path: Path, count: int) -> None:
    """Two writers, half of whose runs are the same, and two readers."""
    writers = [start(WRITER, path, first, count) for first in (0, count // 2)]
    readers = [start(READER, path, count * 3 // 2) for _ in range(2)]
    try:
        assert sum(said(writer) for writer in writers) == count * 3 // 2
        assert all(said(reader) > 0 for reader in readers)
    finally:
        for process in (*writers, *readers):
            process.kill()
            process.wait()
    store = RunStore(path)
    runs = {run.key: run for run in store.whole()}
    assert len(runs) == count * 3 // 2
    for number in range(count * 3 // 2):
        run = runs[identity(number).key]
        wanted = outcome(number)
        assert (run.state, run.record, run.attempts) == (wanted.state, wanted.record, 1)


@pytest.mark.deep
def test_writers_and_readers_at_once(tmp_path: Path) -> None:
    several(tmp_path / "runs.sqlite", 2_000)


@pytest.mark.fuzz
def test_many_runs_of_writers_and_readers_at_once(tmp_path: Path) -> None:
    several(tmp_path / "runs.sqlite", 10_000)


def write_until_killed(path: Path, told: int) -> None:
    """Do one run after the other, and tell of each when it is finished."""
    with RunStore(path) as store:
        for number in range(1_000_000):
            lease = store.claim(identity(number), LABEL)
            if lease is not None and store.finish(lease, outcome(number)):
                os.write(told, f"{number}\n".encode())


def killed(path: Path, times: int, seed: int) -> None:
    """A writer is killed again and again; whatever it said was finished is there."""
    rng = random.Random(seed)
    for _ in range(times):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            write_until_killed(path, writing)
        os.close(writing)
        time.sleep(rng.uniform(0.0, 0.15))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        with open(reading, encoding="ascii") as lines:
            numbers = [int(line) for line in lines if line.endswith("\n")]
        with RunStore(path) as store:
            finished = {run.key for run in store.runs() if run.finished}
            assert all(identity(number).key in finished for number in numbers)
            assert store.counts().get(State.LEASED, 0) <= 1
    with RunStore(path) as store:
        done = len(store.runs())
    assert said(start(WRITER, path, 0, done + 10)) >= 10
    with RunStore(path) as store:
        assert store.counts().get(State.LEASED, 0) == 0
        runs = {run.key: run for run in store.whole()}
    assert runs.keys() == {identity(number).key for number in range(done + 10)}
    assert all(runs[identity(n).key].record == outcome(n).record for n in range(done + 10))


@pytest.mark.deep  # takes seconds
def test_kills_lose_nothing_that_was_finished(tmp_path: Path) -> None:
    killed(tmp_path / "runs.sqlite", 20, seed=20)


@pytest.mark.fuzz
def test_a_hundred_kills(tmp_path: Path) -> None:
    killed(tmp_path / "runs.sqlite", 100, seed=100)


def test_a_record_with_a_failed_check_reads_back(store: RunStore) -> None:
    store.put(identity(1), Outcome.of(record(1, float("inf"))))
    (run,) = store.whole()
    assert run.record is not None
    assert run.record.check == Check(float("inf"), True)
