"""Execution on coordinates: intersecters and unioners."""

from __future__ import annotations

import numpy as np

from engine.dataflow.cost.exact.execution import Context, Executed, Inputs, rule
from engine.dataflow.cost.exact.nests import Carried, Ints, Nest, below
from engine.dataflow.cost.exact.steps import keyed, places_of, taken_at
from engine.dataflow.samml.graph import Node


def _joined(inputs: Inputs) -> tuple[list[Nest], int, list[Ints]]:
    nests = [c.nest for c in inputs[::2]]
    width = 1 + max((int(n.full - 1 if n.full else n.crd.max(initial=0)) for n in nests), default=0)
    return nests, width, [keyed(n, width) for n in nests]


def _united(nests: list[Nest], keys: list[Ints]) -> Ints:
    every = keys[0]
    for k in range(1, len(nests)):
        if nests[k] is not nests[0]:
            every = np.union1d(every, keys[k])
    return every


def _payload(given: Carried, at: Ints, nest: Nest) -> Carried:
    there = at >= 0
    if there.all():
        return taken_at(given, at, nest)
    refs = given.refs
    if refs is None:
        here = np.ones(given.nest.n, dtype=bool) if given.present is None else given.present
        return Carried(nest, None, np.where(there, np.append(here, False)[at], False))
    return Carried(nest, np.append(refs, -1)[at])


@rule("intersect", heads=True)
def _intersect(node: Node, inputs: Inputs, context: Context) -> Executed:
    nests, width, keys = _joined(inputs)
    parent = nests[0].parent
    assert parent is not None
    first = min(range(len(nests)), key=lambda k: nests[k].n)
    found = keys[first]
    context.budget.take(float(len(found)))
    for k, nest in enumerate(nests):
        if k != first and nest is not nests[first]:
            found = found[places_of(found, nest, keys[k], width) >= 0]
    nest = nests[first]
    if len(found) < nest.n:
        nest = below(parent, found // width, found % width)
    outputs = [Carried(nest)]
    for k, payload in enumerate(inputs[1::2]):
        same = nests[k] is nest
        at = np.arange(nest.n) if same else places_of(found, nests[k], keys[k], width)
        outputs.append(_payload(payload, at, nest))
    if parent.parent is not None and len(nests) == 2:
        top = nests[0].top
        both = nests[0].elements + nests[1].elements.on(top) - nest.elements.on(top)
        return Executed(tuple(outputs), both + nests[0].stops)
    walked = _united(nests, keys)
    steps = below(parent, walked // width, walked % width)
    return Executed(tuple(outputs), steps.tokens)


@rule("union", heads=True)
def _union(node: Node, inputs: Inputs, context: Context) -> Executed:
    nests, width, keys = _joined(inputs)
    parent = nests[0].parent
    assert parent is not None
    context.budget.take(float(sum(len(k) for k in keys)))
    walked = found = _united(nests, keys)
    gate = int(node.params.get("gate", 0))
    if gate:
        live = np.zeros(parent.n, dtype=bool)
        for nest in nests[:gate]:
            live |= ~nest.bare
        if not live.all():
            found = walked[live[walked // width]]
    whole = next((n for n in nests if n.n == len(found)), None)
    nest = whole or below(parent, found // width, found % width)
    steps = nest if len(walked) == len(found) else below(parent, walked // width, walked % width)
    outputs = [Carried(nest)]
    for k, payload in enumerate(inputs[1::2]):
        same = nests[k] is nest
        at = np.arange(nest.n) if same else places_of(found, nests[k], keys[k], width)
        outputs.append(_payload(payload, at, nest))
    return Executed(tuple(outputs), steps.tokens)
