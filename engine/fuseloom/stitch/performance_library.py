"""The performance library: times of single operations, by operation and schedule, kept in a file.

Section 4.4 of FusionStitching (Long et al., 2018).  What is not known is compiled, all of it at
once, and timed on this machine.  The file is a cache: one that cannot be read is set aside and made
anew, and where nothing can be written times are kept in memory.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, fields
from pathlib import Path

import platformdirs

from fuseloom.errors import StoreError
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.operation_timing import (
    KernelTimer,
    PerformanceKey,
    PerformanceLookup,
    PerformanceTime,
    machine_fingerprint,
    time_operations,
)
from fuseloom.stitch.performance_keys import PerformanceKeys
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shared_memory import SharedMemoryPlan
from fuseloom.stitch.stitched import StitchedKernel

VARIABLE = "FUSELOOM_TIMES"
"""Environment variable that names another file."""
APPLICATION = 0x46754C74
"""``application_id`` of the file, "FuLt"."""
VERSION = 1
"""``user_version`` of the file; one of another version is set aside."""
PATIENCE = 5.0
"""Seconds for which one waits for other processes that write."""
_HEADER = b"SQLite format 3\0"


def default_library_path() -> Path:
    """Return the file of ``$FUSELOOM_TIMES``, or ``kernel-times.sqlite`` in the user's cache."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "kernel-times.sqlite"


