"""The tables of a run store, and the steps that bring an older store up to date.

A store's version is its ``user_version``; a step takes it from one version to the next, in the
transaction that raises the version.  A layout that was ever released is never changed: what is
new is a further step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from types import MappingProxyType

APPLICATION = 0x46754C6D
"""``application_id`` of run stores, "FuLm": other programs' files are not touched."""

_FIRST = (
    # the record is the last column: what lists runs never reads it
    """CREATE TABLE runs (
        key TEXT PRIMARY KEY NOT NULL,
        change INTEGER NOT NULL,
        state TEXT NOT NULL,
        earlier TEXT,
        name TEXT NOT NULL,
        data TEXT NOT NULL,
        machine TEXT NOT NULL,
        cycles INTEGER,
        estimated REAL,
        seconds REAL,
        reason TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        created REAL NOT NULL,
        changed REAL NOT NULL,
        holder TEXT,
        token TEXT,
        size INTEGER NOT NULL,
        program_hash TEXT NOT NULL,
        data_hash TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        engine TEXT NOT NULL,
        numerics TEXT NOT NULL,
        settings TEXT NOT NULL,
        schedule TEXT NOT NULL,
        record TEXT
    )""",
    "CREATE INDEX runs_by_change ON runs (change)",
    "CREATE INDEX runs_by_time ON runs (changed)",
    "CREATE INDEX runs_by_program ON runs (program_hash)",
    # a program is the same for all its schedules
    "CREATE TABLE programs (hash TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL)",
    # counts changes, and goes on when rows are deleted: who follows misses none
    "CREATE TABLE changes (count INTEGER NOT NULL)",
    "INSERT INTO changes VALUES (0)",
)


def _first(database: sqlite3.Connection) -> None:
    """Version 1: the tables."""
    for statement in _FIRST:
        database.execute(statement)


Step = Callable[[sqlite3.Connection], None]
STEPS: Mapping[int, Step] = MappingProxyType({1: _first})
"""By the version that each step leads to; without gaps from 1."""


def current() -> int:
    """The version that this program reads and writes."""
    return max(STEPS)


def migrate(database: sqlite3.Connection, version: int) -> None:
    """Take every step that is missing; inside a transaction."""
    for number in range(version + 1, current() + 1):
        STEPS[number](database)
    database.execute(f"PRAGMA user_version = {current()}")
    database.execute(f"PRAGMA application_id = {APPLICATION}")
