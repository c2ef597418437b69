"""The tokens that memory ports can hold: their slots, or less, where a short path leads past them.

Where two paths part at one node and meet again at another, tokens on one are at most as far ahead
of those on the other as that one has room: when its channels are full, the node where they part
puts nothing on either.  So a port holds no larger part of its stream than the channels of the
shortest path beside it.  Rules: ``docs/spec/estimate.md`` §4.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from fuseloom.dataflow.cost.exact.channels import rooms_of
from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.ports import ported_reads
from fuseloom.program.late import networkx as nx

_FREE = math.inf, -1


class PortRoom(NamedTuple):
    """The tokens that a port can hold, and the node where the path beside it meets its own."""

    tokens: int
    meets: int


def port_rooms(execution: Execution, machine: Machine) -> Mapping[tuple[int, bool], PortRoom]:
    """The room of the read ports that have less than their slots.

    Returns
    -------
    mapping
        By node, and whether the port is behind it.
    """
    rooms, graph = rooms_of(execution, machine), execution.graph
    if not rooms:
        return {}
    every: Any = nx.DiGraph()
    every.add_nodes_from(node.id for node in graph.nodes)
    bounded: Any = nx.MultiDiGraph(every)
    parts: dict[int, float] = {}
    for node in graph.nodes:
        for stream in node.inputs:
            maker = graph.producer[stream]
            every.add_edge(maker, node.id)
            if stream in rooms:  # and a token in the hands of whoever waits for room
                tokens = execution.streams[stream].tokens.total
                parts[stream] = (rooms[stream] + 1) / max(tokens, 1.0)
                bounded.add_edge(maker, node.id, stream, part=parts[stream])
    readers = {stream: node.id for node in graph.nodes for stream in node.inputs}
    found = {}
    for node in graph.nodes:
        for read in ported_reads(node):
            passed = node.outputs[0] if read.behind else node.inputs[0]
            if passed is None or passed not in readers:
                continue
            maker, reader = graph.producer[passed], readers[passed]
            if passed in parts:
                bounded.remove_edge(maker, reader, passed)
            reached = nx.multi_source_dijkstra_path_length(
                bounded, {maker, *nx.ancestors(every, maker)}, weight="part"
            )
            behind = {reader, *nx.descendants(every, reader)}
            part, meets = min(((reached[k], k) for k in behind & reached.keys()), default=_FREE)
            tokens = part * execution.streams[passed].tokens.total
            if tokens < machine.port_slots:
                found[node.id, read.behind] = PortRoom(max(int(tokens), 1), meets)
            if passed in parts:
                bounded.add_edge(maker, reader, passed, part=parts[passed])
    return found
