"""The on-chip storage of a graph: the contents of its nodes, and the sizes of its channels.

Rules: ``docs/spec/estimate.md`` §7: the largest trees of accumulators, and the sizes of channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuseloom.dataflow.cost.exact.execution import RULES, Execution
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, StreamKind
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.dataflow.samml.tile_values import tile_of
from fuseloom.results.declarations import Amount, Record


@dataclass(frozen=True)
class OnChip(Record):
    """Bytes on chip.

    Attributes
    ----------
    held : float or None
        What accumulators and replayers hold, each at its largest; of samples, the largest seen.
        None where only statistics are known.
    channels : float or None
        Room of all channels; None if one has no bound.
    """

    held: Amount | None
    channels: Amount | None

    @property
    def total(self) -> float | None:
        """Both together, if both are known."""
        if self.held is None or self.channels is None:
            return None
        return self.held + self.channels


NOT_KNOWN = OnChip(None, None)


def value_bytes(graph: Graph) -> Mapping[int, int]:
    """Bytes of a token of each stream: a word, or a tile of words."""
    sizes: dict[int, int] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        tile = tile_of(node)
        for s in node.outputs:
            if s is None:
                continue
            sizes[s] = WORD
            if graph.streams[s].kind is StreamKind.VAL:  # what only passes is as large as before
                passed = max((sizes[i] for i in node.inputs), default=WORD)
                sizes[s] = passed if tile is None else WORD * tile.elements
    return sizes


def channel_bytes(graph: Graph, machine: Machine) -> float | None:
    """Room of all channels; None if one has no bound."""
    sizes = value_bytes(graph)
    total = 0.0
    for stream in graph.streams:
        room = machine.channel_capacity if stream.capacity is None else stream.capacity
        if room is None:
            return None
        total += float(room) * sizes[stream.id]
    return total


def held_bytes(execution: Execution) -> Mapping[int, float]:
    """Of every node that holds something on chip, how much at most."""
    graph, sizes = execution.graph, value_bytes(execution.graph)
    found = {}
    for node in graph.nodes:
        if (holds := RULES[node.op].holds) is None:
            continue
        held = holds(
            node, tuple(execution.streams[s] for s in node.inputs), execution.nodes[node.id]
        )
        value = max((sizes[s] for s in node.outputs if s is not None), default=WORD)
        found[node.id] = WORD * held.words + value * held.values
    return found
