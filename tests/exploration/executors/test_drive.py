"""Tasks, done and kept: each once, whatever dies on the way."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from fuseloom.errors import StoreError
from fuseloom.exploration.executors import (
    InProcess,
    JobLimits,
    JobResult,
    JobStatus,
    LocalProcesses,
    Task,
    keep_runs,
)
from fuseloom.exploration.executors.drive import outcome_of
from fuseloom.exploration.store import RunStore, State
from tests.exploration.conftest import SmallDisk
from tests.exploration.executors.targets import FATES
from tests.exploration.store.samples import LABEL, identity, record
from tests.waiting import until

ROOT = Path(__file__).parents[3]
HERE = "tests.exploration.executors.targets"


@pytest.fixture(autouse=True)
def from_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find the targets of these tests."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def task(number: int, **more: Any) -> Task:
    poison = more.get("poison")
    wall = 1.5 if poison in ("hang", "deaf") else None
    limits = JobLimits(cpu=1, memory=300 << 20, wall=wall) if poison else JobLimits()
    return Task(identity(number), f"{HERE}:run", {"number": number, **more}, LABEL, limits)


def test_each_is_done_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tasks = [task(number % 20, log=str(log)) for number in range(30)]
    with RunStore(tmp_path / "runs.sqlite") as store:
        seen = []
        made = keep_runs(store, InProcess(), tasks, told=lambda key, _: seen.append(key))
        assert made.states == {State.DONE: 20}
        assert made.there == 10
        assert len(set(seen)) == 20
        again = keep_runs(store, InProcess(), tasks)
        assert (again.states, again.there) == ({}, 30)
        assert {run.key: run.record for run in store.whole()} == {
            identity(n).key: record(n) for n in range(20)
        }
    assert sorted(map(int, log.read_text().split())) == list(range(20))


def test_whoever_ends_it_leaves_no_lease(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        executor = InProcess()
        tasks = [task(number) for number in range(5)]
        made = keep_runs(store, executor, tasks, told=lambda *_: False)
        assert made.states == {State.DONE: 1}

        def stop(*given: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            keep_runs(store, executor, tasks, told=stop)
        assert store.counts() == {State.DONE: 2}
        assert keep_runs(store, executor, tasks).states == {State.DONE: 3}


def test_an_ended_call_does_not_disturb_the_next(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store, LocalProcesses(2) as executor:
        tasks = [task(number, sleep=0.05) for number in range(8)]
        keep_runs(store, executor, tasks, told=lambda *_: False)
        assert store.counts() == {State.DONE: 1}
        assert keep_runs(store, executor, tasks).states == {State.DONE: 7}


def test_limits_can_be_tried_again(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        keep_runs(store, InProcess(), [task(1, poison="tokens"), task(2, poison="raise")])
        assert keep_runs(store, InProcess(), [task(1), task(2)]).there == 2
        made = keep_runs(store, InProcess(), [task(1), task(2)], again=[State.LIMIT])
        assert made.states == {State.DONE: 1}
        assert store.counts() == {State.DONE: 1, State.FAILED: 1}


def test_a_value_that_is_no_record_is_a_failure() -> None:
    made = outcome_of(JobResult("k", JobStatus.DONE, {"cycles": 3}))
    assert made.state is State.FAILED
    assert "not a fuseloom run record" in made.reason


def test_a_store_that_breaks_ends_it(tmp_path: Path) -> None:
    tasks = [task(number) for number in range(5)]
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store, pytest.raises(StoreError, match="removed or replaced"):
        keep_runs(store, InProcess(), tasks, told=lambda *_: path.unlink() and None)


def test_a_full_disk_ends_it_and_it_goes_on_when_there_is_room(small_disk: SmallDisk) -> None:
    path = small_disk.folder / "runs.sqlite"
    driver = drive(path, 200, 0, 1)
    output, errors = driver.communicate(timeout=120)
    assert "is full" in errors
    told = {line for line in output.split("\n") if len(line) == 64}
    assert 5 < len(told) < 200
    with RunStore(path) as store:
        assert {run.key for run in store.runs() if run.finished} == told
    small_disk.grow("16m")
    assert drive(path, 200, 0, 2).communicate(timeout=300)[1] == ""
    with RunStore(path) as store:
        assert store.counts() == {State.DONE: 199, State.FAILED: 1}  # one is poisoned
        assert len(list(store.whole())) == 200


def test_the_example_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real simulations: workers and this process give the same records."""
    text = (ROOT / "docs" / "runs.md").read_text(encoding="utf-8")
    code = text.partition("```python many\n")[2].partition("```")[0]
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "workers.sqlite"))
    names: dict[str, Any] = {"folder": str(tmp_path)}
    exec(compile(code, "docs/runs.md", "exec"), names)
    assert "Summary(states={<State.DONE: 'done'>: 2}, there=0)" in capsys.readouterr().out
    with RunStore(tmp_path / "here.sqlite") as here, RunStore() as there:
        assert keep_runs(here, InProcess(), names["tasks"]).states == {State.DONE: 2}
        assert keep_runs(there, InProcess(), names["tasks"]).there == 2
        records = []
        for store in (here, there):
            made = {run.key: run.record for run in store.whole()}
            assert all(record is not None and record.ok for record in made.values())
            records.append({k: replace(r, seconds=0) for k, r in made.items() if r is not None})
        assert records[0] == records[1]


