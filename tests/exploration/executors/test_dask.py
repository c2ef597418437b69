"""Jobs on the workers of a Dask scheduler: the same answers, and nothing lost."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client

from fuseloom.errors import DataError, FuseloomError
from fuseloom.exploration.executors import Job, JobLimits, JobResult, JobStatus, keep_runs
from fuseloom.exploration.executors.dask import DaskWorkers
from fuseloom.exploration.store import RunStore, State
from fuseloom.exploration.sweep import Base, Space, explore
from tests.exploration.executors.clusters import ROOT, Cluster
from tests.exploration.executors.targets import FATES
from tests.exploration.executors.test_drive import many
from tests.exploration.store.samples import identity, record
from tests.waiting import until

HERE = "tests.exploration.executors.targets"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One for all tests that kill nothing."""
    made = Cluster(tmp_path_factory.mktemp("dask"), 2)
    yield made
    made.close()


def answers(executor: DaskWorkers) -> dict[str, JobResult]:
    found = {}
    while (answer := executor.next()) is not None:
        assert answer.key not in found
        found[answer.key] = answer
    return found


def job(key: str, target: str, request: object = None, limits: JobLimits | None = None) -> Job:
    return Job(key, f"{HERE}:{target}", request, limits or JobLimits())


def test_jobs_are_answered(cluster: Cluster) -> None:
    with DaskWorkers(cluster.address) as executor:
        assert executor.next() is None
        for number in range(20):
            executor.submit(job(str(number), "double", number))
        found = answers(executor)
        assert {int(key): a.value for key, a in found.items()} == {n: 2 * n for n in range(20)}
        assert executor.wanted == 4
        for value in ("nan", "large", "none"):
            executor.submit(job(value, "odd", value))
        found = answers(executor)
        assert (found["nan"].fate, found["none"].value) == (JobStatus.FAILED, None)
        assert len(found["large"].value) == 5_000_000
    assert executor.next() is None
    with pytest.raises(DataError, match="closed"):
        executor.submit(job("a", "double", 1))


def test_poisons_have_the_same_fates(cluster: Cluster) -> None:
    poisons = ("segfault", "memory", "raise", "refuse", "hang", "chatter", "killed", "exit")
    with DaskWorkers(cluster.address) as executor:
        for number, poison in enumerate(poisons):
            wall = 1.5 if poison == "hang" else None
            limits = JobLimits(cpu=1, wall=wall, memory=300 << 20)
            executor.submit(job(poison, "run", {"number": number, "poison": poison}, limits))
            executor.submit(job(f"beside {poison}", "run", {"number": number}))
        found = answers(executor)
    assert {p: found[p].fate.value for p in poisons} == {p: FATES[p] for p in poisons}
    assert {found[f"beside {p}"].fate for p in poisons} == {JobStatus.DONE}
    assert found["segfault"].reason.startswith("it has killed 2 workers, by signal 11")


def test_cancelled_jobs_end_on_their_workers(cluster: Cluster) -> None:
    told: list[tuple[str, float, str]] = []
    with DaskWorkers(cluster.address, lambda *given: told.append(given)) as executor:
        for key in ("a", "b", "c"):
            executor.submit(job(key, "slow", 600))
        executor.submit(job("deaf", "run", {"number": 1, "poison": "deaf"}))
        executor.submit(job("last", "double", 1))
        until(lambda: told, "a job reports its share")
        assert told[0][1:] == (0.5, "sleeping")
        for key in ("a", "b", "c", "deaf", "nothing"):
            executor.cancel(key)
        fates = {key: answer.fate for key, answer in answers(executor).items()}
        assert fates == {**dict.fromkeys(("a", "b", "c", "deaf"), JobStatus.CANCELLED),
                         "last": JobStatus.DONE}  # fmt: skip


