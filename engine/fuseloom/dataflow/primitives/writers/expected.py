"""Expected outputs: writers."""

from __future__ import annotations

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NodeFlows
from fuseloom.dataflow.cost.rules import rule
from fuseloom.dataflow.samml.graph import Node


@rule("crdwrite")
def _crdwrite(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return NodeFlows((), inputs[0].tokens)


@rule("valwrite")
def _valwrite(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return NodeFlows((), inputs[0].values + 1.0)
