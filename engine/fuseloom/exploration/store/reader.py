"""Looking for runs of one program on one machine, in a store that others write meanwhile.

Who looks makes no file, writes nothing, and keeps nobody waiting; what is read is checked like
anything else that others may have written.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fuseloom.errors import RecordError
from fuseloom.exploration.store.database import Database
from fuseloom.exploration.store.identity import NUMERICS
from fuseloom.exploration.store.rows import LISTED, PROGRAM, WHOLE, run_of, text_hash
from fuseloom.exploration.store.runs import State, StoredRun
from fuseloom.results.document import to_text

LONGEST_RECORD = 4 << 20
"""Bytes of a run with its record from which the record is left where it is."""
_ALIKE = (
    "program_hash = ? AND data_hash = ? AND fingerprint = ? AND numerics = ? AND settings = ? "
    "AND state = ? AND typeof(change) = 'integer' AND typeof(cycles) = 'integer' AND cycles >= 0"
)


@dataclass(frozen=True)
class Subject:
    """The common subject of runs that differ by their schedule and by their executor.

    Attributes
    ----------
    program : str
        Its text.
    data : str
        Hash of the tensors (:func:`fuseloom.exploration.store.data_hash`).
    machine : str
        Fingerprint of the machine.
    """

    program: str
    data: str
    machine: str

    def has(self, run: StoredRun) -> bool:
        """Return whether a row is a run of this subject, with the right key."""
        identity = replace(run.identity, program=self.program)
        mine = (identity.data, identity.machine) == (self.data, self.machine)
        return mine and identity.key == run.key


@dataclass(frozen=True)
class Alike:
    """Runs of one subject.

    Attributes
    ----------
    total : int
        How many were done.
    runs : tuple of StoredRun
        Some of them, the latest change first, without programs; without a record, too, where that
        is longer than :data:`LONGEST_RECORD` with all else.
    damaged : int
        Rows that were to be among them and cannot be read.
    """

    total: int
    runs: tuple[StoredRun, ...]
    damaged: int = 0


class RunReader:
    """A run store that is only looked at.

    Raises
    ------
    StoreError
        From every method: if there is no store, it is of another version, damaged, or another
        process keeps it for itself.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fuseloom.exploration.store import RunStore
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.sqlite"
    ...     RunStore(path).close()
    ...     with RunReader(path) as reader:
    ...         subject = Subject("y[i] = x[i]", "0" * 64, "0" * 64)
    ...         reader.alike(subject, latest=60, fastest=20).total
    0
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._database = Database(self.path, looking=True)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> RunReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: str) -> StoredRun | None:
        """A run with its record and its program, if it is there.

        Raises
        ------
        RecordError
            If its row cannot be read.
        """
        rows = self._database.read(f"SELECT {WHOLE} FROM runs WHERE key = ?", (key,))
        return run_of(rows[0]) if rows else None

    def latest(self, most: int) -> list[StoredRun]:
        """Return runs that were done, the latest change first, with programs, without records.

        Rows that cannot be read are left out.

        Parameters
        ----------
        most : int
            How many, at most.
        """
        sql = (
            f"SELECT {LISTED}, {PROGRAM} FROM runs WHERE state = ? AND typeof(change) = 'integer' "
            "ORDER BY change DESC LIMIT ?"
        )
        found = []
        for row in self._database.read(sql, (State.DONE.value, most)):
            with suppress(RecordError):
                found.append(run_of(row))
        return found

    def alike(self, subject: Subject, latest: int, fastest: int) -> Alike:
        """Runs of a subject that were done, by whichever engine: the latest, and the fastest.

        Runs of channels whose capacities were computed are not among them: they are those of
        another machine.

        Parameters
        ----------
        latest, fastest : int
            How many of each, at most; one may be both.
        """
        about = (
            text_hash(subject.program), subject.data, subject.machine, NUMERICS, to_text({}),
            State.DONE.value,
        )  # fmt: skip
        sql = f"SELECT rowid AS place, change, cycles FROM runs WHERE {_ALIKE}"
        found = [(r["change"], r["cycles"], r["place"]) for r in self._database.read(sql, about)]
        chosen = {
            *(place for _, _, place in heapq.nlargest(latest, found)),
            *(place for _, _, place in heapq.nsmallest(fastest, found, key=lambda one: one[1])),
        }
        return Alike(len(found), *self._read(subject, about, sorted(chosen)))

    def _read(
        self, subject: Subject, about: Sequence[str], places: Sequence[int]
    ) -> tuple[tuple[StoredRun, ...], int]:
        marks = ", ".join("?" for _ in places)
        # once more all of the condition: a row may have gone, and another have its place
        sql = (
            f"SELECT {LISTED}, CASE WHEN size <= ? THEN record END AS record FROM runs "
            f"WHERE {_ALIKE} AND rowid IN ({marks}) ORDER BY change DESC"
        )
        runs, damaged = [], 0
        for row in self._database.read(sql, [LONGEST_RECORD, *about, *places]):
            try:
                run = run_of(row)
            except RecordError:
                damaged += 1
                continue
            if subject.has(run):
                runs.append(run)
            else:
                damaged += 1
        return tuple(runs), damaged
