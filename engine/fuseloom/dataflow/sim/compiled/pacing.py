"""Streams on which no two tokens are put in one cycle.

``n`` cycles then bring at most ``n`` tokens: a token that lies in its channel for that long sees
no more than ``n`` at once, itself among them.  So only long stays can tell how full a channel
gets, and an observed run of the compiled engine looks at no others
(:mod:`fuseloom.dataflow.sim.compiled.maxima`).  Where nothing is known here, it looks at all.
"""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import value_interval, value_latency
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.traits import Paced
from fuseloom.dataflow.sim.ports import stalled


def paced_streams(graph: Graph, machine: Machine) -> tuple[set[int], dict[int, int]]:
    """The streams of which that is known; and of nodes whose outputs are so at times, the input.

    These nodes are broadcasts: what comes in one a cycle leaves so until a token is delayed.
    """
    found: set[int] = set()
    at_times: dict[int, int] = {}
    for number in graph.topological():
        node = graph.nodes[number]
        paced = _paced(node, machine)
        if Paced.AS_GIVEN not in paced:
            known = Paced.PUTS in paced
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


def _paced(node: Node, machine: Machine) -> Paced:
    """Return the ends at which a node passes at most one token a cycle, on that machine."""
    if value_interval(node, machine) <= 0 or stalled(node, machine):
        return Paced.UNKNOWN
    return primitive(node.op).streaming.paced


def _takes(graph: Graph, machine: Machine, node: Node) -> bool:
    """Return whether a node takes at most one token a cycle of a stream that brings no more.

    A broadcast does unless several slots of an output may become free in one cycle.
    """
    paced = _paced(node, machine)
    if Paced.AS_GIVEN not in paced:
        return Paced.TAKES in paced
    streams = [graph.streams[stream] for stream in node.outputs if stream is not None]
    return all(
        machine.capacity_of(stream) is None
        or _takes(graph, machine, graph.nodes[graph.consumer[stream.id]])
        for stream in streams
    )
