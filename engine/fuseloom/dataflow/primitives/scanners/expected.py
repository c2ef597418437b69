"""Expected outputs: levels traversed and looked up."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows, References
from fuseloom.dataflow.cost.rules import parent_weights, plain, rule
from fuseloom.dataflow.cost.statistics import Floats
from fuseloom.dataflow.samml.graph import Node


@rule("scan")
def _scan(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    level = int(node.params["level"])
    statistics = context.statistics(str(node.params["tensor"]))
    entered = statistics.enter(level, parent_weights(inputs[0], level)())
    shape = NestingLevel(float(entered.counts.sum()), inputs[0].shape or NestingLevel(1.0))
    if inputs[0].shape is None:
        shape = NestingLevel(shape.values)
    crd = Flow(shape, context.outputs[0], counts=entered.counts)
    references = References(statistics, level, lambda: entered.weights)
    return plain(inputs, crd, Flow(shape, context.outputs[1], references=references))


@rule("dense_scan")
def _dense_scan(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    dim = int(node.params["dim"])
    entries = inputs[0].values * inputs[0].present
    shape = NestingLevel(entries * dim, inputs[0].shape)
    crd = Flow(shape, context.outputs[0], counts=np.full(dim, entries))
    references = None
    if "tensor" in node.params:
        level = int(node.params["level"])
        statistics = context.statistics(str(node.params["tensor"]))
        parents = parent_weights(inputs[0], level)
        references = References(
            statistics, level, lambda: statistics.enter(level, parents()).weights
        )
    return plain(inputs, crd, Flow(shape, context.outputs[1], references=references))


@rule("locate")
def _locate(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    crd, parent = inputs
    assert crd.counts is not None
    level = int(node.params["level"])
    statistics = context.statistics(str(node.params["tensor"]))
    counts, parents = crd.counts, parent_weights(parent, level)

    def weights() -> Floats:
        above = parents()
        return np.outer(above / max(above.sum(), 1e-12), counts).ravel()

    references = References(statistics, level, weights)
    out = Flow(crd.shape, context.outputs[0], references=references, present=parent.present)
    return plain(inputs, out)


@rule("search")
def _search(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """Coordinates are found as often as a scan of the level meets them."""
    parent, wanted = inputs
    assert wanted.counts is not None and wanted.shape is not None
    level = int(node.params["level"])
    statistics = context.statistics(str(node.params["tensor"]))
    entered = statistics.enter(level, parent_weights(parent, level)())
    fibers = max(wanted.shape.fibers, 1e-12)
    chance = np.minimum(entered.counts / fibers, 1.0)
    counts = wanted.counts * chance[: len(wanted.counts)]
    shape = NestingLevel(float(counts.sum()), wanted.shape.above)
    share = np.divide(wanted.counts, fibers)

    def weights() -> Floats:
        at = statistics.coordinates(level)
        looked: Floats = entered.weights * np.minimum(share, 1.0)[at]
        return looked

    references = References(statistics, level, weights)
    crd = Flow(shape, context.outputs[0], counts=counts, within=wanted.source)
    out = Flow(shape, context.outputs[1], references=references)
    return NodeFlows((crd, out), wanted.tokens)
