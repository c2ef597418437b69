"""The work and the waits of a node, cycle by cycle, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.observe import Wait
from fuseloom.dataflow.sim.ports import is_port
from fuseloom.dataflow.sim.steps.recording import Recording
from fuseloom.dataflow.sim.steps.scene import narrate, ordinal, scenes

_MEMORY = "waits: the memory has not answered"


class Doing(Enum):
    """The activity of a node in a cycle; the value is its name in JSON."""

    ACTS = "acts"
    WAITS = "waits"
    WORKS = "works"
    ENDED = "ended"


@dataclass(frozen=True)
class Moment:
    """One sentence of a node's story; it holds from its cycle to the next moment's.

    Attributes
    ----------
    text : str
        Without the node's name: ``added 2 to the sum for k = 5: now 3.5``.
    """

    cycle: int
    doing: Doing
    text: str


def story(recording: Recording, node: int) -> Iterator[Moment]:
    """The story of a node, in the order of cycles, from cycle 0 to the last kept."""
    known = recording.graph.nodes[node]
    end = int(recording.ends[node])
    at = 0  # the first cycle not told of yet
    for scene in scenes(recording, node):
        yield from _between(recording, known, at, scene.cycle)
        yield Moment(scene.cycle, Doing.ACTS, narrate(scene))
        at = scene.cycle + 1
    yield from _between(recording, known, at, min(end, recording.last + 1))
    if end <= recording.last:
        yield Moment(max(at, end), Doing.ENDED, f"ended in cycle {max(at - 1, end):,}")


def _between(recording: Recording, node: Node, first: int, stop: int) -> Iterator[Moment]:
    """Yield the moments of a node from a cycle on until it acts again."""
    cycle = first
    while cycle < stop:
        wait = recording.waiting(node.id, cycle)
        if wait is not None:
            yield Moment(cycle, Doing.WAITS, waiting_for(recording, node, wait))
            cycle = min(wait.until, stop)
            continue
        until = min(recording.next_wait(node.id, cycle), stop)
        if is_port(node):
            yield Moment(cycle, Doing.WAITS, _MEMORY)
        else:
            yield Moment(cycle, Doing.WORKS, f"works until cycle {until:,}")
        cycle = until


def waiting_for(recording: Recording, node: Node, wait: Wait) -> str:
    """Describe the missing token or space of a node, and the node that can supply it."""
    graph = recording.graph
    if wait.stream < 0:
        return _MEMORY
    if wait.room:
        port = node.outputs.index(wait.stream)
        reader = graph.nodes[graph.consumer[wait.stream]]
        capacity = recording.streams[wait.stream].capacity
        which = f"its {ordinal(port)} output" if len(node.outputs) > 1 else "its output"
        full = "the one place is taken" if capacity == 1 else f"all {capacity:,} places are taken"
        return f"waits: {full} on {which}, until {reader.label or reader.op} takes a token"
    port = node.inputs.index(wait.stream)
    writer = graph.nodes[graph.producer[wait.stream]]
    which = f"its {ordinal(port)} input" if len(node.inputs) > 1 else "its input"
    return f"waits: no token on {which}, from {writer.label or writer.op}"
