"""The notes beside the run store: measurements that are no runs, and durations of runs.

One SQLite file beside that of the runs; values are plain JSON by key.  Any number of processes may
use it.  What is lost with it is measured again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

from fuseloom.errors import StoreError

_PATIENCE = 60.0
_TABLE = """CREATE TABLE IF NOT EXISTS notes (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, changed REAL NOT NULL
) WITHOUT ROWID"""


def notes_path(store: Path) -> Path:
    """The file of the notes beside a run store."""
    return store.with_name(f"{store.stem}.figures.sqlite")


class Notes:
    """Plain data by key, in one file.

    Raises
    ------
    StoreError
        From every method: if the file is no such file, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(_TABLE)
        except (sqlite3.Error, OSError) as problem:
            raise self._trouble(problem) from None

    def _trouble(self, problem: Exception) -> StoreError:
        return StoreError(
            f"cannot use {self.path}: {problem}",
            hint="remove that file; what it holds is measured again",
        )

    def get(self, key: str) -> Any | None:
        """Return the value under a key; None if there is none."""
        try:
            sql = "SELECT value FROM notes WHERE key = ?"
            row = self._database.execute(sql, (key,)).fetchone()
            return None if row is None else json.loads(row[0])
        except (sqlite3.Error, ValueError) as problem:
            raise self._trouble(problem) from None

    def put(self, key: str, value: Any) -> None:
        """Keep plain data under a key, in place of what was there."""
        try:
            self._database.execute(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)",
                (key, json.dumps(value, allow_nan=False), time.time()),
            )
        except (sqlite3.Error, ValueError) as problem:
            raise self._trouble(problem) from None

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
