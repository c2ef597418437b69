"""Runs as rows of the store's tables, and rows as runs."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fuseloom.errors import RecordError
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.lease import holder_of
from fuseloom.exploration.store.runs import RunLabel, State, StoredRun
from fuseloom.results.document import from_text, to_text

LISTED = (
    "key, change, state, name, data, machine, cycles, estimated, seconds, reason, attempts, "
    "created, changed, holder, data_hash, fingerprint, engine, numerics, settings, schedule"
)
"""Columns of a list; the others are large."""
PROGRAM = "(SELECT text FROM programs WHERE hash = program_hash) AS program"
WHOLE = f"{LISTED}, record, {PROGRAM}"
_TYPES: Mapping[tuple[type, ...], str] = {
    (str,): "key state name data machine reason data_hash fingerprint engine numerics settings "
    "schedule",
    (int,): "change attempts",
    (int, float): "created changed",
    (int, type(None)): "cycles",
    (int, float, type(None)): "estimated seconds",
    (str, type(None)): "holder record program",
}
_OVERHEAD = 512
"""Bytes of a row besides its texts, about."""


def run_of(row: sqlite3.Row) -> StoredRun:
    """A run from columns :data:`LISTED` or :data:`WHOLE`.

    Raises
    ------
    RecordError
        If the row holds what no Fuseloom has written.
    """
    names = row.keys()
    try:
        _check_types(row, names)
        state = State(row["state"])
        settings = from_text(row["settings"])
        if not isinstance(settings, dict) or not all(map(_is_text, settings.values())):
            raise ValueError("its settings are none")
        for moment in ("created", "changed"):
            datetime.fromtimestamp(row[moment], UTC)
    except (ValueError, OverflowError, OSError, RecordError) as problem:
        raise RecordError(
            f"the store's row of run {row['key'][:12]} is damaged: {problem}"
        ) from None
    identity = RunIdentity(
        (row["program"] or "") if "program" in names else "",
        row["schedule"],
        row["data_hash"],
        row["fingerprint"],
        row["engine"],
        row["numerics"],
        settings,
    )
    return StoredRun(
        row["key"],
        row["change"],
        state,
        RunLabel(row["name"], row["data"], row["machine"], row["estimated"]),
        identity,
        row["cycles"],
        row["seconds"],
        row["reason"],
        row["attempts"],
        row["created"],
        row["changed"],
        holder_of(row["holder"]),
        row["record"] if "record" in names else None,
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _check_types(row: sqlite3.Row, names: Sequence[str]) -> None:
    """Any cell of SQLite may hold any type, once somebody else has written it."""
    for kinds, columns in _TYPES.items():
        for name in columns.split():
            if name in names and not isinstance(row[name], kinds):
                raise ValueError(f"{name} is {type(row[name]).__name__}")


def values_of(run: StoredRun) -> dict[str, Any]:
    """The columns of a run, apart from ``change``, ``holder`` and ``token``."""
    identity, label = run.identity, run.label
    made: dict[str, Any] = {
        "key": run.key,
        "state": run.state.value,
        "name": label.name,
        "data": label.data,
        "machine": label.machine,
        "cycles": run.cycles,
        "estimated": label.estimated,
        "seconds": run.seconds,
        "reason": run.reason,
        "attempts": run.attempts,
        "created": run.created,
        "changed": run.changed,
        "program_hash": text_hash(identity.program),
        "data_hash": identity.data,
        "fingerprint": identity.machine,
        "engine": identity.engine,
        "numerics": identity.numerics,
        "settings": to_text(dict(sorted(identity.settings.items()))),
        "schedule": identity.schedule,
        "record": run.text,
    }
    return {**made, "size": size_of(made)}


def size_of(values: Mapping[str, Any]) -> int:
    """Bytes that a row takes, about."""
    return _OVERHEAD + sum(
        len(values[name].encode()) for name in ("reason", "schedule", "record") if values[name]
    )


def insert(database: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Put in a row, in place of one with its key."""
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    database.execute(f"INSERT OR REPLACE INTO runs ({names}) VALUES ({marks})", dict(values))


def next_change(database: sqlite3.Connection) -> int:
    """The number of a further change."""
    database.execute("UPDATE changes SET count = count + 1")
    (count,) = database.execute("SELECT count FROM changes").fetchone()
    return int(count)


def keep_program(database: sqlite3.Connection, text: str) -> None:
    """See that the text of a program is there."""
    database.execute("INSERT OR IGNORE INTO programs VALUES (?, ?)", (text_hash(text), text))


def forget_programs(database: sqlite3.Connection) -> None:
    """Delete the texts of programs that no run names."""
    database.execute("DELETE FROM programs WHERE hash NOT IN (SELECT program_hash FROM runs)")


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def condition(states: Sequence[State], other: str = "") -> tuple[str, list[Any]]:
    """A ``WHERE`` clause for these states, all if there are none named."""
    parts = [other] if other else []
    if states:
        parts.append(f"state IN ({', '.join('?' for _ in states)})")
    return (f"WHERE {' AND '.join(parts)}" if parts else ""), [s.value for s in states]
