"""Worker processes: what a job does to its worker is its own affair."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from fuseloom.errors import DataError, FuseloomError
from fuseloom.exploration.executors import Job, JobLimits, JobResult, JobStatus, LocalProcesses
from tests.exploration.executors.targets import CHILD, FATES
from tests.waiting import PATIENCE, until

HERE = "tests.exploration.executors.targets"
ROOT = Path(__file__).parents[3]
LIMITS = JobLimits(cpu=1, wall=PATIENCE, memory=300 << 20)


@pytest.fixture(scope="module", autouse=True)
def from_root() -> Iterator[None]:
    """Workers find the targets of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        yield


@pytest.fixture(scope="module")
def executor(from_root: None) -> Iterator[LocalProcesses]:
    """One for all: what one test does to it must not disturb the next."""
    with LocalProcesses(2) as made:
        yield made
        pids = made.pids
    assert pids
    assert not any(psutil.pid_exists(pid) for pid in pids)


def answers(executor: LocalProcesses) -> dict[str, JobResult]:
    found = {}
    while (answer := executor.next()) is not None:
        assert answer.key not in found
        found[answer.key] = answer
    return found


def job(key: str, target: str, request: object = None, limits: JobLimits = LIMITS) -> Job:
    return Job(key, f"{HERE}:{target}", request, limits)


def test_jobs_are_answered(executor: LocalProcesses) -> None:
    assert executor.next() is None
    for number in range(30):
        executor.submit(job(str(number), "double", number))
    found = answers(executor)
    assert {int(key): a.value for key, a in found.items()} == {n: 2 * n for n in range(30)}
    assert {a.fate for a in found.values()} == {JobStatus.DONE}
    assert len(executor.pids) == 2
    assert executor.next() is None


def poisoned(executor: LocalProcesses, poisons: Sequence[str]) -> dict[str, JobResult]:
    """Run poisoned jobs, with another beside each of them, and return the results."""
    for number, poison in enumerate(poisons):
        wall = 1.5 if poison in ("hang", "deaf") else None
        limits = JobLimits(cpu=1, wall=wall, memory=300 << 20)
        executor.submit(job(poison, "run", {"number": number, "poison": poison}, limits))
        executor.submit(job(f"beside {poison}", "run", {"number": number}, JobLimits()))
    found = answers(executor)
    assert {p: found[p].fate.value for p in poisons} == {p: FATES[p] for p in poisons}
    assert {found[f"beside {p}"].fate for p in poisons} == {JobStatus.DONE}
    return found


def test_poisoned_jobs_are_named_and_others_go_on(executor: LocalProcesses) -> None:
    found = poisoned(executor, ("segfault", "deaf", "memory", "raise", "refuse", "chatter"))
    told = "it has killed 2 workers, by signal 11 (SIGSEGV)"
    assert found["segfault"].reason.startswith(told)
    assert found["deaf"].reason == "more than 1.5 s of time"
    assert found["memory"].reason == "more memory than it may have"
    assert found["raise"].reason == "ZeroDivisionError: poison of two lines"
    assert found["refuse"].reason == "j must stay outside i (hint: move it)"


@pytest.mark.deep
def test_every_poison(executor: LocalProcesses) -> None:
    found = poisoned(executor, list(FATES))
    assert found["exit"].reason == "it has killed 2 workers, by exit code 3: leaving"
    assert found["spin"].reason == "more than 1 s of CPU time"
    assert found["hang"].reason == "more than 1.5 s of time"


def test_jobs_that_wait_and_jobs_that_run_can_be_cancelled(executor: LocalProcesses) -> None:
    for key in ("a", "b", "c"):
        executor.submit(job(key, "slow", 60, JobLimits()))
    executor.submit(job("deaf", "run", {"number": 1, "poison": "deaf"}, JobLimits()))
    executor.submit(job("last", "double", 1))
    for key in ("b", "c", "deaf", "nothing"):
        executor.cancel(key)
    timer = threading.Timer(1.5, lambda: executor.cancel("a"))
    timer.start()
    found = answers(executor)
    fates = {key: answer.fate for key, answer in found.items()}
    assert fates == {
        **dict.fromkeys(("a", "b", "c", "deaf"), JobStatus.CANCELLED),
        "last": JobStatus.DONE,
    }


def test_progress_is_told(executor: LocalProcesses) -> None:
    told: list[tuple[str, float, str]] = []
    executor._progress = lambda *given: told.append(given)
    executor.submit(job("a", "slow", 0.5))
    assert answers(executor)["a"].value == "slept"
    assert ("a", 0.5, "sleeping") in told


def test_odd_values_and_targets(executor: LocalProcesses) -> None:
    for value in ("nan", "set", "large", "none"):
        executor.submit(job(value, "odd", value))
    executor.submit(job("x", "nothing"))
    executor.submit(Job("y", "no.module:f", None))
    executor.submit(Job("z", "", None))
    executor.submit(job("large request", "double", "x" * 3_000_000))
    found = answers(executor)
    assert "no JSON" in found["nan"].reason
    assert "no JSON" in found["set"].reason
    assert len(found["large"].value) == 5_000_000
    assert (found["none"].fate, found["none"].value) == (JobStatus.DONE, None)
    assert {found[key].fate for key in "xyz"} == {JobStatus.REFUSED}
    assert len(found["large request"].value) == 6_000_000
    with pytest.raises(DataError, match="no JSON"):
        executor.submit(job("w", "double", {1}))
    with pytest.raises(DataError):
        LocalProcesses(0)
    with pytest.raises(DataError):
        JobLimits(cpu=-1)


@pytest.mark.deep
def test_a_child_of_a_job_that_keeps_the_pipe_holds_nobody_up() -> None:
    with LocalProcesses(1) as executor:
        executor.submit(job("fork", "fork"))
        executor.submit(job("a", "double", 1))
        began = time.monotonic()
        found = answers(executor)
        assert found["fork"].fate is JobStatus.QUARANTINED
        assert found["a"].value == 2
        assert time.monotonic() - began < CHILD, "the child of the job is still there"


def test_workers_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "fuseloom.exploration.executors.local._BOOT", "import sys; sys.exit('no such thing')"
    )
    with LocalProcesses(2) as executor:
        executor.submit(job("a", "double", 1))
        with pytest.raises(FuseloomError, match="before they are ready: no such thing"):
            executor.next()


DRIVER = f"""
from fuseloom.exploration.executors import Job, JobLimits, LocalProcesses
executor = LocalProcesses(2)
for number in range(2):
    poison = ["hang", "deaf"][number]
    executor.submit(Job(str(number), "{HERE}:run", {{"number": number, "poison": poison}}))
executor.submit(Job("x", "{HERE}:pid", None))
import threading, time
def tell():
    time.sleep(WAIT)
    print(*executor.pids, flush=True)
threading.Thread(target=tell).start()
executor.next()
"""


@pytest.mark.parametrize("wait", [0.05, pytest.param(1.5, marks=pytest.mark.deep)])
def test_a_killed_driver_leaves_no_process(wait: float) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER.replace("WAIT", str(wait))],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert driver.stdout is not None
    pids = [int(pid) for pid in driver.stdout.readline().split()]
    assert len(pids) == 2
    driver.kill()
    driver.communicate()
    until(lambda: not any(map(psutil.pid_exists, pids)), "no process is left")