def test_files_go_along(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    asked = {"paths": [str(tmp_path / "a.txt"), "other"]}
    with DaskWorkers(cluster.address) as executor:
        given = job("a", "read", asked)
        executor.submit(replace(given, files=(str(tmp_path / "a.txt"),)))
        (answer,) = answers(executor).values()
        text, path, other = answer.value
        assert (text, other) == ("content", "other")
        assert path != str(tmp_path / "a.txt")
        with pytest.raises(DataError, match="cannot read"):
            executor.submit(replace(given, files=(str(tmp_path / "none"),)))


def test_sweeps_are_the_same_bit_for_bit(cluster: Cluster, tmp_path: Path) -> None:
    axes = {"seed": [0, 1], "capacity": ["sized", "none"], "machine": ["default", "hbm2"]}
    space = Space(Base("spmm", "random"), axes)
    here = explore(space, store=tmp_path / "here.sqlite", simulate=True, jobs=0)
    there = explore(
        space, store=tmp_path / "there.sqlite", simulate=True, scheduler=cluster.address
    )
    assert there.new == {"done": 8}
    kept = []
    for name in ("here", "there"):
        with RunStore(tmp_path / f"{name}.sqlite") as store:
            records = {run.key: run.record for run in store.whole()}
            kept.append({k: replace(r, seconds=0) for k, r in records.items() if r is not None})
    assert len(kept[0]) == 8
    assert kept[0] == kept[1]
    assert [row.cycles for row in here] == [row.cycles for row in there]


def test_no_client_is_collected_while_another_is_made(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock is held then that its end would wait for."""
    seen = []

    def made(*given: Any, **named: Any) -> Any:
        seen.append(gc.isenabled())
        return Client(*given, **named)

    monkeypatch.setattr("fuseloom.exploration.executors.dask.Client", made)
    with DaskWorkers(cluster.address):
        assert seen == [False]
        assert gc.isenabled()


def test_nobody_there_and_other_versions(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuseloom.exploration.executors.dask._CONNECT", 0.5)
    with pytest.raises(FuseloomError, match=r"answers at tcp://127\.0\.0\.1:1"):
        DaskWorkers("tcp://127.0.0.1:1")
    with pytest.raises(FuseloomError, match="no Dask scheduler answers"):
        DaskWorkers("no address")
    assert gc.isenabled()
    monkeypatch.undo()
    with DaskWorkers(cluster.address) as executor:
        monkeypatch.setattr("fuseloom.exploration.executors.dask.engine_version", lambda: "0.0.0")
        executor.submit(job("a", "double", 1))
        with pytest.raises(FuseloomError, match="the same version"):
            executor.next()


# Kills -----------------------------------------------------------------------------------------

DRIVER = """
import sys
from fuseloom.exploration.executors import keep_runs
from fuseloom.exploration.executors.dask import DaskWorkers
from fuseloom.exploration.store import RunStore
from tests.exploration.executors.test_drive import many
path, address, count, poisoned = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
with RunStore(path) as store, DaskWorkers(address) as executor:
    print("begun", flush=True)
    keep_runs(store, executor, many(count, poisoned), told=lambda key, _: print(key, flush=True))
"""


def kill_again_and_again(folder: Path, kills: int, count: int, poisoned: int, seed: int) -> None:
    """Driver, scheduler, Dask workers and their processes are killed at random moments."""
    rng = random.Random(seed)
    cluster = Cluster(folder, 3)
    path = folder / "runs.sqlite"
    path.unlink(missing_ok=True)
    command = [sys.executable, "-c", DRIVER, str(path), cluster.address, str(count), str(poisoned)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for name in ("PYTHONPATH",):
        if os.environ.get(name):
            environment[name] = f"{ROOT}{os.pathsep}{os.environ[name]}"
    told: set[str] = set()
    done: dict[str, int] = {}
    output = (folder / "driver.log").open("w+")
    driver: subprocess.Popen[bytes] | None = None
    end = time.monotonic() + 3600
    while time.monotonic() < end:
        if driver is None:
            output.truncate(0)
            output.seek(0)
            driver = subprocess.Popen(command, stdout=output, cwd=ROOT, env=environment)
        time.sleep(rng.uniform(0.5, 5.0) if sum(done.values()) < kills else 0.5)
        cluster.mend()
        ended = driver.poll()
        if ended is not None:
            told |= {line for line in _lines(folder) if len(line) == 64}
            driver = None
            if ended == 0:
                break
            continue
        if sum(done.values()) >= kills:
            continue
        victim = rng.choice(("driver", "scheduler", "worker", "worker", "job"))
        jobs = cluster.jobs()
        if victim == "job" and not jobs:
            continue
        done[victim] = done.get(victim, 0) + 1
        match victim:
            case "driver":
                driver.send_signal(signal.SIGKILL)
                driver.wait()
            case "scheduler":
                cluster.scheduler.kill()
            case "worker":
                rng.choice(cluster.workers).kill()
            case "job":
                rng.choice(jobs).kill()
    output.close()
    assert driver is None
    with RunStore(path) as store:
        runs = {run.key: run for run in store.whole()}
    assert told <= runs.keys()
    assert len(runs) == count
    hit = 0
    for number, made in enumerate(many(count, poisoned)):
        run = runs[identity(number).key]
        wanted = FATES.get(made.request.get("poison", ""), "done")
        if run.state.value != wanted:  # several kills from outside can hit one job
            assert run.state is State.QUARANTINED
            hit += 1
        assert run.record == (record(number) if run.state is State.DONE else None)
    assert hit <= 1 + kills // 15
    print(done)
    cluster.close()


def _lines(folder: Path) -> list[str]:
    return (folder / "driver.log").read_text().split("\n")[:-1]


def test_kills_at_random_moments(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 2, 80, 0, seed=6)


@pytest.mark.fuzz
def test_sixty_kills_among_poisoned_runs(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 60, 1_000, 30, seed=17)


def test_a_scheduler_that_stays_lost_ends_it_and_what_was_finished_is_kept(
    tmp_path: Path,
) -> None:
    cluster = Cluster(tmp_path, 1)
    try:
        tasks = many(40, 0)
        with (
            RunStore(tmp_path / "runs.sqlite") as store,
            DaskWorkers(cluster.address, patience=1.0) as executor,
        ):
            kept: list[str] = []

            def told(key: str, outcome: object) -> None:
                kept.append(key)
                if len(kept) == 5:
                    cluster.scheduler.kill()

            with pytest.raises(FuseloomError, match="is lost"):
                keep_runs(store, executor, tasks, told=told)
            assert store.counts() == {State.DONE: len(kept)}
            cluster.mend()
            with DaskWorkers(cluster.address) as other:
                assert keep_runs(store, other, tasks).there == len(kept)
            assert store.counts() == {State.DONE: 39, State.FAILED: 1}  # one is poisoned
    finally:
        cluster.close()


def test_a_killed_driver_leaves_no_job(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, 1)
    try:
        code = (
            "import sys\n"
            "from fuseloom.exploration.executors import Job\n"
            "from fuseloom.exploration.executors.dask import DaskWorkers\n"
            "executor = DaskWorkers(sys.argv[1], lambda *told: print(*told, flush=True))\n"
            f"executor.submit(Job('a', '{HERE}:slow', 600))\n"
            "executor.next()\n"
        )
        driver = subprocess.Popen(
            [sys.executable, "-c", code, cluster.address], stdout=subprocess.PIPE, text=True,
            cwd=ROOT,
        )  # fmt: skip
        assert driver.stdout is not None
        while "sleeping" not in driver.stdout.readline():
            assert driver.poll() is None
        (busy,) = cluster.jobs()
        driver.kill()
        driver.communicate()
        with DaskWorkers(cluster.address) as executor:  # the worker is free again
            executor.submit(job("b", "double", 1))
            assert answers(executor)["b"].value == 2
        until(lambda: not busy.is_running(), "the process of the driver's job has ended")
        assert psutil.pid_exists(cluster.workers[0].pid)
    finally:
        cluster.close()
