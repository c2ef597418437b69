"""The stored form of a run: its outcome, its label, and its identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, TypedDict

from fuseloom.errors import (
    DeadlockError,
    FuseloomError,
    LimitError,
    RecordError,
    SimulationError,
    shortened,
)
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.lease import Holder
from fuseloom.results.declarations import Amount, Count, Hash, Positive
from fuseloom.results.document import finite, from_text, plain
from fuseloom.results.record import RunRecord
from fuseloom.wording import counted

LONGEST_REASON = 2_000
MOST = 2**63 - 1
"""Largest cycle count that is kept."""


class State(Enum):
    """The state of a run."""

    LEASED = "leased"
    """A process is working on it, unless that process has ended."""
    ESTIMATED = "estimated"
    """Its cycles were estimated, in its label; whoever claims it may do it."""
    DONE = "done"
    """It has a record; the record says whether its results were right."""
    REFUSED = "refused"
    """Its program, schedule or data are illegal, or its tokens wait for each other."""
    FAILED = "failed"
    """It ended with an unexpected internal error."""
    LIMIT = "limit"
    """It would have exceeded its limit of time, memory or tokens."""
    QUARANTINED = "quarantined"
    """It has killed two processes, and is not repeated."""


FINISHED = frozenset(State) - {State.LEASED}
OPEN = (None, State.ESTIMATED.value)
"""The states, as text, of a run that has not been done."""


@dataclass(frozen=True)
class RunLabel:
    """The label of a run for people; nothing depends on it.

    Attributes
    ----------
    name : str
        Of model or program.
    data, machine : str
        Names of data set and machine.
    estimated : float or None
        Cycles that were expected beforehand.
    """

    name: str = ""
    data: str = ""
    machine: str = ""
    estimated: float | None = None

    def __post_init__(self) -> None:
        for name in ("name", "data", "machine"):
            object.__setattr__(self, name, storable(getattr(self, name)))
        object.__setattr__(self, "estimated", _finite(self.estimated))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    record : RunRecord or None
        Of a run that was done.
    reason : str
        Why it was not, on one line; or what is wrong with its results.
    seconds : float or None
        Wall time; that of the record where there is one.

    Raises
    ------
    RecordError
        If it is no outcome, or a run that was done has no record, or another one has.
    """

    state: State
    record: RunRecord | None = field(default=None, repr=False)
    reason: str = ""
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.state is State.LEASED:
            raise RecordError("a run that is leased has not come out yet")
        if (self.state is State.DONE) is (self.record is None):
            raise RecordError(f"a run that is {self.state.value} has a record, or lacks one")
        if self.record is not None and self.record.cycles > MOST:
            raise RecordError(f"{counted(self.record.cycles, 'cycle')} are more than 64 bits hold")
        told = shortened(one_line(storable(self.reason)), LONGEST_REASON)
        object.__setattr__(self, "reason", told)
        object.__setattr__(self, "seconds", _finite(self.seconds))

    @classmethod
    def of(cls, record: RunRecord) -> Outcome:
        """That of a run with this record."""
        reason = "" if record.check is None or record.check.ok else str(record.check)
        return cls(State.DONE, record, reason, record.seconds)

    @classmethod
    def of_error(cls, problem: Exception, seconds: float | None = None) -> Outcome:
        """That of a run which was ended by this error."""
        match problem:
            case LimitError() | MemoryError():
                state = State.LIMIT
            case DeadlockError():
                state = State.REFUSED
            case SimulationError():
                state = State.FAILED
            case FuseloomError():
                state = State.REFUSED
            case _:
                state = State.FAILED
        told = str(problem) if isinstance(problem, FuseloomError) else _called(problem)
        return cls(state, None, told, seconds)


def _called(problem: Exception) -> str:
    name, text = type(problem).__name__, str(problem)
    return f"{name}: {text}" if text else name


