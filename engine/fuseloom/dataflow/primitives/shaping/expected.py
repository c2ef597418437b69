"""Expected outputs: changed coordinates."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NodeFlows
from fuseloom.dataflow.cost.rules import plain, rule
from fuseloom.dataflow.samml.graph import Node


@rule("shift")
def _shift(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    crd, offset = inputs[0], int(node.params["offset"])
    assert crd.counts is not None
    counts = np.zeros(int(node.params["dim"]))
    counts[offset : offset + len(crd.counts)] = crd.counts
    return plain(inputs, Flow(crd.shape, context.outputs[0], counts=counts))
