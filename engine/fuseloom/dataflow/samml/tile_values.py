"""Value tokens that are tiles: what a node's parameters say of them, and what they cost.

A node of a blocked graph carries ``block``, the edge of all tiles, and ``tile``: the axes of its
values (``ij``), or of its operands and its result (``ik,kj->ij``), a letter each.  Tokens without
axes are single numbers.  Rules: ``docs/spec/machine.md`` §1.6, §5.4, §5.5, §11.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuseloom.dataflow.samml.block_timing import DEFAULT, BlockTiming
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, StreamKind
from fuseloom.dataflow.samml.primitive import WORD, Family
from fuseloom.dataflow.samml.traits import Arithmetic


@dataclass(frozen=True)
class TileSpec:
    """Axes of a node's operands and of its result, all of extent ``edge``."""

    operands: tuple[str, ...]
    result: str
    edge: int

    @property
    def contracts(self) -> bool:
        """True if operands have axes that the result lacks."""
        return any(set(axes) - set(self.result) for axes in self.operands)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one result."""
        return (self.edge,) * len(self.result)

    @property
    def elements(self) -> int:
        """Numbers in one result."""
        return int(self.edge ** len(self.result))

    @property
    def points(self) -> int:
        """Combinations of all axes: what a contraction adds up, results included."""
        return int(self.edge ** len(set("".join(self.operands)) | set(self.result)))


def tile_of(node: Node) -> TileSpec | None:
    """Return the tile specification of a node's values; None where they are scalars."""
    text = node.params.get("tile")
    if text is None:
        return None
    left, arrow, right = str(text).partition("->")
    return TileSpec(tuple(left.split(",")), right if arrow else left, int(node.params["block"]))


def is_tiled(graph: Graph) -> bool:
    """Return whether some value tokens of a graph are tiles."""
    return any("tile" in node.params for node in graph.nodes)


def flops_per_value(node: Node) -> int:
    """Operations where a scalar machine does one: b² of a tile, 2b³ - b² of a tile product."""
    spec = tile_of(node)
    if spec is None:
        return 1
    match primitive(node.op).arithmetic:
        case Arithmetic.BINARY if spec.contracts:
            return 2 * spec.points - spec.elements
        case Arithmetic.TILE_FOLD:
            return spec.points - spec.elements
        case _:
            return spec.elements


def elements_per_value(node: Node) -> int:
    """Numbers in one of a node's value tokens."""
    spec = tile_of(node)
    return 1 if spec is None else spec.elements


def latency(node: Node, timing: BlockTiming = DEFAULT) -> int:
    """Cycles from operands to a value, on a machine where a number takes one.

    By default a tile streams in, and through a sum, in as many cycles as it has numbers; a tile
    product takes 2b - 1 (a systolic array), a unary function b.
    """
    spec = tile_of(node)
    if spec is None:
        return 1
    match primitive(node.op).arithmetic:
        case Arithmetic.UNARY:
            return timing.cycles("unary", spec.edge, spec.elements)
        case Arithmetic.BINARY:
            rule = "product" if spec.contracts else "elementwise"
            return timing.cycles(rule, spec.edge, spec.elements, spec.points)
        case Arithmetic.LOAD:
            return timing.cycles("load", spec.edge, spec.points)
        case Arithmetic.FOLD | Arithmetic.TILE_FOLD:
            return timing.cycles("fold", spec.edge, spec.points)
        case Arithmetic.NONE | Arithmetic.SEARCH:
            return 1


def interval(node: Node, timing: BlockTiming = DEFAULT) -> int:
    """Cycles between two values: by default b of a tile product, whose b³ sums go b² a cycle."""
    spec = tile_of(node)
    if spec is None or not spec.contracts:
        return 1
    if primitive(node.op).arithmetic is not Arithmetic.BINARY:
        return 1
    return timing.cycles("product_interval", spec.edge, spec.elements, spec.points)


def with_tiles(graph: Graph) -> Graph:
    """Say of what folds or writes values how large they are, from what loads and computes them."""
    if not is_tiled(graph):
        return graph
    block = next(node.params["block"] for node in graph.nodes if "tile" in node.params)
    axes = axes_of_streams(graph)
    nodes = []
    for node in graph.nodes:
        values = [axes[s] for s in node.inputs if _is_value(graph, s)]
        made = next(iter(values), "")
        if made and "tile" not in node.params and primitive(node.op).family in _SIZED:
            node = replace(node, params={**node.params, "tile": made, "block": block})
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


_SIZED = (Family.REDUCE, Family.WRITE)


def axes_of_streams(graph: Graph) -> tuple[str, ...]:
    """Per stream, the axes of its values; none where they are numbers, and of other streams."""
    axes = [""] * len(graph.streams)
    if not is_tiled(graph):
        return tuple(axes)
    for number in graph.topological():
        node = graph.nodes[number]
        for port, stream in enumerate(node.outputs):
            if stream is not None and _is_value(graph, stream):
                axes[stream] = axes_of_output(graph, node, port, axes)
    return tuple(axes)


def axes_of_output(graph: Graph, node: Node, port: int, axes: Sequence[str]) -> str:
    """Axes of the values an output port of a node carries, given those of its inputs."""
    if spec := tile_of(node):
        return spec.result
    if primitive(node.op).family is Family.JOIN:
        return axes[node.inputs[2 * port - 1]]
    return next((axes[s] for s in node.inputs if _is_value(graph, s)), "")


def _is_value(graph: Graph, stream: int) -> bool:
    return graph.streams[stream].kind is StreamKind.VAL


def node_flops(node: Node, taken: Sequence[float], made: float) -> float:
    """Arithmetic operations of a node (:class:`~fuseloom.dataflow.samml.primitive.Primitive`)."""
    return primitive(node.op).flops(taken, made) * flops_per_value(node)


def node_bytes(node: Node, taken: Sequence[float], made: float, fibers: float) -> float:
    """Bytes a node moves (:class:`~fuseloom.dataflow.samml.primitive.Primitive`)."""
    if node.params.get("singleton"):
        return WORD * made  # a singleton level has no segments to look up
    return primitive(node.op).bytes(taken, made, fibers) * elements_per_value(node)