def storable(text: str) -> str:
    """The same as UTF-8 can hold it: names of files may be any bytes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _finite(value: float | None) -> float | None:
    return None if value is None else finite(float(value))


def one_line(text: str) -> str:
    """The same without line ends."""
    return " ".join(text.split())


@dataclass(frozen=True)
class Lease:
    """The right, and the duty, to do a run.

    Attributes
    ----------
    token : str
        Tells this lease from an earlier one of the same run.
    attempts : int
        How often the run was begun, this time included.
    """

    key: str
    token: str
    attempts: int


class StoredRunData(TypedDict):
    """A :class:`StoredRun` as plain data."""

    key: Annotated[Hash, "SHA-256 of everything that the run's result depends on."]
    state: Annotated[
        State,
        "State: a process is working on it (leased), its cycles were estimated and it was not "
        "done yet (estimated), it has a record (done), its program, schedule or data are "
        "illegal or its tokens wait for each other (refused), it ended with an unexpected "
        "internal error (failed), it would have exceeded its limit of time, memory or tokens "
        "(limit), it has killed two processes (quarantined).",
    ]
    name: Annotated[str, "Name of model or program."]
    data: Annotated[str, "Name of the data set; empty where there is none."]
    machine: Annotated[str, "Name of the machine."]
    schedule: Annotated[str, "Text of the schedule, with every region and order."]
    cycles: Annotated[Count | None, "Elapsed clock cycles; null unless it was done."]
    estimated: Annotated[
        Amount | None, "Cycles that were expected beforehand; null where nobody did."
    ]
    seconds: Annotated[Amount | None, "Wall time, in seconds; null where it is not known."]
    reason: Annotated[
        str, "Why it was not done, or what is wrong with its results; empty otherwise."
    ]
    attempts: Annotated[Positive, "How often it was begun."]
    created: Annotated[str, "When it was first begun: ISO 8601, UTC."]
    changed: Annotated[str, "When it last changed: ISO 8601, UTC."]
    data_hash: Annotated[str, "Hash of the contents of the data."]
    fingerprint: Annotated[str, "Fingerprint of the machine."]
    engine: Annotated[str, "Version of the engine, with a hash of its sources."]
    numerics: Annotated[str, "What values are computed with."]
    settings: Annotated[Mapping[str, str], "Whatever else was chosen."]
    program: Annotated[str | None, "Text of the program; null in lists."]
    record: Annotated[
        Mapping[str, Any] | None,
        "The record of a run that was done, a document of kind run; null in lists, and otherwise.",
    ]


@dataclass(frozen=True)
class StoredRun:
    """A run as it is kept.

    Attributes
    ----------
    change : int
        Number of its last change; later changes have greater ones.
    identity : RunIdentity
        What it rests on; the program's text is empty in lists.
    cycles : int or None
        Elapsed clock cycles, of a run that was done.
    seconds : float or None
        Wall time it took.
    attempts : int
        How often it was begun.
    created, changed : float
        When it was first begun, and last changed, in seconds since 1970.
    holder : Holder or None
        Who is at it.
    text : str or None
        Its record as JSON; None in lists.
    """

    key: str
    change: int
    state: State
    label: RunLabel
    identity: RunIdentity = field(repr=False)
    cycles: int | None
    seconds: float | None
    reason: str
    attempts: int
    created: float
    changed: float
    holder: Holder | None = None
    text: str | None = field(default=None, repr=False)

    @property
    def finished(self) -> bool:
        """True if the run has an outcome."""
        return self.state is not State.LEASED

    @property
    def when(self) -> datetime:
        """When it last changed."""
        return datetime.fromtimestamp(self.changed, UTC)

    @cached_property
    def record(self) -> RunRecord | None:
        """The record of a run that was done.

        Raises
        ------
        RecordError
            If another version of Fuseloom has written it, which this one does not read.
        """
        return None if self.text is None else RunRecord.from_json(self.text)

    def to_dict(self) -> StoredRunData:
        """Plain data: an entry of a document of kind ``runs``."""
        identity = self.identity
        made: StoredRunData = plain(
            {
                "key": self.key,
                "state": self.state,
                "name": self.label.name,
                "data": self.label.data,
                "machine": self.label.machine,
                "schedule": identity.schedule,
                "cycles": self.cycles,
                "estimated": self.label.estimated,
                "seconds": self.seconds,
                "reason": self.reason,
                "attempts": self.attempts,
                "created": iso(self.created),
                "changed": iso(self.changed),
                "data_hash": identity.data,
                "fingerprint": identity.machine,
                "engine": identity.engine,
                "numerics": identity.numerics,
                "settings": identity.settings,
                "program": identity.program or None,
                "record": None if self.text is None else from_text(self.text),
            }
        )
        return made


def iso(moment: float) -> str:
    """A moment as text: ISO 8601, UTC, to the microsecond."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds")
