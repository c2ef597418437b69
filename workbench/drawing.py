"""What the graph view needs of a graph besides its drawing (``engine.dataflow.samml.dot``)."""

from __future__ import annotations

from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.graph import Graph, Node
from engine.dataflow.samml.primitive import Family
from engine.dataflow.samml.traits import Role


def node_key(node: int) -> str:
    """The SVG id of a node."""
    return f"n{node}"


def legend(graph: Graph) -> list[dict[str, str]]:
    """The families of primitives that occur, with their colours."""
    present = {primitive(node.op).family for node in graph.nodes}
    return [
        {"text": family.name.lower(), "colour": family.value}
        for family in Family
        if family in present
    ]


def edge_list(graph: Graph) -> list[list[str]]:
    """``[edge id, producer, consumer]`` of every stream."""
    return [[f"e{s.id}", node_key(a), node_key(b)] for a, b, s in graph.edges()]


def is_copy(node: Node) -> bool:
    """Whether a node is fan-out only, drawn as a dot without a label."""
    return primitive(node.op).role is Role.COPY
