"""Where a graph meets the memory: ports, addresses, and what is asked through them.

Two kinds of machine have a memory.  On one with queues, as the reference simulator's, a node
that touches memory stands still until it is answered (``samml.md`` §4).  On one with DRAM,
*ports* do the asking: small nodes in front of and behind the primitives that read or write
stored arrays.  A read port passes its tokens on when their words have come, and may have many
requests under way meanwhile; a write port gathers words to whole accesses and posts them::

    ref -> [read seg] -> scan -> crd, ref -> [read crd] -> ...
    ref -> [read vals] -> array -> ...                ... -> [write crd, seg] -> crdwrite

So every primitive keeps its own meaning and timing, and memory is only time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.dataflow.samml.graph import Graph, Node, Stream
from engine.dataflow.samml.primitive import WORD
from engine.dataflow.samml.tile_values import elements_per_value, tile_of
from engine.dataflow.sim.bound import BoundGraph
from engine.dataflow.sim.dram import Queues
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.process import Port
from engine.errors import SimulationError

READ, WRITE = "mem_read", "mem_write"
_ALIGNMENT = 4096
"""Bytes: arrays begin at pages."""
_OUTPUT = 1 << 26
"""Bytes kept free for an output array, whose size is not known before the run."""


def variant(node: Node, machine: Machine) -> str:
    """Name of the code that runs a node: its op, or that of a machine whose memory stalls it."""
    if isinstance(machine.memory, Queues) and node.op in _ASKS:
        return f"stalling_{node.op}"
    return node.op


_ASKS: Mapping[str, tuple[bool, ...]] = {
    "scan": (False, False),  # segments, coordinates
    "array": (False,),
    "crdwrite": (True, True),  # coordinates, segments
    "valwrite": (True,),
}
"""Per primitive that touches memory, its ports: whether each writes."""


def ports_of(graph: Graph, machine: Machine) -> dict[int, tuple[Port, ...]]:
    """The ports of every node that asks the memory itself.

    They are numbered in the graph's order, those that read first.
    """
    asks: list[tuple[int, bool, int]] = []  # node, whether it writes, base address
    for node in graph.nodes:
        if machine.memory is None:
            break
        if isinstance(machine.memory, Queues):
            asks += [(node.id, write, 0) for write in _ASKS.get(node.op, ())]
        elif node.op == READ:
            asks.append((node.id, False, int(node.params["base"])))
        elif node.op == WRITE:
            asks.append((node.id, True, int(node.params["base"])))
            if "segments" in node.params:
                asks.append((node.id, True, int(node.params["segments"])))
    ports: dict[int, tuple[Port, ...]] = {}
    for number, (node_id, write, base) in enumerate(sorted(asks, key=lambda ask: ask[1])):
        ports[node_id] = (*ports.get(node_id, ()), Port(number, write, base))
    return ports


# ---------------------------------------------------------------------------- addresses


@dataclass
class Layout:
    """Deals addresses to arrays; one that several nodes read lies in one place."""

    end: int = 0
    known: dict[Any, int] = field(default_factory=dict)

    def place(self, key: Any, size: int) -> int:
        """Address of the array of that key, ``size`` bytes long."""
        if key not in self.known:
            self.known[key] = self.end
            self.end += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        return self.known[key]


def _key(node: Node, array: Any, name: str) -> Any:
    """What identifies an array: the tensor's view and level, or else the array itself."""
    tensor = node.params.get("tensor")
    if tensor is None:
        return id(array), name
    return tensor, node.params.get("level"), name, array.size


# ---------------------------------------------------------------------------- inserting ports


