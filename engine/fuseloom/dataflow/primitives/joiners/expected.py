"""Expected outputs: intersections and unions."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows, References
from fuseloom.dataflow.cost.rules import rule
from fuseloom.dataflow.cost.statistics import Floats
from fuseloom.dataflow.samml.graph import Node


def _join(node: Node, inputs: tuple[Flow, ...], context: FlowContext, union: bool) -> NodeFlows:
    crds, payloads = inputs[::2], inputs[1::2]
    chances = {crd.source: crd.chance() for crd in crds}
    some = 1.0 - np.prod([1.0 - p for p in chances.values()], axis=0)
    wider = {crd.within for crd in crds}
    every = np.prod([p for s, p in chances.items() if s not in wider], axis=0)
    kept = some if union else every
    above = crds[0].shape.above if crds[0].shape is not None else None
    fibers = crds[0].shape.fibers if crds[0].shape is not None else 1.0
    shape = NestingLevel(float(kept.sum()) * fibers, above)
    flows = [Flow(shape, context.outputs[0], counts=kept * fibers)]
    for crd, payload, out in zip(crds, payloads, context.outputs[1:], strict=True):
        mine = chances[crd.source]
        present = payload.present
        factor = np.ones_like(mine)
        if union:
            present *= float(mine.sum()) / max(float(some.sum()), 1e-12)
        else:
            factor = np.divide(every, mine, out=np.zeros_like(mine), where=mine > 0)
        flows.append(Flow(shape, out, references=_filtered(payload, factor), present=present))
    steps = float(some.sum()) * fibers + fibers + 1.0
    return NodeFlows(tuple(flows), max(steps, flows[0].tokens))


def _filtered(payload: Flow, factor: Floats) -> References | None:
    """References of which each is kept with the probability of its coordinate."""
    old = payload.references
    if old is None:
        return None

    def weights() -> Floats:
        at = old.statistics.coordinates(old.level)
        return old.counts * factor[at] if len(at) == len(old.counts) else old.counts

    return References(old.statistics, old.level, weights)


@rule("intersect")
def _intersect(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _join(node, inputs, context, union=False)


@rule("union")
def _union(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _join(node, inputs, context, union=True)
