"""Execution on coordinates: intersecters and unioners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Executed, ExecutionContext, Inputs, rule
from fuseloom.dataflow.cost.exact.fiber_levels import FiberLevel, Ints, StreamContents, below
from fuseloom.dataflow.cost.exact.steps import keyed, lead, places_of, references, taken_at
from fuseloom.dataflow.samml.graph import Node


@dataclass(frozen=True, eq=False)
class _Operands:
    """Coordinates that are joined, as keys: of the fiber, and of the place in it.

    Keys of full levels are made where they are needed only.
    """

    nests: list[FiberLevel]
    width: int
    made: dict[int, Ints]

    @classmethod
    def of(cls, inputs: Inputs) -> _Operands:
        nests = [c.nest for c in inputs[::2]]
        most = (n.full - 1 if n.full else int(n.crd.max(initial=0)) for n in nests)
        return cls(nests, 1 + max(most), {})

    def keys(self, k: int) -> Ints:
        if k not in self.made:
            self.made[k] = keyed(self.nests[k], self.width)
        return self.made[k]

    def places(self, keys: Ints, k: int) -> Ints:
        """Where keys stand in an operand; -1 where they do not."""
        nest = self.nests[k]
        return places_of(keys, nest, None if nest.full else self.keys(k), self.width)

    def united(self) -> FiberLevel | None:
        """An operand that has all coordinates of the others, if one is seen to; else None."""
        first = self.nests[0]
        if all(nest is first for nest in self.nests):
            return first
        return next((n for n in self.nests if n.full == self.width), None)

    def union(self) -> Ints:
        every = self.keys(0)
        for k in range(1, len(self.nests)):
            if self.nests[k] is not self.nests[0]:
                every = np.union1d(every, self.keys(k))
        return every

    def before(self, met: FiberLevel) -> Callable[[Ints], Ints]:
        """How many coordinates of a fiber are walked before the first that all have, at least.

        Where there are two operands, and none has all coordinates, exactly so many.
        """

        def walked(fiber: Ints) -> Ints:
            some = ~met.bare[fiber]
            crd = np.full(len(fiber), self.width)
            crd[some] = met.crd[met.seg[fiber[some]]]
            counts = [self.below(k, fiber, crd) for k in range(len(self.nests))]
            if len(counts) == 2 and self.nests[0] is not self.nests[1]:
                return counts[0] + counts[1]
            return np.asarray(np.maximum.reduce(counts))

        return walked

    def below(self, k: int, fiber: Ints, crd: Ints) -> Ints:
        """How many coordinates of an operand in these fibers are below these."""
        nest = self.nests[k]
        if nest.full:
            return np.minimum(crd, nest.full)
        found = np.searchsorted(self.keys(k), fiber * self.width + crd)
        return np.asarray(found - nest.seg[fiber])

    def level(self, parent: FiberLevel, keys: Ints) -> FiberLevel:
        by = next((nest.by for nest in self.nests if nest.by is not None), None)
        return below(parent, keys // self.width, keys % self.width, by)


def _payload(
    given: StreamContents, at: Ints, nest: FiberLevel, context: ExecutionContext
) -> StreamContents:
    there = at >= 0
    if there.all():
        return taken_at(given, at, nest)
    refs = references(given, context)
    if refs is None:
        here = np.ones(given.nest.n, dtype=bool) if given.present is None else given.present
        return StreamContents(nest, None, np.where(there, np.append(here, False)[at], False))
    return StreamContents(nest, np.append(refs, -1)[at])


@rule("intersect", steps="each coordinate that any operand has, and each stop", heads=True)
def _intersect(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    crds = _Operands.of(inputs)
    nests = crds.nests
    parent = nests[0].parent
    assert parent is not None
    if all(nest.full == crds.width for nest in nests):
        payloads = (replace(payload, nest=nests[0]) for payload in inputs[1::2])
        return Executed((StreamContents(nests[0]), *payloads), nests[0].tokens)
    first = min(range(len(nests)), key=lambda k: nests[k].n)
    context.budget.take(float(nests[first].n))
    found = crds.keys(first)
    for k, nest in enumerate(nests):
        if k != first and nest is not nests[first]:
            found = found[crds.places(found, k) >= 0]
    nest = nests[first] if len(found) == nests[first].n else crds.level(parent, found)
    outputs = [StreamContents(nest)]
    for k, payload in enumerate(inputs[1::2]):
        at = np.arange(nest.n) if nests[k] is nest else crds.places(found, k)
        outputs.append(_payload(payload, at, nest, context))
    walked = crds.united()
    if walked is None and parent.parent is not None and len(nests) == 2:
        top = nests[0].top
        both = nests[0].elements + nests[1].elements.on(top) - nest.elements.on(top)
        work = both + nests[0].stops
        return Executed(tuple(outputs), work, lead=lead(parent, crds.before(nest)))
    if walked is None:
        context.budget.take(float(sum(n.n for n in nests)))
        walked = crds.level(parent, crds.union())
    return Executed(tuple(outputs), walked.tokens, lead=lead(parent, crds.before(nest)))


@rule("union", steps="each coordinate that any operand has, and each stop", heads=True)
def _union(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    crds = _Operands.of(inputs)
    nests = crds.nests
    parent = nests[0].parent
    assert parent is not None
    context.budget.take(float(sum(nest.n for nest in nests)))
    walked = crds.united()
    keys = crds.union() if walked is None else crds.keys(nests.index(walked))
    if walked is None:
        walked = next((n for n in nests if n.n == len(keys)), None) or crds.level(parent, keys)
    nest, gate = walked, int(node.params.get("gate", 0))
    if gate:
        live = np.zeros(parent.n, dtype=bool)
        for guard in nests[:gate]:
            live |= ~guard.bare
        if not live.all():
            keys = keys[live[keys // crds.width]]
            nest = crds.level(parent, keys)
    outputs = [StreamContents(nest)]
    for k, payload in enumerate(inputs[1::2]):
        at = np.arange(nest.n) if nests[k] is nest else crds.places(keys, k)
        outputs.append(_payload(payload, at, nest, context))
    return Executed(tuple(outputs), walked.tokens)
