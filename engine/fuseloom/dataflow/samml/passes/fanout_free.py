"""A graph without its broadcasts: what passes rewrite, and the way there and back.

In a fan-out-free graph a stream may have any number of readers and every output port has a stream,
so that a rewrite need not care for fan-out or for outputs nobody reads.  Weaving it back leaves
nodes out that no writer needs, makes unread outputs void, and fan-out explicit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.graph_draft import GraphDraft
from fuseloom.dataflow.samml.traits import Role
from fuseloom.errors import GraphError


@dataclass(frozen=True)
class FanoutFreeGraph:
    """Nodes, producers before readers, and streams."""

    name: str
    nodes: tuple[Node, ...]
    streams: tuple[Stream, ...]

    @cached_property
    def producer(self) -> dict[int, int]:
        """Stream id to the id of the node that writes it."""
        return {s: n.id for n in self.nodes for s in n.outputs if s is not None}

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Stream id to the ids of the nodes that read it, with repetition."""
        found: dict[int, list[int]] = defaultdict(list)
        for node in self.nodes:
            for s in node.inputs:
                found[s].append(node.id)
        return found


def unwoven(graph: Graph) -> FanoutFreeGraph:
    """The fan-out-free graph of a graph.

    ::

        %1 = scan(%0); %2, %3 = broadcast(%1); array(%2); repsig(%3)
        %1 = scan(%0);                         array(%1); repsig(%1)

    Raises
    ------
    GraphError
        If the streams form a cycle, or one is read that nothing writes.
    """
    same: dict[int, int] = {}
    full = filled(graph)
    nodes: list[Node] = []
    for node in full.nodes:
        inputs = tuple(same.get(s, s) for s in node.inputs)
        if primitive(node.op).role is Role.COPY:
            same.update({s: inputs[0] for s in node.outputs if s is not None})
        else:
            nodes.append(replace(node, inputs=inputs))
    return tidy(graph.name, nodes, full.streams)


def filled(graph: Graph) -> FanoutFreeGraph:
    """The same nodes, producers before readers, with a stream for every output.

    Ids are those of the graph; streams for its void outputs come after them.

    Raises
    ------
    GraphError
        If the streams form a cycle.
    """
    streams = list(graph.streams)
    nodes: list[Node] = []
    for node in _ordered(graph):
        outputs: list[int | None] = []
        copies = primitive(node.op).role is Role.COPY
        for port, s in enumerate(node.outputs):
            if s is None and not copies:
                streams.append(_revived(graph, node, port, len(streams)))
                s = len(streams) - 1
            outputs.append(s)
        nodes.append(replace(node, outputs=tuple(outputs)))
    return FanoutFreeGraph(graph.name, tuple(nodes), tuple(streams))


def _ordered(graph: Graph) -> list[Node]:
    """Nodes, producers before readers; as they stand, if they do so."""
    made: set[int] = set()
    for node in graph.nodes:
        if not made.issuperset(node.inputs):
            return [graph.nodes[k] for k in graph.topological()]
        made.update(s for s in node.outputs if s is not None)
    return list(graph.nodes)


def tidy(name: str, nodes: Iterable[Node], streams: Iterable[Stream]) -> FanoutFreeGraph:
    """Number nodes and streams anew; streams that no node writes are left out.

    Raises
    ------
    GraphError
        If a node reads a stream that no node before it writes.
    """
    streams = tuple(streams)
    kept: list[Stream] = []
    number: dict[int, int] = {}
    made: list[Node] = []
    for node in nodes:
        for s in node.outputs:
            if s is not None:
                number[s] = len(kept)
                stream = streams[s]
                kept.append(stream if stream.id == len(kept) else replace(stream, id=len(kept)))
        missing = [s for s in node.inputs if s not in number]
        if missing:
            what = node.label or node.op
            raise GraphError(f"{what} reads stream %{missing[0]}, which nothing writes")
        inputs = tuple(number[s] for s in node.inputs)
        outputs = tuple(None if s is None else number[s] for s in node.outputs)
        now = (len(made), inputs, outputs)
        if now != (node.id, node.inputs, node.outputs):
            node = replace(node, id=now[0], inputs=inputs, outputs=outputs)
        made.append(node)
    return FanoutFreeGraph(name, tuple(made), tuple(kept))


def woven(fanout_free: FanoutFreeGraph) -> Graph:
    """The graph of a fan-out-free graph, without dead nodes."""
    return GraphDraft(list(fanout_free.streams), list(fanout_free.nodes)).finish(fanout_free.name)


def _revived(graph: Graph, node: Node, port: int, number: int) -> Stream:
    """A stream for an output that nobody reads: kind, depth and indices follow from the rest."""
    entry = primitive(node.op)
    outputs = entry.output_ports(len(node.outputs))
    known = [
        (p, graph.streams[s])
        for ports, ids in (
            (entry.input_ports(len(node.inputs)), node.inputs),
            (outputs, node.outputs),
        )
        for p, s in zip(ports, ids, strict=True)
        if s is not None
    ]
    base = 0
    if known:
        first, stream = known[0]
        base = stream.depth - first.depth_of(node.params)
    depth = base + outputs[port].depth_of(node.params)
    # Behind a cut an input may count its index under an alias: outputs say it first.
    near = [s for _, s in reversed(known) if s.depth >= depth and len(s.indices) == s.depth]
    near.sort(key=lambda s: s.depth)
    indices = near[0].indices[:depth] if near else ()
    return Stream(number, _kind(graph, node, port), depth, "unread", indices=indices)


def _kind(graph: Graph, node: Node, port: int) -> StreamKind:
    entry = primitive(node.op)
    kinds = entry.output_ports(len(node.outputs))[port].kinds
    if len(kinds) == 1:
        return kinds[0]
    if not node.inputs:
        return StreamKind(str(node.params["kind"]))
    golden = node.inputs[2 * port - 1] if entry.repeated_inputs else node.inputs[0]
    return graph.streams[golden].kind
