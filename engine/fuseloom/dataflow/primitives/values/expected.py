"""Expected outputs: loads and arithmetic."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NodeFlows
from fuseloom.dataflow.cost.rules import plain, rule
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.tile_values import interval


@rule("array")
def _array(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    (ref,) = inputs
    return plain(inputs, Flow(ref.shape, context.outputs[0], present=ref.present))


@rule("binary")
def _binary(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    a, b = inputs
    present = a.present * b.present
    if needed := node.params.get("needs"):
        present = a.present if needed == "a" else b.present
    elif node.params["fn"] in ("add", "sub"):
        present = 1.0 - (1.0 - a.present) * (1.0 - b.present)
    outcome = plain(inputs, Flow(a.shape, context.outputs[0], present=present))
    return replace(outcome, busy=outcome.busy * interval(node))


@rule("unary")
def _unary(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return plain(inputs, replace(inputs[0], source=context.outputs[0]))
