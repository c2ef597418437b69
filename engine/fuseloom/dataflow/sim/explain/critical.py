"""The critical path of a run: the chain of work and waits that determines its last cycle.

It is found backwards.  The node with the latest clock worked since its last wait; it waited for
a token, which its producer put at some clock, or for a slot, which the reader of the channel
freed; so the path goes on there, at that clock, down to cycle 0.  The segments follow each other
without a gap.  Shortening what is not on the path gains nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from enum import Enum

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import Engine, run_ported
from fuseloom.dataflow.sim.explain.causes import Causes, LoggedCauses, Via
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.ports import is_port
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.display.shows import Shows
from fuseloom.errors import SimulationError

PASSES = 8
"""Runs that the path of one run may cost, the first one included."""


class PathCause(Enum):
    """The cause of a cycle on the path."""

    WORK = "working"
    LATENCY = "latency"
    TOKEN = "waiting for a token"
    ROOM = "waiting for room"
    MEMORY = "waiting for memory"


@dataclass(frozen=True)
class Segment:
    """Cycles ``start`` to ``stop`` of the path, and what they were spent on.

    Attributes
    ----------
    node : int
        WORK: the node that worked.  LATENCY: the node whose result was on its way for more than
        one cycle.  TOKEN, ROOM and MEMORY: the node that waited; a port of the memory does
        nothing else.
    stream, other : int or None
        The stream between the two nodes, and the other one: the reader of a late result, the
        producer of the token, or the consumer that made room.
    """

    node: int
    start: int
    stop: int
    why: PathCause
    stream: int | None = None
    other: int | None = None

    @property
    def cycles(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class PathShare:
    """Cycles of the path that one node spent in one way.

    Attributes
    ----------
    segments : int
        In how many pieces.
    share : float
        Of the elapsed cycles.
    """

    node: int
    why: PathCause
    stream: int | None
    other: int | None
    cycles: int
    segments: int
    share: float


@dataclass(frozen=True)
class SpeedupBound:
    """The upper bound of the gain from making one node twice as fast.

    Attributes
    ----------
    own : int
        Cycles of its work and latency on the path.
    gain : int
        Upper bound of the cycles saved, ``own / 2``.
    cycles : int
        Lower bound of the elapsed cycles then.
    """

    node: int
    own: int
    gain: int
    cycles: int


@dataclass(frozen=True)
class CriticalPath(Shows, html="fuseloom.dataflow.sim.explain.display:path_html"):
    """The path of one run.

    Attributes
    ----------
    cycles : int
        Elapsed cycles, where the path ends.
    start : int
        Cycle from which it is known; 0 unless the log was too short.
    segments : tuple of Segment
        From ``start`` to ``cycles`` without a gap.
    """

    graph: Graph = field(repr=False)
    cycles: int
    start: int
    segments: tuple[Segment, ...] = field(repr=False)

    def summary(self) -> tuple[PathShare, ...]:
        """Cycles by node, reason and stream, the largest first."""
        groups: dict[tuple[int, PathCause, int | None, int | None], list[int]] = defaultdict(list)
        for s in self.segments:
            groups[s.node, s.why, s.stream, s.other].append(s.cycles)
        shares = [
            PathShare(node, why, stream, other, sum(parts), len(parts), sum(parts) / self.cycles)
            for (node, why, stream, other), parts in groups.items()
        ]
        return tuple(sorted(shares, key=lambda share: (-share.cycles, share.node)))

    def own(self, node: int) -> int:
        """Cycles on the path of a node's own work and latency."""
        return sum(
            s.cycles
            for s in self.segments
            if s.node == node and s.why in (PathCause.WORK, PathCause.LATENCY)
        )

    def what_if(self, node: int) -> SpeedupBound:
        """Bound the gain from making a node twice as fast: at most half of its own cycles here.

        What nodes take and put does not depend on time.  So a run has a fixed set of chains of
        work and waits, each as long as the sum of its parts, and takes as many cycles as the
        longest.  Where every part of one node is at least half as long as before, this chain is
        still one of them, and shorter by at most half of the node's parts of it; the longest
        chain is no shorter than that.
        """
        own = self.own(node)
        return SpeedupBound(node, own, own // 2, self.cycles - own // 2)

    @property
    def bottleneck(self) -> int | None:
        """The node with the most own cycles on the path."""
        nodes = {s.node for s in self.segments}
        return max(sorted(nodes), key=self.own, default=None)


def critical_path(result: EngineResult) -> CriticalPath:
    """The path of a run that was observed with a log.

    Raises
    ------
    SimulationError
        If it was not.
    """
    observed = result.observed
    if observed is None or observed.log is None:
        raise SimulationError(
            "the critical path needs a log of the run", hint="observe=Observe(log=True)"
        )
    walk = Walk(result, LoggedCauses(result.graph, observed))
    walk.follow()
    return walk.path()


def explained(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine,
    result: EngineResult,
    observe: Observe,
    passes: int = PASSES,
) -> CriticalPath:
    """The path of a run whose log may be too short, from further runs.

    The compiled engine keeps the newest records only.  Where the walk comes to what it forgot,
    the run is repeated up to the middle of the log it had, so that the log then holds what came
    before; that is done ``passes`` - 1 times at most.
    """
    observed = result.observed
    if observed is None or observed.log is None:
        return critical_path(result)
    walk = Walk(result, LoggedCauses(result.graph, observed))
    walk.follow()
    end = observed.logged
    for _ in range(passes - 1):
        end -= observe.log_limit // 2
        if walk.ended or end <= 0:
            break
        again = run_ported(
            bound, machine, engine, observe=replace(observe, log_end=end, events=None)
        )
        assert again.observed is not None
        if again.clocks[walk.node] <= walk.clock:  # the node has not come so far
            break
        walk.causes = LoggedCauses(result.graph, again.observed)
        walk.follow()
    return walk.path()


class Walk:
    """The walk backwards and where it has come to."""

    def __init__(self, result: EngineResult, causes: Causes) -> None:
        self.graph = result.graph
        self.causes = causes
        assert result.observed is not None
        assert result.observed.log is not None
        self.capacities = [log.capacity or 0 for log in result.observed.log]
        counted = [n.id for n in result.graph.nodes if not primitive(n.op).observer]
        self.cycles = result.cycles
        self.node = max(counted, key=lambda n: int(result.clocks[n]), default=0)
        self.clock = self.cycles
        self.via: Via | None = None
        self.segments: list[Segment] = []
        self.ended = self.clock == 0

    def follow(self) -> None:
        """Walk until cycle 0, or to what is not known."""
        while not self.ended:
            wait = self.causes.last_wait(self.node, self.clock, self.via)
            since = 0 if wait is None else wait.until
            if since <= self.causes.known_from:
                return
            if since < self.clock:
                # What a port does is to wait for its memory.
                port = is_port(self.graph.nodes[self.node])
                why = PathCause.MEMORY if port else PathCause.WORK
                self.segments.append(Segment(self.node, since, self.clock, why))
            if wait is None:
                self.clock, self.ended = 0, True
            elif wait.room:
                self._room(wait.stream, wait.token, since)
            else:
                self._token(wait.stream, wait.token, since)
            self.ended = self.ended or self.clock == 0

    def _token(self, stream: int, token: int, stamp: int) -> None:
        """Go on where the token came from."""
        producer = self.graph.producer[stream]
        clock = self.causes.origin(stream, token)
        late = stamp - clock > 1  # so the clock is that of the operands' take
        if late:
            made = Segment(producer, clock, stamp, PathCause.LATENCY, stream, self.node)
        else:
            made = Segment(self.node, clock, stamp, PathCause.TOKEN, stream, producer)
        self._go(made, producer, clock, Via(stream, token, take=late))

    def _room(self, stream: int, token: int, free: int) -> None:
        """Go on where the token that had the slot before was taken."""
        consumer = self.graph.consumer[stream]
        made = Segment(self.node, free - 1, free, PathCause.ROOM, stream, consumer)
        capacity = self.capacities[stream]
        self._go(made, consumer, free - 1, Via(stream, token - capacity, take=True))

    def _go(self, segment: Segment, node: int, clock: int, via: Via) -> None:
        assert clock < segment.stop
        self.segments.append(segment)
        self.node, self.clock, self.via = node, clock, via

    def path(self) -> CriticalPath:
        return CriticalPath(self.graph, self.cycles, self.clock, tuple(reversed(self.segments)))