# Kills -----------------------------------------------------------------------------------------

DRIVER = """
import sys
from fuseloom.exploration.executors import LocalProcesses, keep_runs
from fuseloom.exploration.store import RunStore
from tests.exploration.executors.test_drive import many
path, count, poisoned, workers = sys.argv[1], *map(int, sys.argv[2:])
with RunStore(path) as store, LocalProcesses(workers) as executor:
    print("begun", flush=True)
    keep_runs(store, executor, many(count, poisoned), told=lambda key, _: print(key, flush=True))
"""
ORDER = list(FATES)


def many(count: int, poisoned: int) -> list[Task]:
    """So many tasks, poisoned ones spread among them."""
    step = count // poisoned if poisoned else count + 1
    return [
        task(n, poison=ORDER[n // step % len(ORDER)])
        if n % step == step // 2
        else task(n, sleep=0 if poisoned else 0.03)
        for n in range(count)
    ]


def drive(path: Path, count: int, poisoned: int, workers: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(path), str(count), str(poisoned), str(workers)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip


def kill_again_and_again(
    path: Path, kills: int, count: int, poisoned: int, workers: int, seed: int
) -> None:
    """The driver or a worker is killed at random moments; then it is done to the end."""
    rng = random.Random(seed)
    told: set[str] = set()
    done = 0
    processes: set[int] = set()
    while done < kills:
        driver = drive(path, count, poisoned, workers)
        assert driver.stdout is not None
        assert driver.stdout.readline() == "begun\n", driver.communicate()[1]
        while done < kills:
            time.sleep(rng.uniform(0.0, 1.5))
            if driver.poll() is not None:
                break
            done += 1
            children = psutil.Process(driver.pid).children()
            processes |= {child.pid for child in children}
            if children and rng.random() < 0.5:
                os.kill(rng.choice(children).pid, signal.SIGKILL)
                continue
            driver.kill()
            break
        else:
            driver.kill()
        output, errors = driver.communicate()
        assert errors == ""
        told |= {line for line in output.split("\n")[:-1] if len(line) == 64}
        if driver.returncode == 0:
            path.unlink()  # all was done before the last kill: begin anew
            told.clear()
        else:
            with RunStore(path) as store:
                assert told <= {run.key for run in store.runs() if run.finished}
    driver = drive(path, count, poisoned, workers)
    assert driver.communicate(timeout=1200)[1] == ""
    assert driver.returncode == 0
    with RunStore(path) as store:
        runs = {run.key: run for run in store.whole()}
    assert len(runs) == count
    hit = 0
    for number, made in enumerate(many(count, poisoned)):
        run = runs[identity(number).key]
        wanted = FATES.get(made.request.get("poison", ""), "done")
        if run.state.value != wanted:  # two kills from outside can hit one job
            assert run.state is State.QUARANTINED
            assert "SIGKILL" in run.reason
            hit += 1
        assert run.record == (record(number) if run.state is State.DONE else None)
    assert hit <= kills // 15
    until(lambda: not any(map(psutil.pid_exists, processes)), "no process is left")


def test_kills_at_random_moments(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "runs.sqlite", 2, 60, 0, 1, seed=5)


@pytest.mark.fuzz
def test_a_hundred_kills_among_poisoned_runs(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "runs.sqlite", 100, 1_000, 30, 2, seed=16)
