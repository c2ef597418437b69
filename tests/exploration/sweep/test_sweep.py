"""Sweeps: each configuration once, whatever ends them, and the same whoever simulates."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import fuseloom as fl
from fuseloom.errors import DataError, StoreError
from fuseloom.exploration.executors import InProcess
from fuseloom.exploration.store import RunStore, State
from fuseloom.exploration.sweep import Base, Explored, Space, Status, explore
from fuseloom.exploration.sweep.space import FREE

ROOT = Path(__file__).parents[3]
SPACE = Space(Base("spmv", "random"), {"capacity": [2, 8, "sized", "none"], "seed": [0, 1]})


def states(found: Explored) -> Counter[str]:
    return Counter(row.state.value if row.state else "none" for row in found)


def test_estimates_first_then_the_best_then_all(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    found = explore(SPACE, store=path)
    assert found.complete
    assert found.new == {"estimated": 8}
    assert states(found) == {"estimated": 8}
    assert found.best is not None
    fewest = found.best.estimated

    found = explore(SPACE, store=path, simulate=2, jobs=0)
    assert found.new == {"done": 2}
    assert [row.estimated for row in found if row.cycles is not None] == [fewest] * 2

    found = explore(SPACE, store=path, simulate=True, jobs=0)
    assert found.new == {"done": 6}
    assert states(found) == {"done": 8}
    assert found.ok
    again = explore(SPACE, store=path, simulate=True, estimated=False, jobs=0)
    assert again.new == {}
    assert again.rows == found.rows
    with RunStore(path) as store:
        assert store.counts() == {State.DONE: 8}
        assert all(run.label.estimated is not None for run in store.runs())


def test_what_is_found_is_what_simulate_gives(tmp_path: Path) -> None:
    model, data = fl.load("gcn", "karate")
    space = Space(Base("gcn"), {"preset": ["unfused", "partial"], "order": ["first"]})
    found = explore(space, simulate=True, jobs=1, store=tmp_path / "runs.sqlite")
    for row in found:
        run = fl.simulate(fl.compile(model.program, row.schedule), data)
        assert (row.cycles, row.bytes, row.flops) == (run.cycles, run.work.bytes, run.work.flops)
        assert row.ok
    assert [*found.frame["cycles"]] == [row.cycles for row in found]


def test_it_goes_by_the_name_of_its_room_too() -> None:
    assert fl.explore is explore
    assert fl.Space is Space


def test_refusals_are_results(tmp_path: Path) -> None:
    axes = {"data": ["random", "karate"], "capacity": [2, "none"], "lanes.z": [1, 2]}
    space = Space(Base("spmm", schedule="order T: i,k,j"), axes)
    with RunStore(tmp_path / "runs.sqlite") as store:
        found = explore(space, store=store, simulate=True, jobs=0)
        assert found.complete
        assert states(found) == {"refused": 7, "done": 1}
        told = [row.reason for row in found]
        assert sum("deadlock" in reason for reason in told) == 1
        assert sum("no region has an index" in reason for reason in told) == 2
        assert sum("does not fit" in reason for reason in told) == 4
        assert store.counts() == {State.REFUSED: 3, State.DONE: 1}
        assert explore(space, store=store, simulate=True, jobs=0).new == {}
        made = explore(space, store=store, simulate=True, jobs=0, again=[State.REFUSED])
        assert made.new == {"refused": 1}  # what is refused before a run is not begun
    with pytest.raises(DataError, match="no configuration of this space can be: data set karate"):
        explore(Space(Base("spmm"), {"data": ["karate"]}), store=tmp_path / "other.sqlite")


def test_what_is_asked_has_to_make_sense(tmp_path: Path) -> None:
    for wrong in (
        {"limit": 0},
        {"estimated": False},
        {"estimated": False, "simulate": 3},
        {"simulate": 0},
        {"jobs": 1, "executor": InProcess()},
        {"jobs": -1, "simulate": True},
        {"time_limit": -1.0},
    ):
        with pytest.raises(DataError):
            explore(SPACE, store=tmp_path / "runs.sqlite", **wrong)
    (tmp_path / "text").write_text("no store")
    with pytest.raises(StoreError):
        explore(SPACE, store=tmp_path / "text")


def test_a_limit_says_that_there_is_more(tmp_path: Path) -> None:
    found = explore(SPACE, store=tmp_path / "runs.sqlite", limit=3)
    assert (len(found), found.complete) == (3, False)
    assert explore(SPACE, store=tmp_path / "runs.sqlite", limit=8).complete
    model = Space(Base("gcn", preset="full"), {"order": ["all"]})
    assert not explore(model, store=tmp_path / "runs.sqlite", limit=2).complete


def test_progress_is_told_and_can_end_it(tmp_path: Path) -> None:
    told: list[Status] = []

    def tell(status: Status) -> bool:
        told.append(status)
        return status.done < 3

    found = explore(SPACE, store=tmp_path / "runs.sqlite", progress=tell)
    assert not found.complete
    assert len(found) == 3
    assert (told[-1].done, told[-1].total) == (3, 8)
    assert told[-1].best == min(row.figure for row in found)
    told.clear()
    found = explore(SPACE, store=tmp_path / "runs.sqlite", progress=tell, simulate=True, jobs=1)
    assert not found.complete
    assert 2 <= found.new["done"] <= 4
    with RunStore(tmp_path / "runs.sqlite") as store:
        assert State.LEASED not in store.counts()


def test_a_simulation_under_way_can_be_ended(tmp_path: Path) -> None:
    """It listens to its progress, in worker processes and in this one."""
    axes = {"with.sequence": [512], "order": ["first"]}
    space = Space(Base("gpt3", preset="unfused"), axes)
    for jobs in (0, 1):
        found = explore(
            space, store=tmp_path / "runs.sqlite", estimated=False, simulate=True, jobs=jobs,
            progress=lambda status: "simulating" not in status.text,
        )  # fmt: skip
        assert not found.complete
        assert [row.cycles for row in found] == [None]


def test_limits_of_a_run(tmp_path: Path) -> None:
    space = Space(Base("gpt3", preset="unfused"), {"with.sequence": [512], "order": ["first"]})
    found = explore(
        space, store=tmp_path / "runs.sqlite", estimated=False, simulate=True, jobs=1,
        time_limit=0.05,
    )  # fmt: skip
    (row,) = found
    assert (row.state, row.reason) == (State.LIMIT, "more than 0.05 s of time")
    limits = fl.Limits(1000)
    path = tmp_path / "other.sqlite"
    found = explore(SPACE, store=path, simulate=True, jobs=0, limits=fl.Limits(10))
    assert states(found) == {"limit": 8}
    found = explore(SPACE, store=path, simulate=True, jobs=0, limits=limits)
    assert states(found) == {"limit": 8}
    found = explore(SPACE, store=path, simulate=True, jobs=0, limits=limits, again=[State.LIMIT])
    assert states(found) == {"done": 8}


DRIVER = """
import sys
from fuseloom.exploration.sweep import explore
from tests.exploration.sweep.test_sweep import MANY
explore(MANY, store=sys.argv[1], simulate=True, jobs=int(sys.argv[2]))
"""
MANY = Space(
    Base("spmm", "random"),
    {"seed": range(6), "capacity": ["sized", "none"], "load_latency": [1, 5], "order": ["all"]},
)


def killed(path: Path, kills: int, seed: int) -> None:
    """A sweep that is killed again and again, and one that is not, give the same runs."""
    rng = random.Random(seed)
    command = [sys.executable, "-c", DRIVER, str(path), "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(kills):
        driver = subprocess.Popen(command, env=environment, cwd=ROOT)
        time.sleep(rng.uniform(1.0, 4.0))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    found = explore(MANY, store=path, simulate=True, jobs=2)
    whole = explore(MANY, store=path.with_name("whole.sqlite"), simulate=True, jobs=0)
    assert found.complete
    assert [replace(row, seconds=0) for row in found] == [replace(row, seconds=0) for row in whole]
    with RunStore(path) as store:
        assert store.counts() == {State.DONE: 48}


@pytest.mark.deep
def test_a_killed_driver_loses_nothing(tmp_path: Path) -> None:
    killed(tmp_path / "runs.sqlite", 1, 16)


@pytest.mark.fuzz
def test_a_driver_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    killed(tmp_path / "runs.sqlite", 12, 17)


def test_a_mapping_will_do(tmp_path: Path) -> None:
    given: dict[str, Any] = {"model": ["spmv"], "capacity": [4]}
    found = explore(given, store=tmp_path / "runs.sqlite")
    assert [dict(row.values) for row in found] == [{"model": "spmv", "capacity": "4"}]


def test_the_example_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    text = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(compile(code, "docs/sweeps.md", "exec"), names)
    assert capsys.readouterr().out.count(" done") == 4
    assert len(names["found"].frame) == 4
    axes = re.findall(r"^\| (`[a-zA-Z.`, ]+`) \|", text, re.MULTILINE)
    told = {name for cell in axes for name in re.findall(r"`([a-zA-Z.]+)`", cell)}
    assert told == {*FREE}
