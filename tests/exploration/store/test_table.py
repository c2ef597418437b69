"""Files of runs: what is exported is imported as it was, and nothing else is."""

from __future__ import annotations

import builtins
import copy
import csv
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.exploration.store import Outcome, RunLabel, RunStore, State, StoredRun
from fuseloom.exploration.store.table import COLUMNS, export_runs, frame_of, read_runs
from fuseloom.results.document import DocumentKind
from tests.exploration.store.samples import LABEL, identity, outcome
from tests.schemas import check_document

ODD = RunLabel('a "quoted", =1+1\n\r name, ΔΣ NA', "NaN", "null", 1e300)


@pytest.fixture
def runs(tmp_path: Path) -> list[StoredRun]:
    with RunStore(tmp_path / "runs.sqlite") as store:
        for number in range(8):
            store.put(identity(number), outcome(number), ODD if number == 3 else LABEL)
        return [replace(run, change=0) for run in store.whole()]


ENDINGS = (".csv", ".json", ".parquet")


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_read_back(ending: str, runs: list[StoredRun], tmp_path: Path) -> None:
    path = tmp_path / f"out{ending}"
    assert export_runs(runs, path) == 8
    found = read_runs(path)
    # the clock of files ticks in microseconds
    assert [replace(run, created=0, changed=0) for run in found] == [
        replace(run, created=0, changed=0) for run in runs
    ]
    assert all(abs(a.changed - b.changed) < 2e-6 for a, b in zip(found, runs, strict=True))
    with RunStore(tmp_path / "other.sqlite") as store:
        assert store.put_all(found) == 8
        assert store.put_all(found) == 0
        first = list(store.whole())
    again = tmp_path / f"again{ending}"
    export_runs(first, again)
    assert read_runs(again) == found
    assert export_runs([], path) == 0
    assert read_runs(path) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_estimates_read_back_and_give_way(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{ending}"
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.put(identity(1), Outcome(State.ESTIMATED), LABEL)
        export_runs(store.whole(), path)
        made = read_runs(path)
        assert [(run.state, run.label.estimated) for run in made] == [(State.ESTIMATED, 90.0)]
        if ending == ".json":
            check_document(json.loads(path.read_text()), DocumentKind.RUNS)
            path.write_text(path.read_text().replace("90.0", "null"))
            with pytest.raises(FuseloomError, match="estimated is missing"):
                read_runs(path)
    with RunStore(tmp_path / "other.sqlite") as other:
        other.put(identity(1), outcome(1))
        assert other.put_all(made) == 0
        assert other.counts() == {State.DONE: 1}


def test_json_follows_its_schema(runs: list[StoredRun], tmp_path: Path) -> None:
    export_runs(runs, tmp_path / "out.json")
    made = json.loads((tmp_path / "out.json").read_text())
    check_document(made, DocumentKind.RUNS)


def test_an_import_never_overwrites(runs: list[StoredRun], tmp_path: Path) -> None:
    with RunStore(tmp_path / "other.sqlite") as store:
        store.put(identity(0), outcome(5))
        assert store.put_all(runs) == 7
        kept = store.get(identity(0).key)
        assert kept is not None
        assert kept.reason == outcome(5).reason


def test_parquet_names_what_it_needs(
    runs: list[StoredRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def absent(name: str, *given: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(FuseloomError, match=r"fuseloom\[parquet\]"):
        export_runs(runs, tmp_path / "out.parquet")
    (tmp_path / "in.parquet").write_bytes(b"PAR1")
    with pytest.raises(FuseloomError, match=r"fuseloom\[parquet\]"):
        read_runs(tmp_path / "in.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_places_that_cannot_be_written(runs: list[StoredRun], tmp_path: Path) -> None:
    for name in ("none/a.csv", "a.txt", "a"):
        with pytest.raises(FuseloomError):
            export_runs(runs, tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FuseloomError, match="it is no file"):
        export_runs(runs, tmp_path / "folder.csv")


Change = Callable[[dict[str, Any]], object]
CHANGES: dict[str, tuple[Change, str]] = {
    "key": (lambda r: r.update(key="0" * 64), "the hash of what the run rests on"),
    "program": (lambda r: r.update(program="other"), "run 1.key"),
    "data": (lambda r: r.update(data_hash="e" * 64), "run 1.key"),
    "settings": (lambda r: r.update(settings={"a": 1}), "settings.a is 1 (hint: a text)"),
    "leased": (lambda r: r.update(state="leased", record=None, cycles=None), "has not come out"),
    "state": (lambda r: r.update(state="great"), "run 1.state is 'great'"),
    "no record": (lambda r: r.update(record=None), "has a record, or lacks one"),
    "failed": (lambda r: r.update(state="failed"), "has a record, or lacks one"),
    "cycles": (lambda r: r.update(cycles=1), "as its record has it"),
    "seconds": (lambda r: r.update(seconds=7), "not what its record has"),
    "version": (lambda r: r["record"].update(version=99), "version 99"),
    "record": (lambda r: r["record"].pop("regions"), "has no 'regions'"),
    "huge": (lambda r: r["record"].update(cycles=2**70), "run 1"),
    "attempts": (lambda r: r.update(attempts=0), "run 1.attempts is 0"),
    "attempt": (lambda r: r.update(attempts=2**63), "run 1.attempts is"),
    "moment": (lambda r: r.update(changed="yesterday"), "run 1.changed is 'yesterday'"),
    "zone": (lambda r: r.update(changed="2026-01-01"), "run 1.changed is"),
    "end of time": (lambda r: r.update(created="9999-12-31T23:59:59+00:00"), "run 1.created"),
    "estimate": (lambda r: r.update(estimated=10**400), "is too large"),
    "negative": (lambda r: r.update(estimated=-1), "run 1.estimated is -1"),
    "surrogate": (lambda r: r.update(name="\ud800"), "half a character"),
    "long reason": (lambda r: r.update(reason="x" * 5_000), "is longer than"),
    "extra": (lambda r: r.update(colour="red"), "run 1 has an unknown 'colour'"),
    "missing": (lambda r: r.pop("engine"), "run 1 has no 'engine'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_wrong_is_named(change: str, runs: list[StoredRun], tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    export_runs(runs, path)
    made = json.loads(path.read_text())
    action, told = CHANGES[change]
    action(made["runs"][0])
    path.write_text(json.dumps(made))
    with pytest.raises(FuseloomError) as problem:
        read_runs(path)
    assert told in str(problem.value)
    assert "\n" not in str(problem.value)


def test_columns_of_tables_are_checked(runs: list[StoredRun], tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    export_runs(runs, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    for column, value, told in (
        ("cycles", "many", "run 1.cycles: invalid literal"),
        ("cycles", "9" * 5_000, "run 1.cycles"),
        ("seconds", "nan", "run 1.seconds"),
        ("record", "{", "run 1.record: malformed JSON"),
        ("settings", "", "run 1.settings"),
        ("settings", "[" * 100_000, "run 1.settings: malformed JSON"),
    ):
        changed = copy.deepcopy(rows)
        changed[0][column] = value
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(changed)
        with pytest.raises(FuseloomError) as problem:
            read_runs(path)
        assert told in str(problem.value)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FuseloomError, match="missing or unknown"):
        read_runs(path)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_files_give_runs_or_are_refused(
    ending: str, runs: list[StoredRun], tmp_path: Path
) -> None:
    path = tmp_path / f"out{ending}"
    export_runs(runs, path)
    content = path.read_bytes()
    rng = random.Random(1_611)
    right = {run.key for run in runs}
    refused = 0
    for trial in range(150):
        damaged = bytearray(content)
        at = rng.randrange(len(content))
        if trial % 3 == 0:
            del damaged[at:]
        elif trial % 3 == 1:
            damaged[at] = rng.randrange(256)
        else:
            damaged[at : at + 3] = rng.choice([b'"', b"\0", b"\n", b",", b"[[[", b"\xff"])
        path.write_bytes(damaged)
        try:
            assert {run.key for run in read_runs(path)} <= right
        except FuseloomError as problem:
            refused += 1
            assert "\n" not in str(problem)  # noqa: PT017
    assert refused > 60


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name, content in (
        ("a.json", b"{}"), ("b.json", b"[1]"), ("c.csv", b""), ("d.csv", b"\xff\xfe"),
        ("e.json", b'{"fuseloom": "runs", "version": 3, "total": 0, "runs": []}'),
        ("f.json", b'{"fuseloom": "runs", "version": 2, "total": 5, "runs": []}'),
        ("g.json", b'{"fuseloom": "runs", "version": 2, "total": 1, "runs": [3]}'),
        ("h.txt", b""),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FuseloomError):
            read_runs(tmp_path / name)
    with pytest.raises(FuseloomError, match="cannot read"):
        read_runs(tmp_path / "none.csv")


def test_the_frame_has_types(runs: list[StoredRun]) -> None:
    frame = frame_of(runs)
    assert frame["cycles"].dtype == pd.Int64Dtype()
    assert list(frame.columns) == [c for c in COLUMNS if c not in ("program", "record")]
    assert frame_of([]).dtypes.equals(frame.dtypes)
