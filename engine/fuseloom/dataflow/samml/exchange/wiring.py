"""Building a graph from a file: wires may have many readers, depths follow from the catalogue.

Both importers use it.  Unlike a compiler's draft it merges nothing: the file's nodes stay
apart, its broadcasts stay where two readers are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.samml.primitive import Port
from fuseloom.errors import GraphError

MAX_NODES = 10_000
"""Most nodes of an imported graph."""


@dataclass(eq=False)
class DraftNode:
    """A node while a graph is being built; ``kinds`` and ``depths`` are those of its outputs."""

    op: str
    inputs: tuple[DraftOutput, ...]
    kinds: tuple[StreamKind, ...]
    depths: tuple[int, ...]
    params: Mapping[str, Scalar]
    label: str

    @property
    def outs(self) -> tuple[DraftOutput, ...]:
        return tuple(DraftOutput(self, k) for k in range(len(self.kinds)))


@dataclass(frozen=True)
class DraftOutput:
    """Output ``port`` of a part."""

    part: DraftNode
    port: int

    @property
    def kind(self) -> StreamKind:
        return self.part.kinds[self.port]

    @property
    def depth(self) -> int:
        return self.part.depths[self.port]


@dataclass
class Wiring:
    """Parts in the order they were added, producers before consumers."""

    parts: list[DraftNode] = field(default_factory=list)

    def add(
        self,
        op: str,
        inputs: Sequence[DraftOutput],
        outputs: int | None = None,
        params: Mapping[str, Scalar] | None = None,
        label: str = "",
    ) -> tuple[DraftOutput, ...]:
        """Add a node; its output wires.

        Parameters
        ----------
        outputs : int, optional
            Number of output ports, where the catalogue leaves it open.

        Raises
        ------
        GraphError
            Naming the node whose inputs do not fit its ports.
        """
        if len(self.parts) >= MAX_NODES:
            raise GraphError(f"the graph has more than {MAX_NODES:,} nodes")
        entry = primitive(op)
        name = label or op
        ins = entry.input_ports(len(inputs))
        outs = entry.output_ports(len(entry.outputs) if outputs is None else outputs)
        params = dict(params or {})
        base = inputs[0].depth - port_depth(ins[0], params) if inputs else 0
        for port, wire in zip(ins, inputs, strict=True):
            if wire.kind not in port.kinds:
                wanted = " or ".join(k.value for k in port.kinds)
                raise GraphError(
                    f"node {name}, port {port.name}: takes {wanted}, got {wire.kind.value}",
                    hint=entry.doc,
                )
            if wire.depth - port_depth(port, params) != base:
                raise GraphError(
                    f"node {name}, port {port.name}: the stream is nested {wire.depth} deep, "
                    f"its other inputs ask for {base + port_depth(port, params)}",
                    hint=entry.doc,
                )
        depths = tuple(base + port_depth(port, params) for port in outs)
        if any(depth < 0 for depth in depths):
            raise GraphError(f"node {name} has no level left to work on", hint=entry.doc)
        carried = next((k for k, port in enumerate(ins) if len(port.kinds) > 1), 0)
        kinds = tuple(
            _kind(port, k, inputs, entry.same_kind, carried) for k, port in enumerate(outs)
        )
        part = DraftNode(op, tuple(inputs), kinds, depths, params, label)
        self.parts.append(part)
        return part.outs

    def finish(self, name: str) -> Graph:
        """The graph of everything the writers need.

        Broadcasts keep the copies somebody reads, and vanish if only one is left; a wire with
        several readers gets a broadcast; outputs nobody reads become void.
        """
        needed = self._needed()
        kept = [part for part in self.parts if id(part) in needed]
        used = {(id(w.part), w.port) for part in kept for w in part.inputs}

        def copies(part: DraftNode) -> int:
            return sum((id(part), k) in used for k in range(len(part.kinds)))

        def source(wire: DraftOutput) -> DraftOutput:
            while wire.part.op == "broadcast" and copies(wire.part) < 2:
                wire = wire.part.inputs[0]
            return wire

        kept = [part for part in kept if part.op != "broadcast" or copies(part) > 1]
        readers: dict[tuple[int, int], int] = {}
        for part in kept:
            for wire in map(source, part.inputs):
                key = id(wire.part), wire.port
                readers[key] = readers.get(key, 0) + 1
        nodes: list[Node] = []
        streams: list[Stream] = []
        ready: dict[tuple[int, int], list[int]] = {}

        def stream(wire: DraftOutput) -> int:
            streams.append(Stream(len(streams), kind=wire.kind, depth=wire.depth))
            return streams[-1].id

        for part in kept:
            inputs = tuple(ready[id(w.part), w.port].pop(0) for w in map(source, part.inputs))
            broadcast = part.op == "broadcast"
            wires = [w for w in part.outs if not broadcast or (id(part), w.port) in readers]
            ids = {w.port: stream(w) for w in wires if (id(part), w.port) in readers}
            outputs = tuple(ids.get(w.port) for w in wires)
            nodes.append(Node(len(nodes), part.op, inputs, outputs, part.params, part.label))
            for wire in wires:
                count = readers.get((id(part), wire.port), 0)
                if not count:
                    continue
                made = [ids[wire.port]]
                if count > 1:
                    made = [stream(wire) for _ in range(count)]
                    nodes.append(Node(len(nodes), "broadcast", (ids[wire.port],), tuple(made)))
                ready[id(part), wire.port] = made
        return Graph(name, tuple(nodes), tuple(streams))

    def _needed(self) -> set[int]:
        stack = [part for part in self.parts if not part.kinds]
        needed = set(map(id, stack))
        while stack:
            for wire in stack.pop().inputs:
                if id(wire.part) not in needed:
                    needed.add(id(wire.part))
                    stack.append(wire.part)
        return needed


def port_depth(port: Port, params: Mapping[str, Scalar]) -> int:
    """A port's depth relative to its node's; some nodes say it in a parameter."""
    return port.depth_of(params)


def _kind(
    port: Port, number: int, inputs: Sequence[DraftOutput], same_kind: bool, carried: int
) -> StreamKind:
    """The kind of an output: the port's only one, or that of the input it passes on."""
    if len(port.kinds) == 1:
        return port.kinds[0]
    if same_kind:
        return inputs[carried].kind
    return inputs[2 * number - 1].kind  # a joiner: after crd, the payloads in order
