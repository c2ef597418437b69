"""The spots of a graph's nodes: the statement that each serves, and the index.

A node that a cell of the fusion table made belongs to that cell's row, and to the statement of its
column: the one that the column is the result of, or the one that reads it.  What the lowering
inserted (copies, forks) belongs where its input comes from, and what shapes a result (droppers,
writers) to the statement whose result it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.table.cells import VALUE_ROW

VALUES = "values"
"""In place of an index: what is done with values."""


@dataclass(frozen=True)
class Spot:
    """The spot of a node.

    Attributes
    ----------
    statement : str
        The tensor that the statement assigns.
    index : str
        Row of the table, or :data:`VALUES`.
    """

    statement: str
    index: str


def spots(region: CompiledRegion) -> tuple[Spot, ...]:
    """Return the spot of each node of a region's graph, in the order of the graph."""
    graph = region.graph
    found: dict[int, Spot] = {}
    of = {c.name: c.statement if c.leaf else c.tensor for c in region.table.columns}
    for node in graph.nodes:
        if (spot := _own(node, graph, of)) is not None:
            found[node.id] = spot
    order = graph.topological()
    for number in reversed(order):
        if number not in found and primitive(graph.nodes[number].op).family is Family.DROP:
            _take(found, number, _readers(graph, number)[::-1])  # what it drops comes out last
    for number in order:
        if number not in found:
            _take(found, number, [graph.producer[s] for s in graph.nodes[number].inputs])
    for number in reversed(order):
        if number not in found:
            _take(found, number, _readers(graph, number))
    last = Spot(region.region.statements[-1].out.tensor, VALUES)
    return tuple(found.get(node.id, last) for node in graph.nodes)


def _own(node: Node, graph: Graph, of: dict[str, str]) -> Spot | None:
    """Return a node's own spot: by the cell that made it, or by the tensor that it writes."""
    column, _, row = node.origin.rpartition(".")
    if column in of:
        return Spot(of[column], VALUES if row == VALUE_ROW else row)
    if primitive(node.op).family is Family.WRITE and "tensor" in node.params:
        indices = graph.streams[node.inputs[0]].indices
        level = primitive(node.op).memory.writes_level
        return Spot(str(node.params["tensor"]), indices[-1] if indices and level else VALUES)
    return None


def _readers(graph: Graph, number: int) -> list[int]:
    outputs = (s for s in graph.nodes[number].outputs if s is not None)
    return [graph.consumer[s] for s in outputs if s in graph.consumer]


def _take(found: dict[int, Spot], number: int, others: list[int]) -> None:
    spot = next((found[other] for other in others if other in found), None)
    if spot is not None:
        found[number] = spot
