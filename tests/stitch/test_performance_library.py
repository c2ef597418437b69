"""The performance library: keys, files of other versions and programs, damage, no file at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fuseloom.stitch.operation_timing import PerformanceLookup, PerformanceTime
from fuseloom.stitch.performance_library import (
    APPLICATION,
    VARIABLE,
    VERSION,
    PerformanceLibrary,
    default_library_path,
)
from fuseloom.stitch.schedules import BlockSchedule

from .stitched_modules import GraphMaker

MODULE_MAKER = GraphMaker()
MODULE_MAKER.add("negate", (8, 6), MODULE_MAKER.parameter(8, 6))
MODULE = MODULE_MAKER.module()


class CountingTimer:
    """Gives each lookup the next integer for its time."""

    def __init__(self) -> None:
        self.asked: list[PerformanceLookup] = []

    def __call__(self, lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
        made = [PerformanceTime(len(self.asked) + n, 3) for n in range(len(lookups))]
        self.asked += lookups
        return made


def library(path: Path, machine: str = "m") -> tuple[PerformanceLibrary, CountingTimer]:
    timer = CountingTimer()
    return PerformanceLibrary(path, timer, machine), timer


def wanted(found: PerformanceLibrary, *swords: int) -> list[PerformanceLookup]:
    operation = MODULE.main.by_name[MODULE.main.root]
    return [
        found.lookup(MODULE, MODULE.main, operation, BlockSchedule(0, sword)) for sword in swords
    ]


def filled(path: Path) -> None:
    made, _ = library(path)
    made.times(wanted(made, 1, 2))


def test_times_outlive_the_library(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "times.sqlite"
    filled(path)
    again, timer = library(path)
    assert len(again) == 2
    keys = wanted(again, 2, 1, 2, 4, 4)
    found = again.times(keys)
    assert [found[one.key].nanoseconds for one in keys] == [1, 0, 1, 0, 0]
    assert (again.hits, again.misses) == (4, 1)
    assert [one.key.sword for one in timer.asked] == [4]
    assert keys[0].key in again
    assert again.said == ()
    assert not again.in_memory


def test_times_of_another_machine_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "times.sqlite"
    filled(path)
    other, _ = library(path, "another")
    assert len(other) == 0
    other.times(wanted(other, 1))
    assert len(library(path)[0]) == 2
    assert len(library(path, "another")[0]) == 1


def test_what_has_no_kernel_is_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "times.sqlite"
    made = PerformanceLibrary(path, lambda some: [PerformanceTime(0, 0) for _ in some], "m")
    made.times(wanted(made, 1))
    assert len(made) == 1
    assert len(library(path)[0]) == 0


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def damage(path: Path) -> None:
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


def cut(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[:5000])


def foreign(path: Path) -> None:
    changed(path, "CREATE TABLE letters (text TEXT)")


def other_version(path: Path) -> None:
    filled(path)
    changed(path, f"PRAGMA user_version = {VERSION + 1}")


def other_table(path: Path) -> None:
    filled(path)
    changed(path, "DROP TABLE times", "CREATE TABLE times (x TEXT)")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(b"no library"), "is no library of times"),
        (foreign, "is a database of another program"),
        (other_version, f"is of version {VERSION + 1}, and this program knows {VERSION}"),
        (damage, "is damaged"),
        (cut, "is damaged"),
        (other_table, "is damaged"),
    ],
)
def test_what_is_not_understood_is_set_aside(
    tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    path = tmp_path / "times.sqlite"
    (tmp_path / "times.sqlite.aside1").write_text("of an earlier time")
    make(path)
    before = path.read_bytes()
    made, timer = library(path)
    assert (tmp_path / "times.sqlite.aside2").read_bytes() == before
    assert said in made.said[0]
    assert "aside2" in made.said[0]
    made.times(wanted(made, 1))
    assert len(timer.asked) == 1
    assert library(path)[0].said == ()
    assert len(library(path)[0]) == 1


def test_an_empty_file_becomes_a_library(tmp_path: Path) -> None:
    path = tmp_path / "times.sqlite"
    path.touch()
    filled(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_removed_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "times.sqlite"
    made, _ = library(path)
    path.unlink()
    made.times(wanted(made, 1))
    assert len(library(path)[0]) == 1


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = os.access

    def access(path: Path, mode: int) -> bool:
        return mode != os.W_OK and asked(path, mode)

    monkeypatch.setattr(os, "access", access)


@pytest.mark.parametrize("there", [True, False])
def test_what_is_read_only_is_read_and_new_times_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    path = tmp_path / "times.sqlite"
    if there:
        filled(path)
    read_only(monkeypatch)
    made, timer = library(path)
    assert made.in_memory
    assert "read-only" in made.said[0]
    found = made.times(wanted(made, 1, 4))
    assert len(found) == (3 if there else 2)
    assert len(timer.asked) == (1 if there else 2)
    assert path.exists() == there
    if there:
        assert len(library(path)[0]) == 2


def test_what_is_read_only_and_damaged_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "times.sqlite"
    path.write_text("no library")
    read_only(monkeypatch)
    made, _ = library(path)
    assert any("is no library" in said for said in made.said)
    assert path.read_text() == "no library"
    assert len(made.times(wanted(made, 1))) == 1


def test_without_a_folder_or_a_file_times_stay_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for path in (tmp_path / "file" / "times.sqlite", tmp_path, tmp_path / "a\0b"):
        made, _ = library(path)
        assert made.in_memory, path
        assert "are not kept" in made.said[0]
        assert len(made.times(wanted(made, 1))) == 1


def test_a_file_that_becomes_unusable_is_told(tmp_path: Path) -> None:
    path = tmp_path / "times.sqlite"
    made, _ = library(path)
    path.unlink()
    path.mkdir()
    made.times(wanted(made, 1))
    assert made.in_memory
    assert wanted(made, 1)[0].key in made


def test_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    assert default_library_path() == tmp_path / "mine"
    monkeypatch.delenv(VARIABLE)
    assert default_library_path().name == "kernel-times.sqlite"
