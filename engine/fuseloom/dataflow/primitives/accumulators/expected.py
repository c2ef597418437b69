"""Expected outputs: folds by coordinate."""

from __future__ import annotations

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows
from fuseloom.dataflow.cost.rules import rule
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.table.cells import MAX_ACCUMULATOR_ORDER


@rule("spacc1")
def _spacc1(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    outer, inner, val = inputs
    assert outer.shape is not None
    fibers = outer.shape.fibers
    terms = outer.values / max(fibers, 1e-12)
    hit = 1.0 - (1.0 - inner.chance() * val.present) ** terms
    shape = NestingLevel(float(hit.sum()) * fibers, outer.shape.above)
    crd = Flow(shape, context.outputs[0], counts=hit * fibers)
    out = Flow(shape, context.outputs[-1])
    return NodeFlows((crd, out), val.tokens + fibers)


@rule(*(f"spacc{order}" for order in range(2, MAX_ACCUMULATOR_ORDER + 1)))
def _spacc(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """An accumulator of higher order, level by level.

    ``terms`` is how many fibers of the streams that come in are folded into one that goes out.
    """
    outer, *crds, val = inputs
    assert outer.shape is not None
    fibers = outer.shape.fibers
    terms = outer.values / max(fibers, 1e-12)
    above, parents = outer.shape.above, fibers
    flows = []
    for k, crd in enumerate(crds):
        chance = crd.chance() * (val.present if k == len(crds) - 1 else 1.0)
        hit = 1.0 - (1.0 - chance) ** terms
        terms *= float(chance.sum()) / max(float(hit.sum()), 1e-12)
        above = NestingLevel(float(hit.sum()) * parents, above)
        flows.append(Flow(above, context.outputs[k], counts=hit * parents))
        parents = above.values
    out = Flow(above, context.outputs[-1])
    return NodeFlows((*flows, out), val.tokens + fibers)
