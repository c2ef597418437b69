"""Looking for runs of one subject: those and no others, and nobody notices."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fuseloom.errors import StoreError
from fuseloom.exploration.store import (
    Outcome,
    RunReader,
    RunStore,
    State,
    Subject,
    database,
    layout,
)
from fuseloom.exploration.store.identity import RunIdentity
from tests.exploration.store.samples import LABEL, PROGRAM, identity, outcome, record

SUBJECT = Subject(PROGRAM, "d" * 64, "0123456789abcdef")


def plain(number: int, **other: str) -> RunIdentity:
    """An identity of the subject, unless something is another."""
    return replace(identity(number), settings={}, **other)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Ten runs of the subject, of 100 to 109 cycles."""
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        for number in range(10):
            store.put(plain(number), Outcome.of(record(number)), LABEL)
    return path


def cycles(path: Path, subject: Subject = SUBJECT, latest: int = 100, fastest: int = 0) -> list:
    with RunReader(path) as reader:
        return [run.cycles for run in reader.alike(subject, latest, fastest).runs]


def changed(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute(sql)
    raw.close()


def test_the_latest_and_the_fastest_of_all(path: Path) -> None:
    assert cycles(path) == list(range(109, 99, -1))
    assert cycles(path, latest=3) == [109, 108, 107]
    assert cycles(path, latest=3, fastest=2) == [109, 108, 107, 101, 100]
    assert cycles(path, latest=8, fastest=8) == list(range(109, 99, -1))
    assert cycles(path, latest=0) == []
    with RunReader(path) as reader:
        found = reader.alike(SUBJECT, 2, 1)
    assert (found.total, found.damaged) == (10, 0)
    assert found.runs[0].record == record(9)


def test_nothing_of_other_subjects_is_found(path: Path) -> None:
    others = {
        "program": "A: 5x5 csr\nx: 5 dense\ny[i] = A[i,j] * x[j]\n",
        "data": "e" * 64,
        "machine": "f" * 16,
        "numerics": "float64",
    }
    with RunStore(path) as store:
        for name, value in others.items():
            assert store.put(plain(50, **{name: value}), Outcome.of(record(50)), LABEL)
        assert store.put(identity(51), Outcome.of(record(51)), LABEL)  # of computed capacities
        store.put(plain(52), outcome(5), LABEL)  # refused
        store.claim(plain(53), LABEL)
    assert cycles(path) == list(range(109, 99, -1))
    for name in ("program", "data", "machine"):
        subject = replace(SUBJECT, **{name: others[name]})
        assert cycles(path, subject) == [150]
    assert cycles(path, replace(SUBJECT, data="")) == []


def test_runs_of_other_engines_are_told_apart(path: Path) -> None:
    with RunStore(path) as store:
        store.put(plain(3, engine="0.0.9+elder"), Outcome.of(record(3)), LABEL)
    with RunReader(path) as reader:
        found = reader.alike(SUBJECT, 2, 0)
    assert [run.identity.engine for run in found.runs] == ["0.0.9+elder", "0.1.0+test"]


def test_one_run_by_its_key(path: Path) -> None:
    with RunReader(path) as reader:
        run = reader.get(plain(4).key)
        assert run is not None
        assert run.identity == plain(4)
        assert run.state is State.DONE
        assert reader.get("0" * 64) is None


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runs SET key = 'f' || substr(key, 2) WHERE cycles = 104",
        "UPDATE runs SET schedule = schedule || ' ' WHERE cycles = 104",
        "UPDATE runs SET schedule = x'00ff' WHERE cycles = 104",
        "UPDATE runs SET changed = 'yesterday' WHERE cycles = 104",
        "UPDATE runs SET created = 1e300 WHERE cycles = 104",
        "UPDATE runs SET engine = 7 WHERE cycles = 104",
        "UPDATE runs SET estimated = 'few' WHERE cycles = 104",
    ],
)
def test_a_row_that_nobody_has_written_is_left_out_and_counted(path: Path, sql: str) -> None:
    changed(path, sql)
    with RunReader(path) as reader:
        found = reader.alike(SUBJECT, 100, 0)
    assert [run.cycles for run in found.runs] == [109, 108, 107, 106, 105, 103, 102, 101, 100]
    assert found.damaged == 1


@pytest.mark.parametrize("new", ["change = 'many'", "cycles = 'many'", "cycles = -1"])
def test_what_is_no_number_is_not_compared(path: Path, new: str) -> None:
    changed(path, f"UPDATE runs SET {new} WHERE cycles = 104")
    with RunReader(path) as reader:
        assert reader.alike(SUBJECT, 100, 100).total == 9


def test_a_long_record_stays_where_it_is(path: Path) -> None:
    changed(path, "UPDATE runs SET size = 1 << 40 WHERE cycles = 104")
    with RunReader(path) as reader:
        texts = {run.cycles: run.text for run in reader.alike(SUBJECT, 100, 0).runs}
    assert texts.pop(104) is None
    assert all(texts.values())


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as problem:
        action()
    return str(problem.value)


def test_no_file_is_made_or_changed(path: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "runs.sqlite"
    assert "there is no run store" in refused(lambda: RunReader(nowhere))
    assert not nowhere.parent.exists()
    before = path.read_bytes()
    cycles(path)
    assert path.read_bytes() == before
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    assert "version 0" in refused(lambda: RunReader(empty))
    assert empty.read_bytes() == b""
    other = tmp_path / "thesis.tex"
    other.write_text("All that I have written")
    assert "no run store" in refused(lambda: RunReader(other))


def test_a_newer_store_is_not_read(path: Path) -> None:
    changed(path, f"PRAGMA user_version = {layout.current() + 1}")
    assert f"is of version {layout.current() + 1}" in refused(lambda: RunReader(path))


def test_who_looks_waits_for_no_writer_and_no_writer_for_it(path: Path) -> None:
    with RunStore(path) as store, RunReader(path) as reader:
        with store._database.write() as writer:
            writer.execute("DELETE FROM runs")
            assert reader.alike(SUBJECT, 100, 0).total == 10
            assert cycles(path, latest=1) == [109]
        assert reader.alike(SUBJECT, 100, 0).total == 0


def test_a_file_that_one_keeps_for_itself_is_waited_for_briefly(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "GLANCE", 0.1)
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    raw.execute("BEGIN EXCLUSIVE")
    raw.execute("UPDATE changes SET count = count")
    assert "has kept the run store" in refused(lambda: cycles(path))
    raw.execute("COMMIT")
    raw.close()
    assert cycles(path, latest=1) == [109]


def test_damage_is_said(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 64] = b"\xff" * 64
    path.write_bytes(content)
    assert "damaged" in refused(lambda: cycles(path))


def test_the_latest_of_all_subjects(path: Path) -> None:
    with RunStore(path) as store:
        for number in range(10, 20):
            store.put(plain(number, program="other"), outcome(number), LABEL)
    with RunReader(path) as reader:
        assert [run.cycles for run in reader.latest(4)] == [119, 118, 117, 116]
        assert len(reader.latest(100)) == 17
    changed(path, "UPDATE runs SET settings = 'none' WHERE cycles = 119")
    with RunReader(path) as reader:
        assert [run.cycles for run in reader.latest(2)] == [118]
