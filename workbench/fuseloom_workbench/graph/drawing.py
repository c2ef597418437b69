"""The common parts of a graph's drawings: keys of nodes, colours, edges."""

from __future__ import annotations

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.traits import Role


def node_key(node: int) -> str:
    """The SVG id of a node."""
    return f"n{node}"


def edge_list(graph: Graph) -> list[list[str]]:
    """``[edge id, producer, consumer]`` of every stream."""
    return [[f"e{s.id}", node_key(a), node_key(b)] for a, b, s in graph.edges()]


def is_copy(node: Node) -> bool:
    """Return whether a node is fan-out only, drawn as a dot without a label."""
    return primitive(node.op).role is Role.COPY
