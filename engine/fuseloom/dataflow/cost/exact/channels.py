"""Channels with a bound that can be full, and how long nodes wait for a memory."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.machine import Machine


def rooms_of(execution: Execution, machine: Machine) -> dict[int, int]:
    """The room of every channel through which more tokens pass than it holds, by stream."""
    rooms = {}
    for stream in execution.graph.streams:
        room = machine.capacity_of(stream)
        if room is not None and execution.streams[stream.id].tokens.total > room:
            rooms[stream.id] = room
    return rooms


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
