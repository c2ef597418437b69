"""Why a run got stuck: who waits for whom, and the circle they form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.errors import DeadlockError, SimulationError


class Need(Enum):
    """The need of a blocked node on a stream."""

    TOKEN = "a token"
    ROOM = "room"


@dataclass(frozen=True)
class Blocked:
    """Node ``node`` cannot go on before stream ``stream`` has a token, or room for one."""

    node: int
    stream: int
    need: Need


def waits_for(graph: Graph, blocked: Blocked) -> int:
    """The node that alone can end that wait: a token's producer, a full channel's consumer."""
    ends = graph.producer if blocked.need is Need.TOKEN else graph.consumer
    return ends[blocked.stream]


def circle(graph: Graph, blocked: Sequence[Blocked]) -> tuple[Blocked, ...]:
    """Blocked nodes that wait for each other in a circle; empty if there is none.

    Every blocked node waits for exactly one other, so following the waits from anywhere
    either runs into a circle or into a node that has ended.
    """
    by_node = {b.node: b for b in blocked}
    seen: set[int] = set()
    for start in by_node:
        path: dict[int, Blocked] = {}
        node = start
        while node in by_node and node not in seen:
            seen.add(node)
            path[node] = by_node[node]
            node = waits_for(graph, by_node[node])
        if node in path:
            found = list(path)
            return tuple(path[n] for n in found[found.index(node) :])
    return ()


def stuck_error(
    graph: Graph, blocked: Sequence[Blocked], capacity: Callable[[int], int | None]
) -> SimulationError:
    """The error that explains a run in which nothing can move.

    Parameters
    ----------
    blocked : sequence of Blocked
        Every node that has not ended.
    capacity : callable
        Capacity of a stream, given its id.

    Returns
    -------
    DeadlockError
        If nodes wait for each other in a circle.
    SimulationError
        If they wait for a node that has ended.
    """

    def name(node: int) -> str:
        n = graph.nodes[node]
        return n.label or f"{n.op} {n.id}"

    def describe(b: Blocked) -> str:
        stream = graph.streams[b.stream]
        what = f"stream {stream.label or stream.id}"
        other = name(waits_for(graph, b))
        if b.need is Need.TOKEN:
            return f"{name(b.node)} waits for a token of {other} on {what}"
        size = capacity(b.stream)
        return f"{name(b.node)} waits for {other} to free a slot of {what} (holds {size})"

    ring = circle(graph, blocked)
    if ring:
        full = [b for b in ring if b.need is Need.ROOM]
        hint = (
            "give stream " + ", ".join(graph.streams[b.stream].label or str(b.stream) for b in full)
            + " more capacity"
            if full
            else "the graph has a cycle without a token in it"
        )  # fmt: skip
        return DeadlockError(
            "deadlock: " + "; ".join(map(describe, ring)),
            hint=hint,
            full=tuple(b.stream for b in full),
        )
    waiting = {b.node for b in blocked}
    ends = [b for b in blocked if waits_for(graph, b) not in waiting]
    return SimulationError(
        "; ".join(map(describe, ends[:3])) + ", which has ended",
        hint="its input streams end early or do not nest as the graph expects",
    )
