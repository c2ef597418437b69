"""Streams on which no two tokens are put in one cycle.

``n`` cycles then bring at most ``n`` tokens: a token that lies in its channel for that long sees
no more than ``n`` at once, itself among them.  So only long stays can tell how full a channel
gets, and an observed run of the compiled engine looks at no others
(:mod:`engine.dataflow.sim.compiled.maxima`).  Where nothing is known here, it looks at all.
"""

from __future__ import annotations

from engine.dataflow.samml.graph import Graph, Node
from engine.dataflow.sim.compiled.choice import kernel_name
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.timing import binary_timing, load_timing, unary_timing, value_latency

_ONE_FOR_ONE = {
    *("locate", "sam_locate", "array", "binary", "unary", "tile_array", "tile_binary"),
    *("tile_unary", "repsig", "fork", "join", "intersect", "union", "shift", "valdrop"),
    *("stopdrop", "mem_write"),
}

PUTS = frozenset(_ONE_FOR_ONE) | {
    *("root", "scan", "dense_scan", "repeat", "replay", "ordered_join", "crdhold", "flatten"),
    "zerodrop",
}
"""Kernels that put at most one token a cycle on each output."""

TAKES = frozenset(_ONE_FOR_ONE) | {"mem_read"}
"""Kernels that take at most one token a cycle from each input."""

_TIMINGS = {"array": load_timing, "binary": binary_timing, "unary": unary_timing}


def paced_streams(graph: Graph, machine: Machine) -> tuple[set[int], dict[int, int]]:
    """The streams of which that is known; and of nodes whose outputs are so at times, the input.

    These nodes are broadcasts: what comes in one a cycle leaves so until a token is delayed.
    """
    found: set[int] = set()
    at_times: dict[int, int] = {}
    for number in graph.topological():
        node = graph.nodes[number]
        if node.op != "broadcast":
            known = kernel_name(node, machine) in PUTS and _moves(node, machine)
        else:
            (stream,) = node.inputs
            producer = graph.nodes[graph.producer[stream]]
            # Where values take longer than stops, both may arrive in the same cycle.
            even = stream in found and value_latency(producer, machine) == 1
            known = even and _takes(graph, machine, node)
            if even and not known:
                at_times[number] = stream
        if known:
            found.update(stream for stream in node.outputs if stream is not None)
    return found, at_times


def _moves(node: Node, machine: Machine) -> bool:
    """Whether a node's clock moves with every token."""
    timing = _TIMINGS.get(node.op)
    return timing is None or timing(node, machine).interval > 0


def _takes(graph: Graph, machine: Machine, node: Node) -> bool:
    """Whether a node takes at most one token a cycle of a stream that brings no more.

    A broadcast does unless several slots of an output may become free in one cycle.
    """
    if node.op != "broadcast":
        return kernel_name(node, machine) in TAKES and _moves(node, machine)
    streams = [graph.streams[stream] for stream in node.outputs if stream is not None]
    return all(
        machine.capacity_of(stream) is None
        or _takes(graph, machine, graph.nodes[graph.consumer[stream.id]])
        for stream in streams
    )
