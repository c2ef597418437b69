"""Runs, done by an executor and kept in a store: each once, whoever else is at them.

Only the driver writes to the store, a run at a time, as soon as it has come out.  If the driver is
killed, what was finished is there, and the leases of what was not are free: whoever starts again
with the same tasks does the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fuseloom.errors import RecordError, StoreError
from fuseloom.exploration.executors.job import Executor, Job, JobLimits, JobResult, JobStatus
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.runs import Lease, Outcome, RunLabel, State
from fuseloom.exploration.store.store import RunStore
from fuseloom.results.record import RunRecord


@dataclass(frozen=True)
class Task:
    """A run to be done.

    Attributes
    ----------
    target : str
        ``module:function`` of a function that gives the run's record as plain data
        (``RunRecord.to_dict``).
    request : plain JSON data
        What that function is given.
    files : tuple of str
        See :class:`Job`.
    """

    identity: RunIdentity
    target: str
    request: Any = field(repr=False)
    label: RunLabel = field(default_factory=RunLabel)
    limits: JobLimits = field(default_factory=JobLimits)
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The summary of tasks.

    Attributes
    ----------
    states : mapping of State to int
        How many runs were done now, by how they came out.
    there : int
        How many were there already, or leased by others.
    """

    states: dict[State, int]
    there: int


def keep_runs(
    store: RunStore,
    executor: Executor,
    tasks: Iterable[Task],
    *,
    again: Collection[State] = (),
    told: Callable[[str, Outcome], bool | None] | None = None,
) -> Summary:
    """Do all tasks that the store does not have, and keep how they come out.

    A job's key is that of its run, a slash, and what tells this time from others.

    Parameters
    ----------
    again : collection of State
        Finished states in which a run is done once more.
    told : callable, optional
        Called with the key and the outcome of every run; returning False ends all.

    Raises
    ------
    StoreError
        If the store cannot be used any more; runs that are under way are given up.
    """
    states: dict[State, int] = {}
    leases: dict[str, Lease] = {}
    coming = _Coming(store, tasks, again)
    try:
        while True:
            while len(leases) < executor.wanted and (found := next(coming, None)) is not None:
                task, lease = found
                name = f"{lease.key}/{lease.token}"
                leases[name] = lease
                executor.submit(Job(name, task.target, task.request, task.limits, task.files))
            answer = executor.next()
            if answer is None:
                return Summary(states, coming.there)
            mine = leases.pop(answer.key, None)
            if mine is None:  # of an earlier call, which was ended
                continue
            if answer.fate is JobStatus.CANCELLED:
                store.release(mine)
                continue
            outcome = outcome_of(answer)
            store.finish(mine, outcome)
            states[outcome.state] = states.get(outcome.state, 0) + 1
            if told is not None and told(mine.key, outcome) is False:
                return Summary(states, coming.there)
    finally:
        # also when the user ends it: what is under way is nobody's any more
        for name, lease in leases.items():
            executor.cancel(name)
            with contextlib.suppress(StoreError):  # it is free when this process has ended
                store.release(lease)


class _Coming(Iterator[tuple[Task, Lease]]):
    """Tasks that are ours to do, claimed as they are asked for."""

    def __init__(self, store: RunStore, tasks: Iterable[Task], again: Collection[State]) -> None:
        self.there = 0
        self._store = store
        self._tasks = iter(tasks)
        self._again = again
        self._seen: set[str] = set()

    def __next__(self) -> tuple[Task, Lease]:
        for task in self._tasks:
            key = task.identity.key
            if key not in self._seen:  # nothing is done twice in one go, whatever its state
                self._seen.add(key)
                lease = self._store.claim(task.identity, task.label, self._again)
                if lease is not None:
                    return task, lease
            self.there += 1
        raise StopIteration


def outcome_of(answer: JobResult) -> Outcome:
    """Return the outcome to store for an answer."""
    if answer.fate is not JobStatus.DONE:
        return Outcome(State(answer.fate.value), None, answer.reason, answer.seconds)
    try:
        return Outcome.of(RunRecord.from_dict(answer.value))
    except RecordError as problem:
        return Outcome(State.FAILED, None, f"its record is wrong: {problem}", answer.seconds)
