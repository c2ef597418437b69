"""The file of the store: what it is, what it refuses to be, and what it says of trouble."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fuseloom.errors import FuseloomError, StoreError
from fuseloom.exploration.store import RunStore, State, database, layout
from tests.exploration.conftest import SmallDisk
from tests.exploration.store.samples import LABEL, identity, outcome


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with eight runs."""
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        for number in range(8):
            store.put(identity(number), outcome(number), LABEL)
    return path


def kept(path: Path) -> int:
    with RunStore(path) as store:
        return len(list(store.whole()))


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as problem:
        action()
    text = str(problem.value)
    assert "\n" not in text
    assert "hint: " in text
    return text


def test_a_store_of_a_newer_version_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {layout.current() + 1}")
    raw.close()
    before = path.read_bytes()
    text = refused(lambda: RunStore(path))
    assert f"version {layout.current() + 1}, this Fuseloom knows {layout.current()}" in text
    assert path.read_bytes() == before


def test_a_store_that_becomes_newer_is_no_longer_written(path: Path) -> None:
    store = RunStore(path)
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {layout.current() + 1}")
    raw.close()
    assert "use the newer" in refused(lambda: store.put(identity(9), outcome(0)))


def test_databases_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    for number, made in enumerate(("CREATE TABLE t (a)", "PRAGMA application_id = 7",
                                   "PRAGMA user_version = 1")):  # fmt: skip
        path = tmp_path / f"{number}.sqlite"
        with sqlite3.connect(path) as raw:
            raw.execute(made)
        raw.close()
        before = path.read_bytes()
        assert "another program" in refused(lambda path=path: RunStore(path))
        assert path.read_bytes() == before


