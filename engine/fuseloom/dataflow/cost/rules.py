"""The estimation rules: the expected output of each primitive from that of its inputs.

Coordinates of different operands are taken as independent given the coordinate; everything else
is counted, not guessed, so that skewed data (a hub entered by every neighbour) are estimated well.
Rules: ``docs/spec/estimate.md`` §6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows, References
from fuseloom.dataflow.cost.statistics import Floats
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.tile_values import interval
from fuseloom.dataflow.table.cells import MAX_ACCUMULATOR_ORDER

Rule = Callable[[Node, tuple[Flow, ...], FlowContext], NodeFlows]
RULES: dict[str, Rule] = {}


def rule(name: str) -> Callable[[Rule], Rule]:
    """Register the rule of a primitive."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register


def _busiest(inputs: tuple[Flow, ...], outputs: tuple[Flow, ...]) -> float:
    """One token a cycle on the busiest port."""
    return max((f.tokens for f in (*inputs, *outputs)), default=1.0)


def _plain(inputs: tuple[Flow, ...], *outputs: Flow) -> NodeFlows:
    return NodeFlows(outputs, _busiest(inputs, outputs))


@rule("root")
def _root(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return NodeFlows((Flow(None, context.outputs[0]),), 2.0)


def _weights(flow: Flow, level: int) -> Callable[[], Floats]:
    """Weights of the parent positions that a level is entered from."""
    references = flow.references
    if level == 0 or references is None:
        return lambda: np.array([flow.values * flow.present])
    return lambda: references.counts


@rule("scan")
def _scan(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    level = int(node.params["level"])
    statistics = context.statistics(str(node.params["tensor"]))
    entered = statistics.enter(level, _weights(inputs[0], level)())
    shape = NestingLevel(float(entered.counts.sum()), inputs[0].shape or NestingLevel(1.0))
    if inputs[0].shape is None:
        shape = NestingLevel(shape.values)
    crd = Flow(shape, context.outputs[0], counts=entered.counts)
    references = References(statistics, level, lambda: entered.weights)
    return _plain(inputs, crd, Flow(shape, context.outputs[1], references=references))


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
        parents = _weights(inputs[0], level)
        references = References(
            statistics, level, lambda: statistics.enter(level, parents()).weights
        )
    return _plain(inputs, crd, Flow(shape, context.outputs[1], references=references))


@rule("repsig")
def _repsig(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _plain(inputs, replace(inputs[0], source=context.outputs[0]))


@rule("repeat")
def _repeat(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    source, signal = inputs
    references = source.references
    if references is not None:
        times = signal.values / max(source.values, 1e-12)
        old = references
        references = References(old.statistics, old.level, lambda: old.counts * times)
    out = Flow(signal.shape, context.outputs[0], references=references, present=source.present)
    return _plain(inputs, out)


@rule("locate")
def _locate(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    crd, parent = inputs
    assert crd.counts is not None
    level = int(node.params["level"])
    statistics = context.statistics(str(node.params["tensor"]))
    counts, parents = crd.counts, _weights(parent, level)

    def weights() -> Floats:
        above = parents()
        return np.outer(above / max(above.sum(), 1e-12), counts).ravel()

    references = References(statistics, level, weights)
    out = Flow(crd.shape, context.outputs[0], references=references, present=parent.present)
    return _plain(inputs, out)


@rule("search")
def _search(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """Coordinates are found as often as a scan of the level meets them."""
    parent, wanted = inputs
    assert wanted.counts is not None and wanted.shape is not None
    level = int(node.params["level"])
    statistics = context.statistics(str(node.params["tensor"]))
    entered = statistics.enter(level, _weights(parent, level)())
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


@rule("array")
def _array(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    (ref,) = inputs
    return _plain(inputs, Flow(ref.shape, context.outputs[0], present=ref.present))


@rule("binary")
def _binary(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    a, b = inputs
    present = a.present * b.present
    if needed := node.params.get("needs"):
        present = a.present if needed == "a" else b.present
    elif node.params["fn"] in ("add", "sub"):
        present = 1.0 - (1.0 - a.present) * (1.0 - b.present)
    outcome = _plain(inputs, Flow(a.shape, context.outputs[0], present=present))
    return replace(outcome, busy=outcome.busy * interval(node))


@rule("tilefold")
def _tilefold(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _plain(inputs, replace(inputs[0], source=context.outputs[0]))


@rule("unary")
def _unary(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return _plain(inputs, replace(inputs[0], source=context.outputs[0]))


@rule("reduce")
def _reduce(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    val = inputs[0]
    above = val.shape.above if val.shape is not None else None
    per_fiber = val.values * val.present / max(val.shape.fibers if val.shape else 1.0, 1e-12)
    present = 1.0 if above is None else float(-np.expm1(-per_fiber)) if per_fiber < 1 else 1.0
    return _plain(inputs, Flow(above, context.outputs[0], present=present))


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


for _order in range(2, MAX_ACCUMULATOR_ORDER + 1):
    rule(f"spacc{_order}")(_spacc)


@rule("shift")
def _shift(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    crd, offset = inputs[0], int(node.params["offset"])
    assert crd.counts is not None
    counts = np.zeros(int(node.params["dim"]))
    counts[offset : offset + len(crd.counts)] = crd.counts
    return _plain(inputs, Flow(crd.shape, context.outputs[0], counts=counts))


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


@rule("replay")
def _replay(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """The levels of the subtree, as often as the driver has coordinates, below the driver's."""
    stream, driver = inputs
    times = driver.values / max(driver.shape.fibers if driver.shape else 1.0, 1e-12)
    shape = driver.shape
    for values in _innermost(stream.shape, int(node.params["levels"])):
        shape = NestingLevel(values * times, shape)
    old = stream.references
    references = old and References(old.statistics, old.level, lambda: old.counts * times)
    counts = None if stream.counts is None else stream.counts * times
    out = Flow(
        shape, context.outputs[0], counts=counts, references=references, present=stream.present
    )
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
    val, crd = inputs
    assert crd.shape is not None and crd.counts is not None
    shape = NestingLevel(val.values * val.present, crd.shape.above)
    kept = Flow(shape, context.outputs[-1], counts=crd.counts * val.present)
    return NodeFlows((Flow(shape, context.outputs[0]), kept), val.tokens)


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
    below = [_innermost(lane.shape, int(node.params["levels"])) for lane in lanes]
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


def _innermost(shape: NestingLevel | None, levels: int) -> list[float]:
    """Elements of the innermost levels, the outermost of them first."""
    values: list[float] = []
    for _ in range(levels):
        assert shape is not None
        values.append(shape.values)
        shape = shape.above
    return values[::-1]


def _together(lanes: tuple[Flow, ...]) -> References | None:
    """References of all lanes, which point into one level."""
    parts = [lane.references for lane in lanes if lane.references is not None]
    if len(parts) < len(lanes):
        return None

    def weights() -> Floats:
        total: Floats = np.sum([part.counts for part in parts], axis=0)
        return total

    return References(parts[0].statistics, parts[0].level, weights)


@rule("crdwrite")
def _crdwrite(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return NodeFlows((), inputs[0].tokens)


@rule("valwrite")
def _valwrite(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return NodeFlows((), inputs[0].values + 1.0)
