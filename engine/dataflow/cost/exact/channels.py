"""What short channels and memories add to the work of a node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.dataflow.cost.exact.axes import Axis, working_index
from engine.dataflow.cost.exact.execution import Execution
from engine.dataflow.cost.exact.nests import Floats
from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.graph import Graph, Node
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.timing import value_interval


def drains_of(
    execution: Execution, axes: Mapping[str, Axis], machine: Machine
) -> dict[int, tuple[str, Floats]]:
    """Of every channel with a bound, how long what is behind it takes to work off each place.

    Up to the next node that folds, which takes what comes.  Empty where no channel has a bound.
    """
    graph = execution.graph
    drains: dict[int, tuple[str, Floats]] = {}
    if all(_room(graph, s.id, machine) is None for s in graph.streams):
        return drains
    for k in reversed(graph.topological()):
        node, made = graph.nodes[k], execution.nodes[k]
        name = working_index(graph, node, made)
        if name is None or made.work.top is None:
            continue
        slowest = axes[name].spread(made.work) * value_interval(node, machine)
        if made.flushes is None:
            for s in node.outputs:
                if s is not None and s in drains and drains[s][0] == name:
                    slowest = np.maximum(slowest, drains[s][1])
        drains.update((s, (name, slowest)) for s in node.inputs)
    return drains


def _room(graph: Graph, stream: int, machine: Machine) -> int | None:
    capacity = graph.streams[stream].capacity
    return machine.channel_capacity if capacity is None else capacity


def bursts(
    execution: Execution,
    node: Node,
    name: str,
    axis: Axis,
    drains: Mapping[int, tuple[str, Floats]],
    machine: Machine,
) -> Floats:
    """Cycles in which rows that leave at once wait for room in channels shorter than they are."""
    made = execution.nodes[node.id]
    extra = np.zeros(axis.size)
    if made.flushes is None or made.flushes.top is None:
        return extra
    for s in node.outputs:
        if s is None or s not in drains or drains[s][0] != name:
            continue
        room = _room(execution.graph, s, machine)
        if room is None:
            continue
        tokens = axis.spread(execution.streams[s].tokens)
        share = 1.0 - room * axis.spread(made.flushes) / np.maximum(tokens, 1.0)
        np.maximum(extra, share * drains[s][1], out=extra)
    return extra


def reading_latency(node: Node, machine: Machine) -> int:
    """Cycles that a node waits for a memory that finds time for everybody.

    Reads that need the answer of another one wait for it: segments come before coordinates.
    """
    if machine.memory is None:
        return 0
    trips = len(primitive(node.op).memory.reads)
    if node.params.get("singleton"):
        trips -= 1
    return round(trips * machine.memory.read_latency(machine.clock_hz))
