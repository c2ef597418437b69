"""Stores of earlier versions are brought up to date, whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from fuseloom.errors import StoreError
from fuseloom.exploration.store import RunStore, layout
from tests.exploration.store.samples import LABEL, identity, outcome

FIRST = Path(__file__).with_name("version_1.sql")
"""A store of version 1 with two runs, as text: it stays as it is."""


def first_store(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.executescript(FIRST.read_text(encoding="utf-8"))
    raw.execute(f"PRAGMA application_id = {layout.APPLICATION}")
    raw.execute("PRAGMA user_version = 1")
    raw.commit()
    raw.close()


def test_steps_have_no_gaps() -> None:
    assert sorted(layout.STEPS) == list(range(1, layout.current() + 1))


def test_a_store_of_version_1_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    first_store(path)
    with RunStore(path) as store:
        runs = {run.key: run for run in store.whole()}
        assert runs.keys() == {identity(0).key, identity(5).key}
        for number in (0, 5):
            run = runs[identity(number).key]
            assert (run.record, run.reason) == (outcome(number).record, outcome(number).reason)
            assert (run.label, run.identity) == (LABEL, identity(number))
        assert store.put(identity(1), outcome(1))
        lease = store.claim(identity(2))
        assert lease is not None
        assert store.finish(lease, outcome(2))
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA user_version").fetchone() == (layout.current(),)
    assert columns(raw) == columns_of_a_new_store(tmp_path)
    raw.close()


def columns(raw: sqlite3.Connection) -> set[tuple[str, ...]]:
    return {
        (table, *map(str, row[1:]))
        for table in ("runs", "programs", "changes")
        for row in raw.execute(f"PRAGMA table_info({table})")
    }


def columns_of_a_new_store(folder: Path) -> set[tuple[str, ...]]:
    RunStore(folder / "new.sqlite").close()
    raw = sqlite3.connect(folder / "new.sqlite")
    found = columns(raw)
    raw.close()
    return found


def newer(raw: sqlite3.Connection) -> None:
    raw.execute("ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'")


def test_a_further_step_is_taken_once_by_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        store.put(identity(1), outcome(1))
    old = RunStore(path)
    next_one = layout.current() + 1
    monkeypatch.setattr(layout, "STEPS", {**layout.STEPS, next_one: newer})
    children = []
    for number in range(2, 8):
        child = os.fork()
        if not child:
            with RunStore(path) as mine:
                os._exit(0 if mine.put(identity(number), outcome(number)) else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    assert len(old.runs()) == 7
    monkeypatch.undo()
    with pytest.raises(StoreError, match=f"is of version {next_one}"):
        old.put(identity(9), outcome(0))


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        store.put(identity(1), outcome(1))
    before = layout.current()

    def half(raw: sqlite3.Connection) -> None:
        newer(raw)
        raw.execute("DELETE FROM runs")
        raw.execute("ALTER TABLE nothing ADD COLUMN colour")

    monkeypatch.setattr(layout, "STEPS", {**layout.STEPS, before + 1: half})
    with pytest.raises(StoreError):
        RunStore(path)
    monkeypatch.undo()
    with RunStore(path) as store:
        assert len(store.runs()) == 1
        assert store.put(identity(2), outcome(2))
