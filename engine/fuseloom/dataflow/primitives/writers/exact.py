"""Execution on coordinates: writers."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import Profile
from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.samml.graph import Node


def _standing(node: Node, inputs: Inputs, made: Executed, cycles: float) -> Profile:
    """Coordinates, and ends of fibers, a bundle whenever there are enough."""
    return made.work + made.work * (cycles / BUNDLE)


def _waiting(node: Node, inputs: Inputs, made: Executed, cycles: float) -> Profile:
    """One value after the other."""
    return made.work + inputs[0].values * cycles


@rule("crdwrite", stalls=_standing, steps="each coordinate, and each fiber that has some")
def _crdwrite(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    fiber_tree = inputs[0].fiber_tree
    context.budget.take(float(fiber_tree.n))  # what reads the level wants its coordinates
    return Executed((), fiber_tree.elements + fiber_tree.filled.on(fiber_tree.top))


@rule("valwrite", stalls=_waiting, steps="each value that is there, and the end", free_stops=True)
def _valwrite(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    return Executed((), inputs[0].values, final=1.0)
