"""Runs whose deadlocks are diagnosed: the least capacity that ends one, found by trying."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import Engine, run_ported
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import Limits, Progress
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import DeadlockError, SimulationError
from fuseloom.wording import counted

SMALL_RUN = 20_000
"""Tokens up to which every deadlock is diagnosed without being asked for."""

MAX_CIRCLES = 16
"""Circles that may be found one behind the other before the search gives up."""


@dataclass(frozen=True)
class Widening:
    """One channel that needs more slots."""

    stream: int
    label: str
    before: int
    after: int

    def __str__(self) -> str:
        return f"stream {self.label}: {counted(self.after, 'slot')} instead of {self.before}"


@dataclass(frozen=True)
class Diagnosis:
    """The remedy of a deadlock.

    Attributes
    ----------
    circle : str
        Who waits for whom, as the run that failed said it.
    increase : int
        Slots that every channel of ``widenings`` needs more; with one less the run deadlocks.
    widenings : tuple of Widening
        Those channels; none of them can do without.
    cycles : int
        What the run takes then.
    runs : int
        Runs the search took.
    """

    circle: str
    increase: int
    widenings: tuple[Widening, ...]
    cycles: int
    runs: int

    def __str__(self) -> str:
        return "; ".join(map(str, self.widenings))


def diagnose_deadlock(
    bound: BoundGraph,
    machine: Machine,
    *,
    engine: str | Engine = Engine.AUTO,
    limit: int | None = None,
) -> Diagnosis | None:
    """The smallest common increase of full channels with which a run gets to its end.

    The channels that hold up the circle are made unbounded, and those of the next circle, until
    the run ends: what piles up in them then bounds the increase.  As a run that ends does so
    with any larger capacity, bisection finds the least common increase.  A channel is left out
    where the others suffice.

    Parameters
    ----------
    limit : int, optional
        Most tokens a run may put.

    Returns
    -------
    Diagnosis or None
        None if there is no deadlock, or none that capacity ends.

    Raises
    ------
    SimulationError
        If a run exceeds the limit or its tokens contradict each other.
    """
    search = _CapacitySearch(bound, machine, engine, limit)
    error = search.failure({})
    if error is None:
        return None
    full = search.closure(error)
    if not full:
        return None
    free = search.run(dict.fromkeys(full), observe=True)
    assert free.observed is not None
    occupancy = free.observed.occupancy_max
    assert occupancy is not None
    low, high = 0, max(int(occupancy[s]) - search.capacity(s) for s in full)
    while high - low > 1:
        middle = (low + high) // 2
        if search.failure(search.wider(full, middle)) is None:
            high = middle
        else:
            low = middle
    for stream in sorted(full):
        without = [s for s in full if s != stream]
        if without and search.failure(search.wider(without, high)) is None:
            full = without
    chosen = search.wider(full, high)
    cycles = search.run(chosen).cycles
    widenings = tuple(
        Widening(s, search.label(s), search.capacity(s), search.capacity(s) + high)
        for s in sorted(full)
    )
    return Diagnosis(error.message, high, widenings, cycles, search.runs)


def run_diagnosed(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine = Engine.AUTO,
    *,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> EngineResult:
    """Run a graph that has the machine's memory ports; after a deadlock, say what ends it.

    As :func:`fuseloom.dataflow.sim.engines.run_graph`, but after a deadlock of a small run, or of
    one observed with a log, the least capacities that end it are searched and become the error's
    hint.

    Raises
    ------
    DeadlockError
        If nodes wait for each other in a circle.
    SimulationError
        If tokens contradict each other, a limit is reached or the run is cancelled.
    """
    try:
        return run_ported(bound, machine, engine, observe=observe, progress=progress, limits=limits)
    except DeadlockError as error:
        most: int | None = SMALL_RUN
        if observe is not None and observe.log:
            most = limits.tokens if limits is not None else None
        raise with_remedy(error, bound, machine, engine, most) from None


def with_remedy(
    error: DeadlockError,
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine,
    limit: int | None,
) -> DeadlockError:
    """The error with the least remedy in its hint, if one is found within the limit."""
    try:
        found = diagnose_deadlock(bound, machine, engine=engine, limit=limit)
    except SimulationError:
        return error
    if found is None:
        return error
    return DeadlockError(error.message, hint=f"{error.hint}; the least is {found}", full=error.full)


class _CapacitySearch:
    """Runs of one graph with other capacities."""

    def __init__(
        self, bound: BoundGraph, machine: Machine, engine: str | Engine, limit: int | None
    ) -> None:
        self.bound = with_ports(bound, machine)
        self.machine = machine
        self.engine = engine
        self.limit = limit
        self.runs = 0

    def capacity(self, stream: int) -> int:
        """Slots of a full channel, which therefore has a capacity."""
        slots = self.machine.capacity_of(self.bound.graph.streams[stream])
        assert slots is not None
        return slots

    def label(self, stream: int) -> str:
        return self.bound.graph.streams[stream].label or str(stream)

    def wider(self, streams: list[int], increase: int) -> dict[int, int | None]:
        return {s: self.capacity(s) + increase for s in streams}

    def run(self, capacities: Mapping[int, int | None], observe: bool = False) -> EngineResult:
        """Run with other capacities for some streams; None is unbounded."""
        self.runs += 1
        graph, machine = self.bound.graph, self.machine
        streams = tuple(
            # A stream without a capacity has the machine's, so that goes to the streams.
            replace(s, capacity=capacities[s.id] if s.id in capacities else machine.capacity_of(s))
            for s in graph.streams
        )
        return run_ported(
            replace(self.bound, graph=replace(graph, streams=streams)),
            replace(machine, channel_capacity=None),
            self.engine,
            observe=Observe(peaks=True) if observe else None,
            limits=Limits(self.limit),
        )

    def failure(self, capacities: Mapping[int, int | None]) -> DeadlockError | None:
        """The deadlock that a run with those capacities ends in."""
        try:
            self.run(capacities)
        except DeadlockError as error:
            return error
        return None

    def closure(self, error: DeadlockError) -> list[int]:
        """Channels that have to be unbounded for the run to end; none if that does not help."""
        full: list[int] = []
        found: DeadlockError | None = error
        for _ in range(MAX_CIRCLES):
            if found is None:
                return full
            more = [s for s in found.full if s not in full]
            if not more:
                return []
            full += more
            found = self.failure(dict.fromkeys(full))
        return full if found is None else []
