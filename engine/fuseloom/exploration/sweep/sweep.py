"""Doing a sweep: every configuration is planned, estimated, simulated and kept.

Planning and estimates are this process's: what estimates of one program share is remembered, so
they take milliseconds each.  Simulations are an executor's.  Every run is kept as soon as it has
come out; the same sweep, begun again, does what is left.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import DataError, FuseloomError
from fuseloom.exploration.executors import (
    Executor,
    InProcess,
    JobLimits,
    LocalProcesses,
    Task,
    keep_runs,
)
from fuseloom.exploration.store import Outcome, RunStore, State
from fuseloom.exploration.sweep.explored import Explored, ExploredRow
from fuseloom.exploration.sweep.plan import Plan, Planner
from fuseloom.exploration.sweep.space import Space
from fuseloom.wording import counted

LIMIT = 10_000
"""Configurations that are looked at unless told otherwise."""


@dataclass(frozen=True)
class Status:
    """The progress of a sweep.

    Attributes
    ----------
    done : int
        Configurations that are finished with.
    total : int or None
        Of how many; None where that is not known before.
    best : float or None
        Fewest cycles so far, simulated, or expected where nothing was simulated yet.
    text : str
        What is done now.
    """

    done: int
    total: int | None
    best: float | None
    text: str


Told = Callable[[Status], bool | None]


@check_arguments
def explore(
    space: Space | Mapping[str, Any],
    *,
    simulate: bool | int = False,
    estimated: bool = True,
    store: RunStore | str | Path | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    limit: int = LIMIT,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    limits: Limits | None = None,
    check: bool = True,
    again: Collection[State] = (),
    progress: Told | None = None,
) -> Explored:
    """Estimate and simulate every configuration of a space, and keep each as a run.

    What is in the store already is not done again, whoever has done it.

    Parameters
    ----------
    space : Space or mapping
        A mapping is that of axes to values, over ``Base()``; one value of the axis ``model`` is
        the base's model.
    simulate : bool or int
        All configurations, none, or so many: those with the fewest expected cycles.
    estimated : bool
        Whether to estimate; without, all are simulated.
    store : RunStore or path, optional
        By default the user's.
    executor : Executor, optional
        Who simulates; by default worker processes of this machine (``jobs`` of them, 0: this
        process), or the workers of a Dask scheduler (``scheduler``).
    limit : int
        Configurations to look at, the first ones of the space.
    time_limit, memory_limit : float and int, optional
        Seconds and bytes that a simulation may take.
    limits : Limits, optional
        What the simulator counts of tokens and memory.
    check : bool
        Compare results with the dense reference.
    again : collection of State
        Finished states, such as ``limit``, in which a run is done once more.
    progress : callable, optional
        Told how far it is; returning False ends it, and what there is so far is given.

    Raises
    ------
    FuseloomError
        If no configuration has a program, the space is none, or the store cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from fuseloom.exploration.sweep import Base, Space
    >>> space = Space(Base("spmv", "random"), {"order": ["all"], "capacity": [2, "none"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = explore(space, store=f"{folder}/runs.sqlite", simulate=True, jobs=0)
    >>> [(row.values["capacity"], row.state.value) for row in found]
    [('2', 'done'), ('none', 'done')]
    """
    if not isinstance(space, Space):
        space = Space(axes=space)
    if limit < 1:
        raise DataError(f"a limit of {counted(limit, 'configuration')}", hint="at least 1")
    if not estimated and simulate is not True:
        raise DataError("nothing is to be done", hint="estimate, simulate, or both")
    if sum(given is not None for given in (executor, jobs, scheduler)) > 1:
        raise DataError("several executors are given", hint="an executor, jobs, or a scheduler")
    if simulate is not True and simulate is not False and simulate < 1:
        raise DataError(
            f"{counted(simulate, 'configuration')} are to be simulated", hint="at least 1"
        )
    job = JobLimits(wall=time_limit, memory=memory_limit)
    wishes = SweepRequest(
        simulate, estimated, limit, limits or Limits(), job, check, frozenset(again)
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fuseloom-")))
        if not isinstance(store, RunStore):
            store = stack.enter_context(RunStore(store))
        sweep = _Sweep(space, wishes, Planner(space, folder), store, progress)
        if simulate is not True:
            sweep.estimate()
        if simulate is not False and not sweep.ended:
            if executor is None:
                executor = stack.enter_context(_executor(jobs, scheduler, sweep.running))
            sweep.simulate(executor)
        return sweep.explored()


@dataclass(frozen=True)
class SweepRequest:
    """The request for each configuration; its fields are arguments of :func:`explore`."""

    simulate: bool | int
    estimated: bool
    limit: int
    limits: Limits
    job: JobLimits
    check: bool
    again: frozenset[State]


def _executor(
    jobs: int | None, scheduler: str | None, running: Callable[[str, float, str], None]
) -> Executor:
    if scheduler is not None:
        from fuseloom.exploration.executors.dask import DaskWorkers

        return DaskWorkers(scheduler, running)
    return InProcess(running) if jobs == 0 else LocalProcesses(jobs, running)


class _Sweep:
    """A sweep under way."""

    def __init__(
        self,
        space: Space,
        wishes: SweepRequest,
        planner: Planner,
        store: RunStore,
        progress: Told | None,
    ) -> None:
        self._space, self._wishes, self._store, self._progress = space, wishes, store, progress
        self._plans = planner.plans()
        self._rows: list[ExploredRow] = []
        self._best_planned: dict[str, tuple[ExploredRow, Plan]] = {}
        self._by_key: dict[str, list[ExploredRow]] = {}
        self._new: set[str] = set()
        self._done, self._total = 0, min(space.size, wishes.limit) if space.counted else None
        self._best: float | None = None
        self._executor: Executor | None = None
        self._truncated = self.ended = False

    # Estimates ----------------------------------------------------------------------------------

    def estimate(self) -> None:
        """Estimate all; of those that may be simulated, the plans are remembered."""
        for row, plan in self._taken():
            if row.estimated is not None and row.key is not None and plan.refused is None:
                if row.state is None:
                    self._keep_estimate(row, plan)
                if self._wishes.simulate is not False:
                    self._best_planned.setdefault(row.key, (row, plan))
                    if len(self._best_planned) > 2 * self._wishes.simulate + 100:
                        self._best_planned = self._chosen()
            self._count(row, "estimating")
            if self.ended:
                return

    def _chosen(self) -> dict[str, tuple[ExploredRow, Plan]]:
        """As many as are to be simulated, those with the fewest expected cycles."""
        pairs = sorted(self._best_planned.items(), key=lambda item: item[1][0].estimated or 0.0)
        return dict(pairs[: self._wishes.simulate])

    def _keep_estimate(self, row: ExploredRow, plan: Plan) -> None:
        assert plan.identity is not None
        row.state = State.ESTIMATED
        label = plan.label(row.estimated)
        if self._store.put(plan.identity, Outcome(State.ESTIMATED), label):
            self._new.add(plan.identity.key)

    def _taken(self) -> Iterator[tuple[ExploredRow, Plan]]:
        """The configurations, each with a row that has what is known of it."""
        for plan in islice(self._plans, self._wishes.limit):
            row = ExploredRow(plan.values)
            self._rows.append(row)
            identity = plan.identity
            if identity is not None:
                row.key, row.schedule = identity.key, identity.schedule
                self._by_key.setdefault(identity.key, []).append(row)
                self._recall(row)
            if plan.refused is not None:
                self._refuse(row, plan, plan.refused)
            elif self._wishes.estimated and row.estimated is None:
                try:
                    row.estimated = plan.estimated()
                except Exception as reason:
                    self._refuse(row, plan, Outcome.of_error(reason))
            yield row, plan
        self._truncated = next(self._plans, None) is not None

    def _recall(self, row: ExploredRow) -> None:
        """Take over what the store knows of a run."""
        assert row.key is not None
        run = self._store.get(row.key)
        if run is None:
            return
        row.estimated = run.label.estimated
        row.state = run.state
        if run.finished and run.state is not State.ESTIMATED:
            row.take(Outcome(run.state, run.record, run.reason, run.seconds))

    def _refuse(self, row: ExploredRow, plan: Plan, outcome: Outcome) -> None:
        if row.state is None or row.state is State.ESTIMATED:
            row.take(outcome)
            identity = plan.identity
            if identity is not None and self._store.put(identity, outcome, plan.label(None)):
                self._new.add(identity.key)

    # Simulations --------------------------------------------------------------------------------

    def simulate(self, executor: Executor) -> None:
        """Simulate all, or so many that were estimated to take the fewest cycles."""
        self._executor = executor
        pairs = self._taken()
        if self._wishes.simulate is not True:
            chosen = self._chosen()
            self._done, self._total, self._best = 0, len(chosen), None
            pairs = iter(chosen.values())
        tasks = self._tasks(pairs)
        keep_runs(self._store, executor, tasks, again=self._wishes.again, told=self._told)

    def _tasks(self, pairs: Iterator[tuple[ExploredRow, Plan]]) -> Iterator[Task]:
        for row, plan in pairs:
            if self.ended:
                return
            task = self._task(row, plan)
            if task is None:
                self._count(row, "planning")
            else:
                yield task

    def _task(self, row: ExploredRow, plan: Plan) -> Task | None:
        """Return the simulation task of a row; None if there is none."""
        wishes = self._wishes
        undone = row.state in (None, State.ESTIMATED, State.LEASED) or row.state in wishes.again
        if not undone or plan.refused is not None:
            return None
        try:
            return plan.task(row.estimated, wishes.limits, wishes.job, check=wishes.check)
        except FuseloomError as reason:
            self._refuse(row, plan, Outcome.of_error(reason))
            return None

    def _told(self, key: str, outcome: Outcome) -> bool:
        self._new.add(key)
        for row in self._by_key.get(key, ()):
            row.take(outcome)
            self._count(row, "simulating")
        return not self.ended

    def running(self, key: str, share: float, text: str) -> None:
        """A simulation tells how far it is."""
        self._tell(f"simulating: {text}")
        if self.ended and self._executor is not None:
            self._executor.cancel(key)

    # How it goes --------------------------------------------------------------------------------

    def _count(self, row: ExploredRow, text: str) -> None:
        self._done += 1
        if row.figure != float("inf") and row.ok is not False:
            self._best = row.figure if self._best is None else min(self._best, row.figure)
        self._tell(text)

    def _tell(self, text: str) -> None:
        if self._progress is None:
            return
        if self._progress(Status(self._done, self._total, self._best, text)) is False:
            self.ended = True

    def explored(self) -> Explored:
        """Return the results so far."""
        for rows in self._by_key.values():
            for row in rows:  # others may have been at it
                if row.state in (None, State.LEASED):
                    self._recall(row)
        made = tuple(self._rows)
        if made and all(row.key is None for row in made):
            raise DataError(f"no configuration of this space can be: {made[0].reason}")
        undone = any(row.state in (None, State.LEASED) for row in made)
        complete = not (self._truncated or self.ended or undone)
        new = Counter(
            rows[0].state.value
            for key, rows in self._by_key.items()
            if key in self._new and rows[0].state is not None
        )
        return Explored(self._space.axes, made, complete, dict(new), self._store.path)
