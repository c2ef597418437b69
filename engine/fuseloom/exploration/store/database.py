"""One SQLite file for several processes: opened, read and written, with errors people can read.

The file is in WAL mode: readers see the last commit and block nobody; writers wait for each
other, as long as :data:`PATIENCE` allows, inside SQLite and then here.  A commit outlives the
death of its process; after a power cut the last commits may be missing, the file is whole.
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from fuseloom.errors import StoreError
from fuseloom.exploration.store import layout
from fuseloom.program import regular_files
from fuseloom.wording import counted

PATIENCE = 120.0
"""Seconds for which one waits for other writers."""
GLANCE = 2.0
"""Seconds for which one who only looks waits for a file that another process keeps for itself."""
WAIT = 1.0
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_HEADER = b"SQLite format 3\0"
_KEPT = "what was stored before is still there"

T = TypeVar("T")


class Database:
    """The file of a run store; made where there is none.

    It may be used by several threads, which then wait for each other, and by a process that was
    forked from its owner, which opens it anew.

    Parameters
    ----------
    path : Path
        Of the file.
    looking : bool
        Whether it is only looked at: the file is not made, not brought up to date, not written,
        and nobody ever waits for who looks.

    Attributes
    ----------
    read_only : bool
        Whether the file, or its folder, may not be written, or is only looked at.

    Raises
    ------
    StoreError
        If it is no store, damaged, one of a newer version, or cannot be opened or made.
    """

    def __init__(self, path: Path, *, looking: bool = False) -> None:
        self.path = path
        self.read_only = False
        self._looking = looking
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._left: list[sqlite3.Connection] = []  # of the process that this one was forked from
        self._connect()

    @property
    def _patience(self) -> float:
        return GLANCE if self._looking else PATIENCE

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows of a query, all of one moment."""

        def rows() -> list[sqlite3.Row]:
            return self._database().execute(sql, values).fetchall()

        with self._lock:
            return self._patiently(rows)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is stored, or nothing.

        Raises
        ------
        StoreError
            If the store may not or can no longer be written, or others do not let go of it.
        """
        with self._lock:
            database = self._database()
            if self.read_only:
                raise StoreError(
                    f"the run store {self.path} is read-only",
                    hint="make file and folder writable, or name another file by $FUSELOOM_RUNS",
                )
            self._check_same()
            self._patiently(lambda: database.execute("BEGIN IMMEDIATE"))
            try:
                _check_version(database, self.path, layout.current())
                yield database
                self._patiently(lambda: database.execute("COMMIT"))
            except sqlite3.Error as problem:
                self._abandon()
                raise _told(problem, self.path) from None
            except UnicodeDecodeError:
                self._abandon()
                raise _damaged(self.path, "its tables are not described in UTF-8") from None
            except BaseException:
                self._abandon()
                raise

    def shrink(self) -> None:
        """Give free pages back to the file system; harmless where others are at it."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            database = self._database()
            database.execute("PRAGMA incremental_vacuum").fetchall()
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file; harmless when that was done."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None

    # Opening ------------------------------------------------------------------------------------

    def _database(self) -> sqlite3.Connection:
        if self._owner != os.getpid():
            # closing it here would let go of locks of the process that opened it
            if self._connection is not None:
                self._left.append(self._connection)
            self._connect()
        if self._connection is None:
            raise StoreError(f"the run store {self.path} is closed")
        return self._connection

    def _connect(self) -> None:
        self._owner = os.getpid()
        self._connection = None
        path = self.path
        if "\0" in str(path):
            raise StoreError(f"no file can be called {ascii(path.name)[:80]}", hint="name another")
        there = regular_files.exists(path)
        if there and not regular_files.is_file(path):
            raise StoreError(f"the run store {path} is no file", hint="name a file")
        if there:
            _check_header(path)
        elif self._looking:
            raise StoreError(
                f"there is no run store {path}", hint="runs that are kept from now on make one"
            )
        else:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise StoreError(
                    f"cannot make the folder {path.parent}: {problem.strerror}",
                    hint="name another file by $FUSELOOM_RUNS",
                ) from None
        writable = os.access(path if there else path.parent, os.W_OK)
        closed = there and not (writable and os.access(path.parent, os.W_OK))
        self.read_only = closed or self._looking
        try:
            connection = self._opened(closed)
        except sqlite3.Error as problem:
            raise _told(problem, path) from None
        try:
            self._patiently(lambda: self._prepare(connection))
        except BaseException:
            connection.close()
            raise
        self._inode = _inode(path)
        self._connection = connection

    def _opened(self, closed: bool) -> sqlite3.Connection:
        mode = "ro" if self._looking else "rwc"
        if closed:
            # without its index beside it a WAL file is read only if nobody can change it
            beside = self.path.with_name(self.path.name + "-wal")
            waiting = beside.exists() and beside.stat().st_size
            mode = "ro" if waiting else "ro&immutable=1"
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=min(WAIT, self._patience),
            isolation_level=None,
            check_same_thread=False,
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = _version_of(connection, self.path)
        connection.execute("PRAGMA synchronous = NORMAL")
        if self.read_only:
            _check_version(connection, self.path, layout.current())
            return
        if version == layout.current():
            return
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _version_of(connection, self.path)  # another process may have been faster
            if version < layout.current():
                layout.migrate(connection, version)
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    # Errors -------------------------------------------------------------------------------------

    def _patiently(self, action: Callable[[], T]) -> T:
        """Do it again while others are in the way."""
        end = time.monotonic() + self._patience
        while True:
            try:
                return action()
            except sqlite3.Error as problem:
                code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
                if code not in _BUSY or time.monotonic() > end:
                    raise _told(problem, self.path, self._patience) from None
            except UnicodeDecodeError:  # what SQLite complains of quotes what is there
                raise _damaged(self.path, "its tables are not described in UTF-8") from None
            time.sleep(random.uniform(0.001, 0.05))

    def _abandon(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _check_same(self) -> None:
        """Check that the file was not removed: SQLite would lose later writes without an error."""
        if _inode(self.path) != self._inode:
            raise StoreError(
                f"the run store {self.path} was removed or replaced while it was in use",
                hint="start again",
            )


def _check_header(path: Path) -> None:
    """Whatever is no SQLite file is refused before SQLite opens it."""
    with regular_files.opened(path, what="run store", error=StoreError) as file:
        start = file.read(len(_HEADER))
    if start and start != _HEADER:
        raise StoreError(
            f"{path} is no run store, or its beginning is damaged",
            hint="name another file by $FUSELOOM_RUNS; nothing was changed in this one",
        )


def _version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The version of a store, 0 of an empty file; refuses what is none or too new."""
    with _one_moment(connection):
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != layout.APPLICATION and (application or tables or version):
        raise StoreError(
            f"{path} is a database of another program, no run store",
            hint="name another file by $FUSELOOM_RUNS; nothing was changed in this one",
        )
    if version > layout.current():
        _check_version(connection, path, layout.current())
    return int(version)


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Read a consistent snapshot inside: another process may be making the store."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _check_version(connection: sqlite3.Connection, path: Path, wanted: int) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == wanted:
        return
    if version > wanted:
        raise StoreError(
            f"the run store {path} is of version {version}, this Fuseloom knows {wanted}",
            hint="use the newer Fuseloom that made it, or name another file by $FUSELOOM_RUNS",
        )
    raise StoreError(
        f"the run store {path} is of version {version}, and cannot be brought to {wanted}",
        hint="make file and folder writable",
    )


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _told(problem: sqlite3.Error, path: Path, patience: float = PATIENCE) -> StoreError:
    """Return the error of the store for an error of SQLite."""
    code = getattr(problem, "sqlite_errorcode", 0)
    where = f"the run store {path}"
    match code & 0xFF:
        case found if found in _BUSY:
            return StoreError(
                f"another process has kept {where} for itself for {counted(patience, 'second')}",
                hint="end that process",
            )
        case found if found in _DAMAGED:
            return _damaged(path, str(problem))
        case sqlite3.SQLITE_FULL:
            return StoreError(
                f"the disk is full, or a quota: {where} cannot grow; {_KEPT}",
                hint="make room, for example by fuseloom runs gc --older-than 30d",
            )
        case sqlite3.SQLITE_READONLY:
            return StoreError(f"{where} is read-only", hint="make file and folder writable")
        case sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{where} cannot be read or written ({problem}); {_KEPT}",
                hint="see whether the disk is full or failing",
            )
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return StoreError(
                f"cannot open {where}: {problem}",
                hint="see whether file and folder may be read and written",
            )
    return StoreError(f"{where}: {problem}", hint="it may be damaged, or of another program")


def _damaged(path: Path, how: str) -> StoreError:
    return StoreError(
        f"the run store {path} is damaged: {how}",
        hint=f"move it away, and recover what is left by sqlite3 {path.name} .recover",
    )
