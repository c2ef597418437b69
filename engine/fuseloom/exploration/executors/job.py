"""The interface of executors: jobs, limits, answers, and the methods of every executor."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, Self

from fuseloom.errors import DataError
from fuseloom.exploration.store.runs import Outcome

Report = Callable[[float, str], bool]
"""A function that a target calls with the finished share of its work, 0 to 1, and its activity.

Where that is False it has to end, by any exception.
"""
Target = Callable[[Any, Report], Any]
"""A function that does a job: from its request, to its value; both are plain JSON data."""
Progress = Callable[[str, float, str], None]
"""Called with a job's key, the share of it that is done and what it does now; from any thread."""


class JobStatus(Enum):
    """The end of a job; all but the last are also states of a stored run."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    LIMIT = "limit"
    QUARANTINED = "quarantined"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class JobLimits:
    """The limits of a job; None is no limit.

    Attributes
    ----------
    cpu, wall : float or None
        Seconds of CPU time, of its process, and of wall time.
    memory : int or None
        Bytes that its process may have more than before.
    """

    cpu: float | None = None
    wall: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("cpu", "wall", "memory"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 2**62:
                raise DataError(f"a job's limit of {name} is {value}", hint="a positive number")


@dataclass(frozen=True)
class Job:
    """Something to be done.

    Attributes
    ----------
    key : str
        Tells it from the others that an executor has at the time.
    target : str
        ``module:function`` of a :data:`Target`.
    request : plain JSON data
        What the target is given.
    files : tuple of str
        Files whose paths are texts in the request: workers that may be on other machines get
        copies, and the request says where these are.
    """

    key: str
    target: str
    request: Any = field(repr=False)
    limits: JobLimits = field(default_factory=JobLimits)
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobResult:
    """The result of a job.

    Attributes
    ----------
    value : plain JSON data
        What the target gave, where it is done.
    reason : str
        Why it is not, in words.
    seconds : float
        Wall time that it took, the last time it was begun.
    """

    key: str
    fate: JobStatus
    value: Any = field(default=None, repr=False)
    reason: str = ""
    seconds: float = 0.0


class Executor(Protocol):
    """Carries out jobs; used by one thread."""

    @property
    def wanted(self) -> int:
        """Jobs it should have at a time, so that nobody waits."""

    def submit(self, job: Job) -> None:
        """Take a job."""

    def cancel(self, key: str) -> None:
        """End a job, wherever it is; its answer says so, unless it has ended otherwise before."""

    def next(self) -> JobResult | None:
        """Wait for the next answer; None if there is no job left."""

    def close(self) -> None:
        """End everything; jobs that have not ended are given up."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def target_of(name: str) -> Target:
    """The function that ``module:function`` names.

    Raises
    ------
    DataError
        If there is none.
    """
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as problem:
        raise DataError(f"there is no target {name!r}: {problem}") from None
    made: Target = found
    return made


def fate_of(problem: Exception) -> tuple[JobStatus, str]:
    """Return the status of a job that raised this exception, and the reason, on one line."""
    outcome = Outcome.of_error(problem)
    return JobStatus(outcome.state.value), outcome.reason
