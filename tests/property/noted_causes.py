"""The exact causes: waits as the golden models noted them, to hold those of the log to."""

from __future__ import annotations

from bisect import bisect_right

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.explain.causes import Via
from fuseloom.dataflow.sim.explain.critical import CriticalPath, Walk
from fuseloom.dataflow.sim.explain.moments import StreamCauses, clock_of
from fuseloom.dataflow.sim.observe import Observed, Wait
from fuseloom.dataflow.sim.result import EngineResult


class NotedCauses:
    """Waits as the golden models noted them."""

    def __init__(self, graph: Graph, observed: Observed) -> None:
        assert observed.log is not None
        assert observed.waits is not None
        self.known_from = -1
        self.waits = [  # those for the memory, of no stream, are what ports do
            [w for w in waits if w.until > w.since and w.stream >= 0] for waits in observed.waits
        ]
        self.ends = [[wait.until for wait in waits] for waits in self.waits]
        self.streams = [StreamCauses(log) for log in observed.log]

    def origin(self, stream: int, token: int) -> int:
        return self.streams[stream].origin(token)

    def take_clock(self, stream: int, token: int) -> int:
        return clock_of(self.streams[stream].log.takes, token)

    def last_wait(self, node: int, clock: int, via: Via | None = None) -> Wait | None:
        k = bisect_right(self.ends[node], clock)
        return self.waits[node][k - 1] if k else None


def exact_path(result: EngineResult) -> CriticalPath:
    """The path of a golden run by what it noted; of equal waits the last real one counts."""
    assert result.observed is not None
    walk = Walk(result, NotedCauses(result.graph, result.observed))
    walk.follow()
    return walk.path()