def test_what_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.tex"
    path.write_text("All that I have written, over many a year.\n" * 100)
    before = path.read_bytes()
    assert "no run store" in refused(lambda: RunStore(path))
    assert path.read_bytes() == before
    assert "no file" in refused(lambda: RunStore(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    assert "no file" in refused(lambda: RunStore(tmp_path / "pipe"))
    assert "cannot make the folder" in refused(lambda: RunStore(path / "runs.sqlite"))
    assert "no file" in refused(lambda: RunStore(Path("/dev/null")))


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    with RunStore(path) as store:
        assert store.put(identity(1), outcome(1))


def test_damage_is_told(path: Path) -> None:
    """Wherever bytes are wrong: something is read, or one error tells."""
    rng = random.Random(16)
    content = path.read_bytes()
    told = 0
    for trial in range(60):
        damaged = bytearray(content)
        at = rng.randrange(len(damaged))
        if trial % 3:
            damaged[at : at + 500] = rng.randbytes(len(damaged[at : at + 500]))
        else:
            del damaged[at:]
        if not damaged:
            continue
        copy = path.with_name(f"{trial}.sqlite")
        copy.write_bytes(damaged)
        try:
            with RunStore(copy) as store:
                assert len(list(store.whole())) <= 8
                store.put(identity(20), outcome(0))
                store.collect(larger=0)
        except FuseloomError as problem:
            told += 1
            assert "\n" not in str(problem)  # noqa: PT017
    assert told > 20


def test_a_file_that_is_removed_in_use_is_noticed(path: Path) -> None:
    store = RunStore(path)
    path.unlink()
    assert "removed or replaced" in refused(lambda: store.put(identity(9), outcome(0)))
    shutil.copy(__file__, path)
    assert "removed or replaced" in refused(lambda: store.claim(identity(9)))


def test_a_closed_store(path: Path) -> None:
    store = RunStore(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.runs()


def as_nobody(action: Callable[[], None]) -> None:
    """Do something without the rights of root."""
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setegid(65534)
                os.seteuid(65534)
            action()
        except BaseException as problem:
            os.write(2, repr(problem).encode())
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_a_read_only_store_can_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``os.access`` asks for the real user's rights, which a test run by root has to make up."""
    monkeypatch.setattr(
        "os.access", lambda place, mode: not mode & os.W_OK or bool(os.stat(place).st_mode & 0o222)
    )
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() != "root" or folder == Path("/tmp"):
            break
        folder.chmod(0o755)
    path.chmod(0o444)
    tmp_path.chmod(0o555)

    def look() -> None:
        store = RunStore(path)
        assert len(list(store.whole())) == 8
        for action in (
            lambda: store.put(identity(9), outcome(0)),
            lambda: store.claim(identity(9)),
            lambda: store.collect(older=-100),
        ):
            assert "is read-only" in refused(action)

    as_nobody(look)
    path.chmod(0o000)
    as_nobody(lambda: refused(lambda: RunStore(path)) and None)
    as_nobody(lambda: refused(lambda: RunStore(tmp_path / "new" / "runs.sqlite")) and None)
    tmp_path.chmod(0o755)
    path.chmod(0o644)
    assert kept(path) == 8


def test_a_full_disk_loses_nothing(path: Path) -> None:
    """As a quota of pages gives it; SQLite tells both alike."""
    store = RunStore(path)
    raw = store._database._connection
    assert raw is not None
    (pages,) = raw.execute("PRAGMA page_count").fetchone()
    raw.execute(f"PRAGMA max_page_count = {pages + 3}").fetchall()
    number, lease = 100, None
    try:
        while True:
            lease = None
            lease = store.claim(identity(number))
            assert lease is not None
            store.finish(lease, outcome(0))
            number += 1
    except StoreError as problem:
        assert "the disk is full, or a quota" in str(problem)  # noqa: PT017
    finished = [run for run in store.runs() if run.finished]
    assert len(finished) == 8 + number - 100
    raw.execute("PRAGMA max_page_count = 100000").fetchall()
    if lease is not None:  # it was not lost with the result that did not fit
        assert store.finish(lease, outcome(0))
    assert store.put(identity(5000), outcome(0))
    assert raw.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_full_small_file_system(small_disk: SmallDisk) -> None:
    store = RunStore(small_disk.folder / "runs.sqlite")
    number = 0
    try:
        while True:
            store.put(identity(number), outcome(0))
            number += 1
    except StoreError as problem:
        assert "is full" in str(problem)  # noqa: PT017
    assert number > 20
    assert len(list(store.whole())) == number
    small_disk.grow("4m")
    assert store.put(identity(number), outcome(0))
    store.close()
    assert kept(small_disk.folder / "runs.sqlite") == number + 1


def test_who_holds_the_file_for_long_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.01)
    store = RunStore(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    assert len(store.runs()) == 8  # readers do not wait
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    began = time.monotonic()
    assert store.put(identity(9), outcome(0))
    assert time.monotonic() - began > 0.2
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    assert "for itself" in refused(lambda: store.put(identity(10), outcome(0)))
    other.execute("ROLLBACK")
    other.close()
    assert store.put(identity(10), outcome(0))


def test_many_processes_make_one_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    children = []
    for number in range(12):
        child = os.fork()
        if not child:
            with RunStore(path) as store:
                os._exit(0 if store.put(identity(number), outcome(number)) else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 12
    with RunStore(path) as store:
        assert sum(store.counts().values()) == 12
        assert State.LEASED not in store.counts()


def test_a_read_only_folder_is_told_to_a_process_of_its_own(path: Path) -> None:
    """The whole way through, by the store's own process; root may write anywhere."""
    done = subprocess.run(
        [sys.executable, "-c", "from fuseloom.exploration.store import RunStore\n"
         "RunStore('/proc/x/y')"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert "StoreError: cannot make the folder /proc/x" in done.stderr


@pytest.mark.parametrize(
    "change",
    ["state = 'great'", "settings = '[]'", "settings = '{\"a\": 1}'", "created = 'now'",
     "changed = 1e300", "name = x'ff'", "cycles = 'many'", "settings = '{'", "record = x'00'",
     "name = CAST(x'ff' AS TEXT)"],
)  # fmt: skip
def test_rows_that_nobody_has_written_are_told(path: Path, change: str) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE runs SET {change}")
    raw.close()
    with RunStore(path) as store:
        with pytest.raises(FuseloomError):
            list(store.whole())
        store.counts()
        assert store.put(identity(9), outcome(0))


@pytest.mark.parametrize("name", ["a?b#c%20&mode=ro.sqlite", "caf\udce9.sqlite", "ünï \n.db"])
def test_files_of_any_name(tmp_path: Path, name: str) -> None:
    with RunStore(tmp_path / name) as store:
        assert store.put(identity(1), outcome(1))
    assert kept(tmp_path / name) == 1
    assert (tmp_path / name).is_file()


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "a\0b/c"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError):
        RunStore(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_being_made_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process makes it while this one looks at what it is."""
    path = tmp_path / "runs.sqlite"
    path.touch()
    others: list[threading.Thread] = []

    class Slow(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            found = super().execute(sql, *values)
            if "application_id" in sql and not others:
                others.append(threading.Thread(target=lambda: RunStore(path).close()))
                others[0].start()
                others[0].join(timeout=1)
            return found

    connect = sqlite3.connect

    def slowly(*given: object, **more: object) -> sqlite3.Connection:
        return connect(*given, **more, **({} if others else {"factory": Slow}))

    monkeypatch.setattr(sqlite3, "connect", slowly)
    with RunStore(path) as store:
        assert store.put(identity(1), outcome(1))
    (other,) = others
    other.join()


def test_damage_that_sqlite_cannot_put_into_words_is_told(path: Path) -> None:
    content = path.read_bytes()
    at = content.index(b"CREATE TABLE runs")
    path.write_bytes(content[:at] + b"CREATE TABLE ru\xbf\xbf\xbe" + content[at + 18 :])
    assert "is damaged" in refused(lambda: kept(path))
