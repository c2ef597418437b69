"""Expected outputs: lanes."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows, References
from fuseloom.dataflow.cost.rules import innermost_counts, rule
from fuseloom.dataflow.cost.statistics import Floats
from fuseloom.dataflow.samml.graph import Node


@rule("broadcast")
def _broadcast(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return NodeFlows(inputs * len(node.outputs), inputs[0].tokens)


@rule("fork")
def _fork(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """Each lane gets its share of the elements, and the end of every fiber."""
    (flow,) = inputs
    share = 1.0 / len(node.outputs)
    shape = flow.shape and NestingLevel(flow.values * share, flow.shape.above)
    counts = None if flow.counts is None else flow.counts * share
    old = flow.references
    references = old and References(old.statistics, old.level, lambda: old.counts * share)
    lanes = tuple(
        Flow(shape, s, counts=counts, references=references, present=flow.present)
        for s in context.outputs
    )
    return NodeFlows(lanes, flow.tokens)


@rule("ordered_join")
def _ordered_join(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """The lanes' elements together, below the levels of the guide."""
    guide, lanes = inputs[0], inputs[1:]
    shape = guide.shape
    below = [innermost_counts(lane.shape, int(node.params["levels"])) for lane in lanes]
    for values in zip(*below, strict=True):
        shape = NestingLevel(sum(values), shape)
    shares = [lane.counts for lane in lanes if lane.counts is not None]
    counts = np.sum(shares, axis=0) if len(shares) == len(lanes) else None
    total = sum(lane.values for lane in lanes)
    present = sum(lane.values * lane.present for lane in lanes) / max(total, 1e-12)
    out = Flow(
        shape, context.outputs[0], counts=counts, references=_together(lanes), present=present
    )
    return NodeFlows((out,), out.tokens)


def _together(lanes: tuple[Flow, ...]) -> References | None:
    """References of all lanes, which point into one level."""
    parts = [lane.references for lane in lanes if lane.references is not None]
    if len(parts) < len(lanes):
        return None

    def weights() -> Floats:
        total: Floats = np.sum([part.counts for part in parts], axis=0)
        return total

    return References(parts[0].statistics, parts[0].level, weights)