class _Editor:
    """A graph while ports are put in."""

    def __init__(self, graph: Graph, slots: int) -> None:
        self.graph = graph
        self.slots = slots
        self.nodes = {node.id: node for node in graph.nodes}
        self.streams = list(graph.streams)

    def copy_of(self, stream: int, what: str, capacity: int | None) -> int:
        old = self.streams[stream]
        new = Stream(
            len(self.streams), old.kind, old.depth, f"{old.label} {what}".strip(), capacity
        )
        self.streams.append(new)
        return new.id

    def before(self, node: int, op: str, what: str, **params: Any) -> None:
        """Put a port in front of a node's only input."""
        old = self.nodes[node]
        (source,) = old.inputs
        ahead = self.copy_of(source, what, self.slots)
        self.nodes[node] = replace(old, inputs=(ahead,))
        self._add(op, old, what, (source,), (ahead,), params)

    def behind(self, node: int, op: str, what: str, **params: Any) -> None:
        """Put a port behind all of a node's outputs."""
        old = self.nodes[node]
        made = tuple(
            self.copy_of(stream, what, self.streams[stream].capacity)
            if stream is not None
            else self._hidden(old, what)
            for stream in old.outputs
        )
        for stream in old.outputs:
            if stream is not None:
                self.streams[stream] = replace(self.streams[stream], capacity=self.slots)
        self.nodes[node] = replace(old, outputs=made)
        self._add(op, old, what, made, old.outputs, params)

    def _hidden(self, node: Node, what: str) -> int:
        """A reference that nobody reads but the port, which needs it for the address."""
        crd = next(self.streams[s] for s in node.outputs if s is not None)
        ref = replace(self.streams[node.inputs[0]], depth=crd.depth, capacity=crd.capacity)
        self.streams.append(replace(ref, id=len(self.streams), label=f"{ref.label} {what}".strip()))
        return len(self.streams) - 1

    def _add(
        self,
        op: str,
        owner: Node,
        what: str,
        inputs: tuple[int, ...],
        outputs: tuple[int | None, ...],
        params: Mapping[str, Any],
    ) -> None:
        name = f"{owner.label or f'{owner.op} {owner.id}'}: {what}"
        new = Node(len(self.nodes), op, inputs, outputs, params, name, owner.origin)
        self.nodes[new.id] = new

    def done(self) -> Graph:
        nodes = tuple(self.nodes[k] for k in range(len(self.nodes)))
        return replace(self.graph, nodes=nodes, streams=tuple(self.streams))


def with_ports(bound: BoundGraph, machine: Machine) -> BoundGraph:
    """The graph with a port wherever the machine's memory is read or written.

    Without a memory, or with one whose nodes ask themselves, the graph stays as it is.  Nodes
    and streams keep their numbers; ports come behind them.

    Raises
    ------
    SimulationError
        If the memory is made of queues and the graph has tiles: that model knows only words
        (``samml.md`` §4).
    """
    if isinstance(machine.memory, Queues):
        for node in bound.graph.nodes:
            if tile_of(node) is not None:
                raise SimulationError(
                    f"{node.label or node.op}: a memory of queues moves words, not tiles",
                    hint="take a machine with DRAM, as hbm2, or one without memory",
                )
    there = any(node.op in (READ, WRITE) for node in bound.graph.nodes)
    if machine.memory is None or isinstance(machine.memory, Queues) or there:
        return bound
    layout, editor = Layout(), _Editor(bound.graph, machine.port_slots)
    for node in bound.graph.nodes:
        arrays = bound.of(node.id)
        if node.op == "scan":
            seg, crd = arrays["seg"], arrays["crd"]
            if not node.params.get("singleton"):
                at = layout.place(_key(node, seg, "seg"), WORD * seg.size)
                editor.before(node.id, READ, "segments", base=at, stride=WORD, size=2 * WORD)
            if node.outputs[0] is not None:
                at = layout.place(_key(node, crd, "crd"), WORD * crd.size)
                editor.behind(node.id, READ, "coordinates", base=at, stride=WORD, size=WORD)
        elif node.op == "array":
            size = WORD * elements_per_value(node)
            at = layout.place(_key(node, arrays["vals"], "vals"), WORD * arrays["vals"].size)
            editor.before(node.id, READ, "values", base=at, stride=size, size=size)
    for node in bound.graph.nodes:  # outputs lie behind all inputs
        if node.op == "crdwrite":
            base = layout.place((node.id, "crd"), _OUTPUT)
            segments = layout.place((node.id, "seg"), _OUTPUT)
            editor.before(node.id, WRITE, "coordinates", base=base, size=WORD, segments=segments)
        elif node.op == "valwrite":
            size = WORD * elements_per_value(node)
            editor.before(
                node.id, WRITE, "values", base=layout.place((node.id, "vals"), _OUTPUT), size=size
            )
    return replace(bound, graph=editor.done())
