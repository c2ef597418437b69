"""Expected outputs: folds inside tiles."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NodeFlows
from fuseloom.dataflow.cost.rules import plain, rule
from fuseloom.dataflow.samml.graph import Node


@rule("tilefold")
def _tilefold(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return plain(inputs, replace(inputs[0], source=context.outputs[0]))
