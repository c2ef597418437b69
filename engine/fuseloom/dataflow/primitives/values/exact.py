"""Execution on coordinates: value loads and arithmetic, which leave coordinates alone."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import Profile, StreamContents
from fuseloom.dataflow.cost.exact.steps import bundles
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.presence import required_operands


def _standing(node: Node, inputs: Inputs, made: Executed, cycles: float) -> Profile:
    """The values of each fiber in bundles, besides a cycle for each reference and stop."""
    return made.work + bundles(inputs[0]) * cycles


@rule("array", steps="each reference and stop", stalls=_standing)
def _array(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    (refs,) = inputs
    return Executed((StreamContents(refs.fiber_tree, None, refs.here),), refs.tokens)


@rule("binary", steps="each pair of values and stop")
def _binary(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    a, b = inputs
    needed = required_operands(node)
    if not needed:  # an absent operand is a zero, unless the other is absent too
        present = None if a.here is None or b.here is None else a.here | b.here
    else:
        present = None
        for operand, given in (("a", a), ("b", b)):
            if operand in needed and given.here is not None:
                present = given.here if present is None else present & given.here
    return Executed((StreamContents(a.fiber_tree, None, present),), a.tokens)


@rule("unary", steps="each value and stop")
def unary(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((StreamContents(inputs[0].fiber_tree, None, inputs[0].here),), inputs[0].tokens)
