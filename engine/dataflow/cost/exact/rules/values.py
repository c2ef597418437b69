"""Execution on coordinates: loads and arithmetic, which leave coordinates alone."""

from __future__ import annotations

from engine.dataflow.cost.exact.execution import Context, Executed, Inputs, rule
from engine.dataflow.cost.exact.nests import Carried
from engine.dataflow.samml.graph import Node


@rule("array", steps="each reference and stop")
def _array(node: Node, inputs: Inputs, context: Context) -> Executed:
    (refs,) = inputs
    return Executed((Carried(refs.nest, None, refs.here),), refs.tokens)


@rule("binary", steps="each pair of values and stop")
def _binary(node: Node, inputs: Inputs, context: Context) -> Executed:
    a, b = inputs
    needed = str(node.params.get("needs", ""))
    one, other = a.here, b.here
    if needed:
        present = one if needed == "a" else other
    elif node.params["fn"] in ("add", "sub"):
        present = None if one is None or other is None else one | other
    elif one is None or other is None:
        present = other if one is None else one
    else:
        present = one & other
    return Executed((Carried(a.nest, None, present),), a.tokens)


@rule("unary", "tilefold", steps="each value and stop")
def _unary(node: Node, inputs: Inputs, context: Context) -> Executed:
    return Executed((Carried(inputs[0].nest, None, inputs[0].here),), inputs[0].tokens)
