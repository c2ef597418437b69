"""Expected outputs: what is left out."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.exact.nonzeros import tensor_without_zeros
from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows
from fuseloom.dataflow.cost.rules import rule
from fuseloom.dataflow.samml.graph import Node


@rule("fiber_align")
def _fiber_align(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    before, after, stream = inputs
    assert stream.shape is not None
    scale = after.values / max(before.values, 1e-12)
    shapes, shape = [], stream.shape
    for _ in range(int(node.params["levels"])):
        shapes.append(shape.values * min(scale, 1.0))
        assert shape.above is not None or len(shapes) == int(node.params["levels"])
        shape = shape.above or NestingLevel(1.0)
    aligned = after.shape
    for values in reversed(shapes):
        aligned = NestingLevel(values, aligned)
    counts = None if stream.counts is None else stream.counts * min(scale, 1.0)
    out = Flow(aligned, context.outputs[0], counts=counts, present=stream.present)
    return NodeFlows((out,), max(stream.tokens, out.tokens))


@rule("crddrop")
def _crddrop(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    inner, outer = inputs
    assert inner.shape is not None and outer.shape is not None and outer.counts is not None
    chance = inner.chance() if inner.counts is not None else np.array([0.0])
    kept = 1.0 - float(np.prod(1.0 - chance))
    shape = NestingLevel(outer.values * kept, outer.shape.above)
    dropped = Flow(shape, context.outputs[-1], counts=outer.counts * kept)
    same = Flow(NestingLevel(inner.values, shape), context.outputs[0], counts=inner.counts)
    return NodeFlows((same, dropped), max(inner.tokens, outer.tokens))


@rule("valdrop")
def _valdrop(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _left(inputs, 1.0, context)


@rule("zerodrop")
def _zerodrop(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _left(inputs, context.nonzero(tensor_without_zeros(node)), context)


def _left(inputs: tuple[Flow, ...], share: float, context: FlowContext) -> NodeFlows:
    """A share of the values that are there, with their coordinates."""
    val, crd = inputs
    assert crd.shape is not None and crd.counts is not None
    share *= val.present
    shape = NestingLevel(val.values * share, crd.shape.above)
    kept = Flow(shape, context.outputs[-1], counts=crd.counts * share)
    return NodeFlows((Flow(shape, context.outputs[0]), kept), val.tokens)
