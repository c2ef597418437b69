"""The work of a node from counts of its tokens: the catalogue's formulas, and how storage and
value tokens of several elements change them (``docs/spec/machine.md`` §11)."""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.dataflow.samml.tile_values import elements_per_value, flops_per_value


def node_flops(node: Node, taken: Sequence[float], made: float) -> float:
    """Arithmetic operations of a node (:class:`~fuseloom.dataflow.samml.catalogue.Primitive`)."""
    return primitive(node.op).flops(taken, made) * flops_per_value(node)


def node_bytes(node: Node, taken: Sequence[float], made: float, fibers: float) -> float:
    """Bytes a node moves (:class:`~fuseloom.dataflow.samml.catalogue.Primitive`)."""
    if node.params.get("singleton"):
        return WORD * made  # a singleton level has no segments to look up
    return primitive(node.op).bytes(taken, made, fibers) * elements_per_value(node)
