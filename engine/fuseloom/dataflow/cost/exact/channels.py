"""Channels with a bound that can be full, and how long nodes wait for a memory."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.dram import Queues
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.ports import ported_reads
from fuseloom.dataflow.samml.graph import Graph, Node


def rooms_of(execution: Execution, machine: Machine) -> dict[int, int]:
    """The room of every channel through which more tokens pass than it holds, by stream.

    A port of the memory in it has room of its own.
    """
    rooms = {}
    slots = _slots(execution.graph, machine)
    for stream in execution.graph.streams:
        room = machine.capacity_of(stream)
        if room is not None:
            room += slots.get(stream.id, 0)
        if room is not None and execution.streams[stream.id].tokens.total > room:
            rooms[stream.id] = room
    return rooms


def _slots(graph: Graph, machine: Machine) -> dict[int, int]:
    """The tokens that read ports hold, by the stream that they are put into."""
    found: dict[int, int] = {}
    if machine.memory is None or isinstance(machine.memory, Queues):
        return found
    for node in graph.nodes:
        for read in ported_reads(node):
            for stream in node.outputs if read.behind else node.inputs[:1]:
                if stream is not None:
                    found[stream] = found.get(stream, 0) + machine.port_slots
    return found


def standing_still(machine: Machine) -> float:
    """Cycles that a node stands still for a bundle of words that meets no other; 0: it does not."""
    memory = machine.memory
    if not isinstance(memory, Queues):
        return 0.0
    return memory.read_latency(machine.clock_hz) + 3  # it is seen, starts and comes a cycle later


def reading_latency(node: Node, machine: Machine) -> int:
    """Cycles that a node waits for a memory that finds time for everybody.

    Reads that need the answer of another one wait for it: segments come before coordinates.
    """
    if machine.memory is None:
        return 0
    return round(len(ported_reads(node)) * machine.memory.read_latency(machine.clock_hz))
