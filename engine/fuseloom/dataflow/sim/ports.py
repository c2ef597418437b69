"""The interface between a graph and the memory: ports, addresses, and requests through them.

Two kinds of machine have a memory.  On one with queues, as the reference simulator's, a node
that touches memory stands still until it is answered (``docs/spec/comal.md`` §4).  On one with
DRAM, *ports* do the asking: small nodes in front of and behind the primitives that read or write
stored arrays.  A read port passes its tokens on when their words have come, and may have many
requests under way meanwhile; a write port gathers words to whole accesses and posts them::

    ref -> [read seg] -> scan -> crd, ref -> [read crd] -> ...
    ref -> [read vals] -> array -> ...                ... -> [write crd, seg] -> crdwrite

So every primitive keeps its own meaning and timing, and memory is only time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fuseloom.dataflow.dram import Queues
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.ports import OUTPUT_BYTES, AddressLayout, ported_reads
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Stream
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.dataflow.samml.tile_values import elements_per_value, tile_of
from fuseloom.dataflow.samml.traits import MemoryPort, Stored
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.process import RequestPort
from fuseloom.errors import SimulationError

READ = "mem_read"
WRITE = "mem_write"
"""The ports that are put in here."""


def stalled(node: Node, machine: Machine) -> str | None:
    """Name of the code that runs a node where the machine's memory makes it stand still."""
    return primitive(node.op).memory.stalled if isinstance(machine.memory, Queues) else None


def is_port(node: Node) -> bool:
    """Return whether a node is a port of the memory."""
    return primitive(node.op).memory.port is not None


def ports_of(graph: Graph, machine: Machine) -> dict[int, tuple[RequestPort, ...]]:
    """The ports of every node that asks the memory itself.

    They are numbered in the graph's order, those that read first.
    """
    asks: list[tuple[int, bool, int]] = []  # node, whether it writes, base address
    for node in graph.nodes:
        if machine.memory is None:
            break
        memory = primitive(node.op).memory
        if isinstance(machine.memory, Queues):
            asks += [(node.id, False, 0)] * len(memory.reads)
            asks += [(node.id, True, 0)] * len(memory.writes)
        elif memory.port is MemoryPort.READ:
            asks.append((node.id, False, int(node.params["base"])))
        elif memory.port is MemoryPort.WRITE:
            asks.append((node.id, True, int(node.params["base"])))
            if "segments" in node.params:
                asks.append((node.id, True, int(node.params["segments"])))
    ports: dict[int, tuple[RequestPort, ...]] = {}
    for number, (node_id, write, base) in enumerate(sorted(asks, key=lambda ask: ask[1])):
        ports[node_id] = (*ports.get(node_id, ()), RequestPort(number, write, base))
    return ports


def _key(node: Node, array: Any, name: str) -> Any:
    """Return the identity of an array: the tensor's view and level, or else the array itself."""
    tensor = node.params.get("tensor")
    if tensor is None:
        return id(array), name
    return tensor, node.params.get("level"), name, array.size


def _name(array: Stored) -> str:
    """Return the name of an array's contents for people."""
    return array.name.lower()


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
        """Put a port in front of a node's first input."""
        old = self.nodes[node]
        source, *others = old.inputs
        ahead = self.copy_of(source, what, self.slots)
        self.nodes[node] = replace(old, inputs=(ahead, *others))
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
        If the memory is made of queues and the graph has tiles or searchers: that model knows only
        words, and the primitives of the reference (``docs/spec/comal.md`` §4).
    """
    if isinstance(machine.memory, Queues):
        for node in bound.graph.nodes:
            known = primitive(node.op)
            if known.memory.reads and known.memory.stalled is None:
                raise SimulationError(
                    f"{node.label or node.op}: a memory of queues knows no {known.title}",
                    hint="take a machine with DRAM, as hbm2, or one without memory",
                )
            if tile_of(node) is not None:
                raise SimulationError(
                    f"{node.label or node.op}: a memory of queues moves words, not tiles",
                    hint="take a machine with DRAM, as hbm2, or one without memory",
                )
    if machine.memory is None or isinstance(machine.memory, Queues):
        return bound
    if any(is_port(node) for node in bound.graph.nodes):
        return bound
    layout, editor = AddressLayout(), _Editor(bound.graph, machine.port_slots)
    for node in bound.graph.nodes:
        for read in ported_reads(node):
            array = bound.of(node.id)[read.array.value]
            at = layout.place(_key(node, array, read.array.value), WORD * array.size)
            word = WORD * elements_per_value(node)
            put = editor.behind if read.behind else editor.before
            put(node.id, READ, _name(read.array), base=at, stride=word, size=read.words * word)
    for node in bound.graph.nodes:  # outputs lie behind all inputs
        writes = primitive(node.op).memory.writes
        if not writes:
            continue
        bases = [layout.place((node.id, array.value), OUTPUT_BYTES) for array in writes]
        params = {"base": bases[0], "size": WORD * elements_per_value(node)}
        if Stored.SEGMENTS in writes:
            params["segments"] = bases[writes.index(Stored.SEGMENTS)]
        editor.before(node.id, WRITE, _name(writes[0]), **params)
    return replace(bound, graph=editor.done())
