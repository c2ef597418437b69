"""Which streams a reader may look at before it takes from them."""

from __future__ import annotations

from collections.abc import Collection

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node


def is_peeked(node: Node, port: int, machine: Machine) -> bool:
    """Return whether a node may read the head of an input without taking it."""
    return port in primitive(node.op).streaming.peeks.ports(node, machine.quirks)


def peeked_streams(nodes: Collection[Node], machine: Machine) -> frozenset[int]:
    """Streams whose reader may look at a token without taking it."""
    return frozenset(
        stream
        for node in nodes
        for port, stream in enumerate(node.inputs)
        if is_peeked(node, port, machine)
    )
