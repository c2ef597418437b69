"""The store of runs: claimed, finished, listed, and in the end thrown away."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fuseloom.errors import StoreError
from fuseloom.exploration.store.database import Database
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.lease import Holder, holder_of
from fuseloom.exploration.store.location import default_path
from fuseloom.exploration.store.rows import (
    LISTED,
    WHOLE,
    condition,
    forget_programs,
    insert,
    keep_program,
    next_change,
    run_of,
    values_of,
)
from fuseloom.exploration.store.runs import OPEN, Lease, Outcome, RunLabel, State, StoredRun

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 200
"""Rows that are deleted, or read whole, at once: writers wait no longer than for these."""


@dataclass(frozen=True)
class CollectedGarbage:
    """The runs that were deleted, or would be, and the bytes they took, about."""

    runs: int
    bytes: int


class RunStore:
    """Runs in one file, each once, for any number of processes on one machine at a time.

    Readers block nobody, and see every run whole.  A run is claimed before it is done, so that
    nobody else does it meanwhile; the claim ends with its process.

    Parameters
    ----------
    path : Path, optional
        The file, made where there is none; by default
        :func:`fuseloom.exploration.store.location.default_path`.  It has to lie on a disk of this
        machine: network file systems do not keep processes apart.

    Raises
    ------
    StoreError
        From every method: if the file is no store, of a newer version, damaged or read-only, or
        the disk is full.  What was stored before stays.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = default_path() if path is None else Path(path)
        self._database = Database(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Doing runs ---------------------------------------------------------------------------------

    def claim(
        self, identity: RunIdentity, label: RunLabel | None = None, again: Collection[State] = ()
    ) -> Lease | None:
        """The lease of a run, if it is to be done and nobody is at it.

        Of all processes and threads that ask, exactly one gets it.

        Parameters
        ----------
        again : collection of State
            Finished states in which it is done once more.
        """
        token, now = secrets.token_hex(8), time.time()
        holder = Holder.here().to_text()
        with self._database.write() as database:
            row = _row(database, identity.key)
            if row is None:
                run = StoredRun(
                    identity.key, 0, State.LEASED, label or RunLabel(), identity, None, None, "",
                    1, now, now,
                )  # fmt: skip
                _store(database, run, holder=holder, token=token)
                return Lease(run.key, token, 1)
            before = State(row["state"])
            if not (before is State.ESTIMATED or before in again or _free(row)):
                return None
            attempts = row["attempts"] + (before is not State.ESTIMATED)
            # what an earlier time gave stays until this time gives something
            database.execute(
                "UPDATE runs SET earlier = CASE state WHEN 'leased' THEN earlier ELSE state END, "
                "state = 'leased', holder = ?, token = ?, attempts = ?, changed = ?, "
                "change = ? WHERE key = ?",
                (holder, token, attempts, now, next_change(database), identity.key),
            )
            return Lease(identity.key, token, attempts)

    def finish(self, lease: Lease, outcome: Outcome) -> bool:
        """Keep how a run came out, and end its lease; False if it is no longer leased so."""
        with self._database.write() as database:
            if not _holds(database, lease):
                return False
            run = run_of(_whole(database, lease.key))
            _store(database, _with(run, outcome))
        return True

    def release(self, lease: Lease) -> bool:
        """Give a lease back without a result; False if it is no longer leased so.

        What the run gave when it was done before is there again.
        """
        with self._database.write() as database:
            if not _holds(database, lease):
                return False
            _forget_lease(database, lease.key)
        return True

    def put(self, identity: RunIdentity, outcome: Outcome, label: RunLabel | None = None) -> bool:
        """Keep a run that was done without a lease; False if it is there, or leased, already."""
        now = time.time()
        label = label or RunLabel()
        run = StoredRun(
            identity.key, 0, State.LEASED, label, identity, None, None, "", 1, now, now
        )  # fmt: skip
        return self.put_all([_with(run, outcome)]) == 1

    def put_all(self, runs: Iterable[StoredRun]) -> int:
        """Keep runs of another store, all or none; those that are there stay as they are.

        Only what was merely estimated gives way to what was done.

        Returns
        -------
        int
            How many were not there.
        """
        added = 0
        with self._database.write() as database:
            for run in runs:
                row = _row(database, run.key)
                if row is None or _gives_way(row, run):
                    _store(database, run if row is None else _with_estimate(run, row))
                    added += 1
        return added

    # Looking ------------------------------------------------------------------------------------

    def get(self, key: str) -> StoredRun | None:
        """A run with its record and its program, if it is there."""
        rows = self._database.read(f"SELECT {WHOLE} FROM runs WHERE key = ?", (key,))
        return run_of(rows[0]) if rows else None

    def find(self, start: str) -> StoredRun:
        """The run whose key starts so.

        Raises
        ------
        StoreError
            If there is none, or several.
        """
        start = start.strip().lower()
        if not start or not set(start) <= set("0123456789abcdef"):
            raise StoreError(
                f"{start[:70]!r} is no key of a run", hint="fuseloom runs list shows them"
            )
        sql = "SELECT key FROM runs WHERE key >= ? AND key < ? LIMIT 3"
        keys = [row["key"] for row in self._database.read(sql, (start, start + "g"))]
        found = self.get(keys[0]) if len(keys) == 1 else None
        if found is None:
            raise StoreError(
                f"{'several runs have keys that start' if keys else 'no run has a key that starts'}"
                f" with {start[:70]}",
                hint="give more digits" if keys else "fuseloom runs list shows them",
            )
        return found

    def runs(self, states: Sequence[State] = (), limit: int | None = None) -> list[StoredRun]:
        """Runs without records and programs, the latest change first."""
        where, values = condition(states)
        sql = f"SELECT {LISTED} FROM runs {where} ORDER BY change DESC LIMIT ?"
        return [
            run_of(r) for r in self._database.read(sql, [*values, -1 if limit is None else limit])
        ]

    def since(
        self, change: int, states: Sequence[State] = (), limit: int | None = None
    ) -> list[StoredRun]:
        """Runs that changed after that change, in order, without records and programs."""
        where, values = condition(states, "change > ?")
        sql = f"SELECT {LISTED} FROM runs {where} ORDER BY change LIMIT ?"
        rows = self._database.read(sql, [change, *values, -1 if limit is None else limit])
        return [run_of(row) for row in rows]

    def whole(self, states: Sequence[State] = ()) -> Iterator[StoredRun]:
        """Runs with records and programs, each once, the earliest change first."""
        where, values = condition(states)
        rows = self._database.read(f"SELECT key FROM runs {where} ORDER BY change", values)
        keys = [row["key"] for row in rows]
        for at in range(0, len(keys), _BATCH):
            batch = keys[at : at + _BATCH]
            marks = ", ".join("?" for _ in batch)
            where, values = condition(states, f"key IN ({marks})")
            sql = f"SELECT {WHOLE} FROM runs {where} ORDER BY change"
            yield from map(run_of, self._database.read(sql, [*batch, *values]))

    def counts(self) -> dict[State, int]:
        """Count the runs in each state."""
        rows = self._database.read("SELECT state, count(*) AS n FROM runs GROUP BY state")
        known = {state.value: state for state in State}
        return {known[row["state"]]: row["n"] for row in rows if row["state"] in known}

    def change(self) -> int:
        """The number of the last change."""
        (row,) = self._database.read("SELECT count FROM changes")
        return int(row["count"])

    def frame(self, states: Sequence[State] = ()) -> pd.DataFrame:
        """The runs as a table, a row per run, the latest change first."""
        from fuseloom.exploration.store.table import frame_of

        return frame_of(self.runs(states))

    # Throwing away ------------------------------------------------------------------------------

    def collect(
        self, older: float | None = None, larger: int | None = None, *, dry_run: bool = False
    ) -> CollectedGarbage:
        """Throw finished runs away, and leases whose process is gone.

        Parameters
        ----------
        older : float, optional
            Runs that last changed more than so many seconds ago; leases as old, too, of
            processes elsewhere, of which nothing is known.
        larger : int, optional
            The oldest runs, until the others take no more bytes than that.
        dry_run : bool
            Only tell what would go.
        """
        chosen = self._garbage(older, larger)
        if dry_run:
            return CollectedGarbage(len(chosen), sum(row["size"] for row in chosen))
        runs = size = 0
        for at in range(0, len(chosen), _BATCH):
            with self._database.write() as database:
                for row in chosen[at : at + _BATCH]:
                    # one that changed meanwhile is no garbage any more
                    sql = "SELECT 1 FROM runs WHERE key = ? AND change = ?"
                    if database.execute(sql, (row["key"], row["change"])).fetchone():
                        _discard(database, row)
                        runs += 1
                        size += row["size"]
        if chosen:
            with self._database.write() as database:
                forget_programs(database)
            self._database.shrink()
        return CollectedGarbage(runs, size)

    def _garbage(self, older: float | None, larger: int | None) -> list[sqlite3.Row]:
        sql = "SELECT key, change, state, earlier, changed, holder, size FROM runs ORDER BY changed"
        before = -1.0 if older is None else time.time() - older
        chosen, left = [], []
        for row in self._database.read(sql):
            leased = row["state"] == State.LEASED.value
            if leased and not _elsewhere(row["holder"]):
                if _free(row):
                    chosen.append(row)
            elif row["changed"] < before:
                chosen.append(row)
            elif not leased:
                left.append(row)
        if larger is not None:
            size = sum(row["size"] for row in left)
            for row in left:
                if size <= larger:
                    break
                chosen.append(row)
                size -= row["size"]
        return chosen


def _elsewhere(text: str | None) -> bool:
    """Return whether nothing can be known of a holder."""
    holder, mine = holder_of(text), Holder.here()
    return holder is not None and (holder.host, holder.boot, holder.space) != (
        mine.host, mine.boot, mine.space,
    )  # fmt: skip


def _row(database: sqlite3.Connection, key: str) -> sqlite3.Row | None:
    sql = "SELECT state, earlier, holder, attempts, estimated FROM runs WHERE key = ?"
    row: sqlite3.Row | None = database.execute(sql, (key,)).fetchone()
    return row


def _whole(database: sqlite3.Connection, key: str) -> sqlite3.Row:
    sql = f"SELECT {WHOLE} FROM runs WHERE key = ?"
    row: sqlite3.Row = database.execute(sql, (key,)).fetchone()
    return row


def _free(row: sqlite3.Row) -> bool:
    """Return whether a lease has no holder any more."""
    if row["state"] != State.LEASED.value:
        return False
    holder = holder_of(row["holder"])
    return holder is None or holder.gone


def _gives_way(row: sqlite3.Row, run: StoredRun) -> bool:
    """Return whether the stored row may be replaced: it is neither done nor being done."""
    if run.state is State.ESTIMATED:
        return _free(row) and row["earlier"] is None
    return row["state"] in OPEN or (_free(row) and row["earlier"] in OPEN)


def _with_estimate(run: StoredRun, row: sqlite3.Row) -> StoredRun:
    """A run with the estimate that was there, if it has none."""
    if run.label.estimated is not None or not isinstance(row["estimated"], int | float):
        return run
    return replace(run, label=replace(run.label, estimated=row["estimated"]))


def _holds(database: sqlite3.Connection, lease: Lease) -> bool:
    sql = "SELECT 1 FROM runs WHERE key = ? AND token = ? AND state = ?"
    found = database.execute(sql, (lease.key, lease.token, State.LEASED.value)).fetchone()
    return found is not None


def _with(run: StoredRun, outcome: Outcome) -> StoredRun:
    record = outcome.record
    return replace(
        run,
        state=outcome.state,
        cycles=None if record is None else record.cycles,
        seconds=outcome.seconds if record is None else record.seconds,
        reason=outcome.reason,
        changed=time.time(),
        holder=None,
        text=None if record is None else record.to_json(),
    )


def _discard(database: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Throw a row away; of a lease whose process is gone, only the lease."""
    if row["state"] == State.LEASED.value:
        _forget_lease(database, row["key"])
    else:
        database.execute("DELETE FROM runs WHERE key = ?", (row["key"],))


def _forget_lease(database: sqlite3.Connection, key: str) -> None:
    """Let a run be as it was before it was leased."""
    database.execute("DELETE FROM runs WHERE key = ? AND earlier IS NULL", (key,))
    database.execute(
        "UPDATE runs SET state = earlier, earlier = NULL, holder = NULL, token = NULL, change = ? "
        "WHERE key = ?",
        (next_change(database), key),
    )


def _store(
    database: sqlite3.Connection,
    run: StoredRun,
    holder: str | None = None,
    token: str | None = None,
) -> None:
    """Put a run in, in place of what is there under its key."""
    keep_program(database, run.identity.program)
    values = values_of(run)
    mine = {"change": next_change(database), "holder": holder, "token": token}
    insert(database, {**values, **mine})
