"""Which inputs a primitive may look at before it takes from them.

A token may come as the head of its stream while its reader, busy elsewhere, does not look at it.
Who reads the cause of a wait from a log must know who looks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engine.dataflow.samml.graph import Node
from engine.dataflow.sim.machine import Machine

NEVER_PEEK = (
    "array", "binary", "broadcast", "crdwrite", "fork", "join", "locate", "reduce", "replay",
    "repsig", "sam_locate", "shift", "sink", "stopdrop", "tilefold", "unary", "valdrop",
    "valwrite", "zerodrop", "mem_read", "mem_write", "spacc3", "spacc4", "spacc5", "spacc6",
)  # fmt: skip
"""Primitives that take whatever they wait for, and take what a step needs before they put."""

_PEEKED: Mapping[str, Collection[int]] = {
    **dict.fromkeys(NEVER_PEEK, ()),
    "crddrop": (1,),
    "crdhold": (1,),
    "crdmask": (1,),
    "fiber_align": (0, 1),
    "flatten": (1,),
    "ordered_join": (0,),
    "repeat": (0,),
}


def is_peeked(node: Node, port: int, machine: Machine) -> bool:
    """Whether a node may look at the head of an input without taking it."""
    if node.op == "spacc2":  # the reference's looks at all, ours takes one after the other
        return machine.quirks.spacc_strict
    if node.op == "ordered_join" and not node.params["levels"]:
        return False
    return port in _PEEKED.get(node.op, range(len(node.inputs)))


def peeked_streams(nodes: Collection[Node], machine: Machine) -> frozenset[int]:
    """Streams whose reader may look at a token without taking it."""
    return frozenset(
        stream
        for node in nodes
        for port, stream in enumerate(node.inputs)
        if is_peeked(node, port, machine)
    )
