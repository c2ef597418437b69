"""Execution on coordinates: levels and values that are written."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.samml.graph import Node


@rule("crdwrite", steps="each coordinate, and each fiber that has some")
def _crdwrite(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    nest = inputs[0].nest
    context.budget.take(float(nest.n))  # what reads the level wants its coordinates
    return Executed((), nest.elements + nest.filled.on(nest.top))


@rule("valwrite", steps="each value that is there, and the end", free_stops=True)
def _valwrite(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((), inputs[0].values, final=1.0)
