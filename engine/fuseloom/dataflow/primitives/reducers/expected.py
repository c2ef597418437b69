"""Expected outputs: folds to a value."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NodeFlows
from fuseloom.dataflow.cost.rules import plain, rule
from fuseloom.dataflow.samml.graph import Node


@rule("reduce")
def _reduce(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    val = inputs[0]
    above = val.shape.above if val.shape is not None else None
    per_fiber = val.values * val.present / max(val.shape.fibers if val.shape else 1.0, 1e-12)
    present = 1.0 if above is None else float(-np.expm1(-per_fiber)) if per_fiber < 1 else 1.0
    return plain(inputs, Flow(above, context.outputs[0], present=present))
