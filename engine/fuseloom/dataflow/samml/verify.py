"""The verification of graphs: ports, kinds, depths, one producer and one reader, payloads."""

from __future__ import annotations

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.presence import check_presence
from fuseloom.dataflow.samml.primitive import Port
from fuseloom.errors import GraphError


def verify(graph: Graph) -> None:
    """Check a graph against the catalogue.

    Raises
    ------
    GraphError
        Naming the node, the stream and the rule.
    """
    check_ends(graph)
    for node in graph.nodes:
        _check_node(graph, node)
    check_presence(graph)


def check_ends(graph: Graph) -> None:
    """Check that every stream has one producer and one reader.

    Raises
    ------
    GraphError
        Naming the stream.
    """
    for what, ends in (
        ("written", [s for n in graph.nodes for s in n.outputs if s is not None]),
        ("read", [s for n in graph.nodes for s in n.inputs]),
    ):
        counts: dict[int, int] = {}
        for s in ends:
            if not 0 <= s < len(graph.streams):
                raise GraphError(f"graph {graph.name!r} uses stream %{s}, which it does not have")
            counts[s] = counts.get(s, 0) + 1
        for stream in graph.streams:
            times = counts.get(stream.id, 0)
            if times != 1:
                raise GraphError(
                    f"stream %{stream.id} ({stream.label}) is {what} {times} times",
                    hint="every stream has one producer and one reader; fan out by a broadcast",
                )


def _check_node(graph: Graph, node: Node) -> None:
    entry = primitive(node.op)
    name = f"node {node.id} ({node.label or node.op})"
    missing = [p for p in entry.params if p not in node.params]
    if missing:
        raise GraphError(f"{name} lacks the parameter {missing[0]!r}", hint=entry.doc)
    pairs: list[tuple[Port, int]] = list(
        zip(entry.input_ports(len(node.inputs)), node.inputs, strict=True)
    )
    pairs += [
        (port, s)
        for port, s in zip(entry.output_ports(len(node.outputs)), node.outputs, strict=True)
        if s is not None
    ]
    base: int | None = None
    kind = None
    for port, s in pairs:
        stream = graph.streams[s]
        if stream.kind not in port.kinds:
            wanted = " or ".join(k.value for k in port.kinds)
            raise GraphError(
                f"{name}, port {port.name}: takes {wanted}, got {stream.kind.value} (%{s})"
            )
        if entry.same_kind and len(port.kinds) > 1:
            kind = kind or stream.kind
            if stream.kind is not kind:
                raise GraphError(
                    f"{name}, port {port.name}: {stream.kind.value} is not {kind.value}"
                )
        below = port.depth_of(node.params)
        depth = stream.depth - below
        if base is None:
            base = depth
        elif depth != base:
            raise GraphError(
                f"{name}, port {port.name}: stream %{s} has depth {stream.depth}, "
                f"the other ports ask for {base + below}"
            )
