"""Execution on coordinates: what leaves coordinates alone, sources and writers."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import ROOT, StreamContents
from fuseloom.dataflow.cost.exact.steps import once
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.presence import required_operands


@rule("array", steps="each reference and stop")
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


@rule("unary", "tilefold", steps="each value and stop")
def _unary(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((StreamContents(inputs[0].fiber_tree, None, inputs[0].here),), inputs[0].tokens)


@rule("root", steps="the reference, and the end")
def _root(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((StreamContents(ROOT, np.zeros(1, dtype=np.int64)),), once(), final=1.0)


@rule("crdwrite", steps="each coordinate, and each fiber that has some")
def _crdwrite(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    fiber_tree = inputs[0].fiber_tree
    context.budget.take(float(fiber_tree.n))  # what reads the level wants its coordinates
    return Executed((), fiber_tree.elements + fiber_tree.filled.on(fiber_tree.top))


@rule("valwrite", steps="each value that is there, and the end", free_stops=True)
def _valwrite(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((), inputs[0].values, final=1.0)
