"""Which operands of a binary function a result cannot do without."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fuseloom.dataflow.samml.graph import Node

NEUTRAL: Mapping[str, float] = {"add": 0.0, "sub": 0.0, "max": -math.inf}
"""Binary functions of what there is, and what an absent operand is to them; to the others it makes
the result absent."""


def neutral(node: Node) -> float:
    """Return the value that a binary function takes for an absent operand."""
    return NEUTRAL.get(str(node.params["fn"]), 0.0)


def required_operands(node: Node) -> str:
    """The operands (``a``, ``b``) without which there is no result; parameter ``needs`` adds.

    A product needs both; a sum takes what there is, unless an operand is there everywhere only
    because it was repeated and so says nothing about where the sum has elements.
    """
    return str(node.params.get("needs", "")) if node.params["fn"] in NEUTRAL else "ab"
