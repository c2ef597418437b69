"""Paths that part and meet again: how often a token may pass where one of them is short of room.

What parts must meet again: while a token takes its time on one path, those behind it need room on
the other.  As many tokens as have room there pass in the time of the longer path.
"""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import value_latency
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.traits import Role


def periods(
    execution: Execution, machine: Machine, rooms: Mapping[int, int]
) -> dict[int, tuple[int, float]]:
    """Of nodes at which paths meet, a stream of theirs and the cycles that each token takes."""
    found: dict[int, tuple[int, float]] = {}
    for node in execution.graph.nodes:
        streams = [s for s in node.outputs if s is not None]
        if len(streams) > 1 and any(s in rooms for s in streams):
            for k, (stream, cycles) in _behind(execution, machine, rooms, node.id).items():
                if cycles > max(1.0, found.get(k, (0, 0.0))[1]):
                    found[k] = stream, cycles
    return found


def _behind(
    execution: Execution, machine: Machine, rooms: Mapping[int, int], start: int
) -> dict[int, tuple[int, float]]:
    """Likewise, of paths that part at a node, as long as they carry as many tokens as it puts."""
    graph, found = execution.graph, {}
    tokens = [execution.streams[s.id].tokens.total for s in graph.streams]
    arrivals = max(tokens[s] for s in graph.nodes[start].outputs if s is not None)
    longest, shortest = {start: 0.0}, {start: (0.0, 0)}
    order = graph.topological()
    for k in order[order.index(start) + 1 :]:
        inputs = [
            (s, graph.producer[s])
            for s in graph.nodes[k].inputs
            if graph.producer[s] in longest and tokens[s] == arrivals
        ]
        if not inputs:
            continue
        cycles = max(longest[maker] + _latency(execution, machine, maker) for _, maker in inputs)
        room, back = min(
            (shortest[maker][0] + rooms.get(s, arrivals), shortest[maker][1] + 1)
            for s, maker in inputs
        )
        if len(inputs) > 1:
            found[k] = inputs[0][0], (cycles + back) / room
        if execution.nodes[k].flushes is None:
            longest[k], shortest[k] = cycles, (room, back)
    return found


def _latency(execution: Execution, machine: Machine, k: int) -> int:
    node = execution.graph.nodes[k]
    return 1 if primitive(node.op).role is Role.COPY else value_latency(node, machine)
