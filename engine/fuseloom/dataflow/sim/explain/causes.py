"""Why a node's clock stood where it stood: the last wait before a cycle.

Both engines log when tokens were put, stamped and taken, alike, and what is said here comes from
that log alone: so both tell the same path of a run, also where several are of one length.  A wait
leaves a trace there: a token for which the node waited was the head of its stream before it came,
and something the node did happened at that very cycle; a slot for which it waited was filled in
the cycle in which it became free.  What looks like that without the clock having moved came just
in time: a wait of no cycles, as true a link of the path.  **The rule for ties**: of paths of one
length the one that leads upstream counts, that is the latest moment that may have been a wait; of
moments in one cycle arrivals come before releases and those before peeks, each by port.

Primitives that look at tokens which they do not take need a rule each (``Peeks``), so that neither
a wait is missed nor a coincidence passes for one.  What the log cannot tell is the order of a
node's doings within one cycle; where a step neither takes before it puts nor the reverse, two that
had nothing to do with each other may pass for a link (one gain of 17,955 in random graphs exceeded
its bound for that, by a cycle).  The waits that the golden models note are exact; tests hold this
to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.traits import Mask, Paced, Takes
from fuseloom.dataflow.sim.explain.moments import Moments, StreamCauses, clock_of, happened, one_put
from fuseloom.dataflow.sim.observe import Events, Observed, Wait


@dataclass(frozen=True)
class Via:
    """The token by which the walk reached a node: one that it took, or one that it put.

    Attributes
    ----------
    stream, token : int
        Which token.  One that is put may stand for the operands from which it was made.
    take : bool
        Whether what counts is the clock of a take: of that token, or of those operands.
    """

    stream: int
    token: int
    take: bool


class Causes(Protocol):
    """The queries of the backward walk."""

    @property
    def known_from(self) -> int:
        """Everything after this clock is known; -1: everything."""
        ...

    def last_wait(self, node: int, clock: int, via: Via | None = None) -> Wait | None:
        """The last wait of a node that ended at ``clock`` or before; ``since`` may be -1.

        With ``via`` the question is what came before it took or put that token at that clock.
        """
        ...

    def origin(self, stream: int, token: int) -> int:
        """The producer's clock that determined a token's timestamp.

        It is that of the put, or that of the operands where the result's latency outlasted the
        wait for room.
        """
        ...

    def take_clock(self, stream: int, token: int) -> int:
        """The consumer's clock at which it took a token."""
        ...


def _follows(node: Node, takes: Takes, room: bool, stream: int, via: Via) -> bool:
    """Return whether a step acts on a stream after the token by which the walk came."""
    if not via.take:
        return False
    if room:
        return takes.before_puts
    if takes is not Takes.IN_ORDER or via.stream not in node.inputs:
        return False
    return node.inputs.index(stream) > node.inputs.index(via.stream)


class LoggedCauses:
    """Waits as the log of a run tells them."""

    def __init__(self, graph: Graph, observed: Observed) -> None:
        assert observed.log is not None
        self.graph = graph
        self.known_from = observed.forgotten
        self.streams = [StreamCauses(log) for log in observed.log]
        self._streaming = [primitive(node.op).streaming for node in graph.nodes]
        self._peeks: dict[int, list[tuple[int, Moments]]] = {}

    def origin(self, stream: int, token: int) -> int:
        return self.streams[stream].origin(token)

    def take_clock(self, stream: int, token: int) -> int:
        return clock_of(self.streams[stream].log.takes, token)

    def last_wait(self, node: int, clock: int, via: Via | None = None) -> Wait | None:
        """The latest moment; arrivals before releases before peeks where several agree."""
        best: Wait | None = None
        n, streaming = self.graph.nodes[node], self._streaming[node]
        candidates = [(False, c, self.streams[c].arrivals) for c in n.inputs]
        candidates += [(True, c, self.streams[c].releases) for c in n.outputs if c is not None]
        candidates += [(False, c, moments) for c, moments in self._peeks_of(n)]
        for room, stream, moments in candidates:
            if via is None:
                found = moments.last(clock)
            elif streaming.paced is Paced.AS_GIVEN:  # several tokens may pass in one cycle
                found = moments.last(clock, via.token - (room and via.take))
            else:
                found = moments.last(clock - _follows(n, streaming.takes, room, stream, via))
            if found is not None and (best is None or found[0] > best.until):
                best = Wait(-1, found[0], room, stream, found[1])
        return best

    def _peeks_of(self, node: Node) -> list[tuple[int, Moments]]:
        """Arrivals of heads at which the node did something with its other streams."""
        if node.id not in self._peeks:
            self._peeks[node.id] = [
                (c, self._peeks_at(node, port))
                for port, c in enumerate(node.inputs)
                if self.streams[c].log.peeked
            ]
        return self._peeks[node.id]

    def _peeks_at(self, node: Node, port: int) -> Moments:
        """Those of one input: what the node did in that cycle may have another reason."""
        moments = self.streams[node.inputs[port]].peeks
        waited = self._streaming[node.id].peeks.waited
        return moments.where(waited(_Looks(self.streams, node, port, moments)))


class _Looks:
    """The log of a node at the clocks at which heads of one input arrived."""

    def __init__(
        self, streams: list[StreamCauses], node: Node, port: int, moments: Moments
    ) -> None:
        self.streams, self.node, self.moments = streams, node, moments
        self.port = port
        self.others = tuple(k for k in range(len(node.inputs)) if k != port)

    def taken(self, *ports: int, ago: int = 0) -> Mask:
        at = np.zeros(len(self.moments.start), bool)
        for port in ports:
            takes = self.streams[self.node.inputs[port]].log.takes
            at |= happened(takes, self.moments.start - ago)
        return at

    def put(self, ago: int = 0) -> Mask:
        at = np.zeros(len(self.moments.start), bool)
        for puts in self._puts():
            at |= happened(puts, self.moments.start - ago)
        return at

    def one_put(self) -> Mask:
        puts = next(self._puts(), None)
        if puts is None:
            return np.ones(len(self.moments.start), bool)
        return one_put(puts, self.moments, self.streams[self.node.inputs[self.port]].log.takes)

    def _puts(self) -> Iterator[Events]:
        return (self.streams[out].puts for out in self.node.outputs if out is not None)
