"""Which operands of a binary function a result cannot do without."""

from __future__ import annotations

from engine.dataflow.samml.graph import Node

UNION_LIKE = frozenset({"add", "sub"})
"""Binary functions to which an absent operand is a 0 rather than an absent result."""


def required_operands(node: Node) -> str:
    """The operands (``a``, ``b``) without which there is no result; parameter ``needs`` adds.

    A product needs both; a sum takes what there is, unless an operand is there everywhere only
    because it was repeated and so says nothing about where the sum has elements.
    """
    return str(node.params.get("needs", "")) if node.params["fn"] in UNION_LIKE else "ab"