class PerformanceLibrary:
    """Times of operations, those in a file loaded at once.

    Parameters
    ----------
    path : Path, optional
        The file; by default :func:`default_library_path`.
    timer : callable, optional
        Times what is not known; by default :func:`time_operations`.
    machine : str, optional
        The fingerprint of what times are of; by default that of this machine.

    Attributes
    ----------
    hits, misses : int
        Lookups of keys that were known, and of others.
    in_memory : bool
        True if new times are not written to the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (8,)))
    >>> y = DenseOperation("y", "negate", TensorShape("f32", (8,)), ("x",))
    >>> graph = DenseComputation("f", (x, y), "y")
    >>> with TemporaryDirectory() as folder:
    ...     library = PerformanceLibrary(
    ...         Path(folder) / "times.sqlite", lambda some: [PerformanceTime(7, 1) for _ in some])
    ...     wanted = library.lookup(
    ...         DenseModule("m", {"f": graph}, "f"), graph, y, BlockSchedule(0, 2))
    ...     first, again = library.times([wanted]), library.times([wanted])
    >>> again[wanted.key], library.hits, library.misses
    (PerformanceTime(nanoseconds=7, runs=1), 1, 1)
    """

    def __init__(
        self,
        path: Path | None = None,
        timer: KernelTimer | None = None,
        machine: str | None = None,
    ) -> None:
        self.path = default_library_path() if path is None else path
        self.machine = machine_fingerprint() if machine is None else machine
        self.hits = self.misses = 0
        self.in_memory = False
        self._timer = timer or time_operations
        self._said: dict[str, None] = {}
        self._known: dict[PerformanceKey, PerformanceTime] = {}
        self._keys = PerformanceKeys(self.machine)
        self._load()

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: PerformanceKey) -> bool:
        return key in self._known

    @property
    def said(self) -> tuple[str, ...]:
        """Sentences about what could not be read or written."""
        return tuple(self._said)

    def lookup(
        self,
        module: DenseModule,
        computation: DenseComputation,
        operation: DenseOperation,
        schedule: BlockSchedule,
    ) -> PerformanceLookup:
        """Return the lookup of an operation under a schedule."""
        return self._keys.lookup(module, computation, operation, schedule)

    def kernel_lookup(
        self,
        module: DenseModule,
        computation: DenseComputation,
        kernel: StitchedKernel,
        plan: SharedMemoryPlan,
    ) -> PerformanceLookup:
        """Return the lookup of a whole kernel, which has a schedule."""
        return self._keys.kernel_lookup(module, computation, kernel, plan)

    def times(
        self, lookups: Sequence[PerformanceLookup]
    ) -> Mapping[PerformanceKey, PerformanceTime]:
        """Return all times that are known, those of lookups among them.

        What is not known is timed, and stored.
        """
        missing: dict[PerformanceKey, PerformanceLookup] = {}
        for one in lookups:
            if one.key in self._known or one.key in missing:
                self.hits += 1
            else:
                missing[one.key] = one
        self.misses += len(missing)
        if missing:
            made = dict(zip(missing, self._timer(list(missing.values())), strict=True))
            self._known |= made
            self._store({key: found for key, found in made.items() if found.runs})
        return self._known

    def put(self, made: Mapping[PerformanceKey, PerformanceTime]) -> None:
        """Store times that were measured elsewhere, of other machines, too."""
        self._known |= {key: time for key, time in made.items() if key.machine == self.machine}
        self._store(made)

    # The file -----------------------------------------------------------------------------------

    def _load(self) -> None:
        try:
            if "\0" in str(self.path):
                raise ValueError("no file can have such a name")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            there = self.path.exists()
        except (OSError, ValueError) as problem:
            self._keep_in_memory(str(problem))
            return
        if not os.access(self.path.parent, os.W_OK) or (
            there and not os.access(self.path, os.W_OK)
        ):
            self._keep_in_memory("it is read-only")
            if not there:
                return
        try:
            with self._opened() as database:
                self._read(database)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as problem:
            self._keep_in_memory(str(problem))

    def _read(self, database: sqlite3.Connection) -> None:
        names = ", ".join(one.name for one in fields(PerformanceKey))
        rows = database.execute(
            f"SELECT {names}, nanoseconds, runs FROM times WHERE machine = ?", (self.machine,)
        )
        for *key, nanoseconds, runs in rows:
            with contextlib.suppress(StoreError, TypeError, ValueError):  # written by others
                self._known[PerformanceKey(*key)] = PerformanceTime(float(nanoseconds), int(runs))

    def _store(self, made: Mapping[PerformanceKey, PerformanceTime]) -> None:
        if self.in_memory or not made:
            return
        rows = [(*astuple(key), *astuple(found)) for key, found in made.items()]
        marks = ", ".join("?" * len(rows[0]))
        try:
            with self._opened() as database, database:
                database.executemany(f"INSERT OR REPLACE INTO times VALUES ({marks})", rows)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as problem:
            self._keep_in_memory(str(problem))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file, made if there is none; what is not one of this version is set aside."""
        why = "" if not self.path.exists() else _objection(self.path)
        if why:
            if self.in_memory:
                raise sqlite3.DatabaseError(why)
            aside = _set_aside(self.path)
            self._said[f"{self.path} {why}: it was set aside as {aside.name}, and made anew"] = None
        with closing(_connected(self.path, read_only=self.in_memory)) as database:
            if not self.in_memory:
                _prepare(database)
            yield database

    def _keep_in_memory(self, why: str) -> None:
        self.in_memory = True
        self._said[f"times of kernels are not kept in {self.path}: {why}"] = None


def _connected(path: Path, *, read_only: bool) -> sqlite3.Connection:
    mode = "ro&immutable=1" if read_only else "rwc"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE)


def _prepare(database: sqlite3.Connection) -> None:
    """Make the table in a file that is empty."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version:
            return
        kinds = {"str": "TEXT", "int": "INTEGER"}
        columns = [(one.name, kinds[str(one.type)]) for one in fields(PerformanceKey)]
        defined = ", ".join(f"{name} {kind} NOT NULL" for name, kind in columns)
        primary = ", ".join(name for name, _ in columns)
        database.execute(
            f"CREATE TABLE times ({defined}, nanoseconds REAL NOT NULL, runs INTEGER NOT NULL, "
            f"PRIMARY KEY ({primary}))"
        )
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")


def _objection(path: Path) -> str:
    """Say why a file is not used; if it is, an empty text."""
    if not path.is_file():
        raise OSError(f"{path} is no file")
    with path.open("rb") as file:
        start = file.read(len(_HEADER))
    if not start:
        return ""
    if start != _HEADER:
        return "is no library of times"
    try:
        with closing(_connected(path, read_only=not os.access(path, os.W_OK))) as database:
            (application,) = database.execute("PRAGMA application_id").fetchone()
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION:
                (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
                empty = not (application or version or tables)  # another process is making it
                return "" if empty else "is a database of another program"
            if version != VERSION:
                return f"is of version {version}, and this program knows {VERSION}"
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
            columns = [row[1] for row in database.execute("PRAGMA table_info(times)")]
            wanted = [one.name for one in (*fields(PerformanceKey), *fields(PerformanceTime))]
            return "" if found == "ok" and columns == wanted else "is damaged"
    except sqlite3.OperationalError:  # not read, or locked: no reason to set it aside
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return "is damaged"


def _set_aside(path: Path) -> Path:
    """Rename a file to the first name that is free."""
    number = 1
    while (aside := path.with_name(f"{path.name}.aside{number}")).exists():
        number += 1
    with contextlib.suppress(FileNotFoundError):  # another process was faster
        path.rename(aside)
    return aside
