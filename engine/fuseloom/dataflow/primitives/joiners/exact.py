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

    fiber_trees: list[FiberLevel]
    width: int
    made: dict[int, Ints]

    @classmethod
    def of(cls, inputs: Inputs) -> _Operands:
        fiber_trees = [c.fiber_tree for c in inputs[::2]]
        most = (n.full - 1 if n.full else int(n.crd.max(initial=0)) for n in fiber_trees)
        return cls(fiber_trees, 1 + max(most), {})

    def keys(self, k: int) -> Ints:
        if k not in self.made:
            self.made[k] = keyed(self.fiber_trees[k], self.width)
        return self.made[k]

    def places(self, keys: Ints, k: int) -> Ints:
        """Return the positions of keys in an operand; -1 for keys that it lacks."""
        fiber_tree = self.fiber_trees[k]
        return places_of(keys, fiber_tree, None if fiber_tree.full else self.keys(k), self.width)

    def united(self) -> FiberLevel | None:
        """An operand that has all coordinates of the others, if one is seen to; else None."""
        first = self.fiber_trees[0]
        if all(fiber_tree is first for fiber_tree in self.fiber_trees):
            return first
        return next((n for n in self.fiber_trees if n.full == self.width), None)

    def union(self) -> Ints:
        every = self.keys(0)
        for k in range(1, len(self.fiber_trees)):
            if self.fiber_trees[k] is not self.fiber_trees[0]:
                every = np.union1d(every, self.keys(k))
        return every

    def before(self, met: FiberLevel) -> Callable[[Ints], Ints]:
        """Return a lower bound on the coordinates of a fiber walked before the first common one.

        Where there are two operands, and none has all coordinates, exactly so many.
        """

        def walked(fiber: Ints) -> Ints:
            some = ~met.bare[fiber]
            crd = np.full(len(fiber), self.width)
            crd[some] = met.crd[met.seg[fiber[some]]]
            counts = [self.below(k, fiber, crd) for k in range(len(self.fiber_trees))]
            if len(counts) == 2 and self.fiber_trees[0] is not self.fiber_trees[1]:
                return counts[0] + counts[1]
            return np.asarray(np.maximum.reduce(counts))

        return walked

    def below(self, k: int, fiber: Ints, crd: Ints) -> Ints:
        """Count the coordinates of an operand in these fibers that are below the given ones."""
        fiber_tree = self.fiber_trees[k]
        if fiber_tree.full:
            return np.minimum(crd, fiber_tree.full)
        found = np.searchsorted(self.keys(k), fiber * self.width + crd)
        return np.asarray(found - fiber_tree.seg[fiber])

    def level(self, parent: FiberLevel, keys: Ints) -> FiberLevel:
        by = next(
            (fiber_tree.by for fiber_tree in self.fiber_trees if fiber_tree.by is not None), None
        )
        return below(parent, keys // self.width, keys % self.width, by)


def _payload(
    given: StreamContents, at: Ints, fiber_tree: FiberLevel, context: ExecutionContext
) -> StreamContents:
    there = at >= 0
    if there.all():
        return taken_at(given, at, fiber_tree)
    refs = references(given, context)
    if refs is None:
        here = np.ones(given.fiber_tree.n, dtype=bool) if given.present is None else given.present
        return StreamContents(fiber_tree, None, np.where(there, np.append(here, False)[at], False))
    return StreamContents(fiber_tree, np.append(refs, -1)[at])


@rule("intersect", steps="each coordinate that any operand has, and each stop", heads=True)
def _intersect(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    crds = _Operands.of(inputs)
    fiber_trees = crds.fiber_trees
    parent = fiber_trees[0].parent
    assert parent is not None
    if all(fiber_tree.full == crds.width for fiber_tree in fiber_trees):
        payloads = (replace(payload, fiber_tree=fiber_trees[0]) for payload in inputs[1::2])
        return Executed((StreamContents(fiber_trees[0]), *payloads), fiber_trees[0].tokens)
    first = min(range(len(fiber_trees)), key=lambda k: fiber_trees[k].n)
    context.budget.take(float(fiber_trees[first].n))
    found = crds.keys(first)
    for k, fiber_tree in enumerate(fiber_trees):
        if k != first and fiber_tree is not fiber_trees[first]:
            found = found[crds.places(found, k) >= 0]
    fiber_tree = (
        fiber_trees[first] if len(found) == fiber_trees[first].n else crds.level(parent, found)
    )
    outputs = [StreamContents(fiber_tree)]
    for k, payload in enumerate(inputs[1::2]):
        at = np.arange(fiber_tree.n) if fiber_trees[k] is fiber_tree else crds.places(found, k)
        outputs.append(_payload(payload, at, fiber_tree, context))
    walked = crds.united()
    if walked is None and parent.parent is not None and len(fiber_trees) == 2:
        top = fiber_trees[0].top
        both = (
            fiber_trees[0].elements + fiber_trees[1].elements.on(top) - fiber_tree.elements.on(top)
        )
        work = both + fiber_trees[0].stops
        return Executed(tuple(outputs), work, lead=lead(parent, crds.before(fiber_tree)))
    if walked is None:
        context.budget.take(float(sum(n.n for n in fiber_trees)))
        walked = crds.level(parent, crds.union())
    return Executed(tuple(outputs), walked.tokens, lead=lead(parent, crds.before(fiber_tree)))


@rule("union", steps="each coordinate that any operand has, and each stop", heads=True)
def _union(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
    crds = _Operands.of(inputs)
    fiber_trees = crds.fiber_trees
    parent = fiber_trees[0].parent
    assert parent is not None
    context.budget.take(float(sum(fiber_tree.n for fiber_tree in fiber_trees)))
    walked = crds.united()
    keys = crds.union() if walked is None else crds.keys(fiber_trees.index(walked))
    if walked is None:
        walked = next((n for n in fiber_trees if n.n == len(keys)), None) or crds.level(
            parent, keys
        )
    fiber_tree, gate = walked, int(node.params.get("gate", 0))
    if gate:
        live = np.zeros(parent.n, dtype=bool)
        for guard in fiber_trees[:gate]:
            live |= ~guard.bare
        if not live.all():
            keys = keys[live[keys // crds.width]]
            fiber_tree = crds.level(parent, keys)
    outputs = [StreamContents(fiber_tree)]
    for k, payload in enumerate(inputs[1::2]):
        at = np.arange(fiber_tree.n) if fiber_trees[k] is fiber_tree else crds.places(keys, k)
        outputs.append(_payload(payload, at, fiber_tree, context))
    return Executed(tuple(outputs), walked.tokens)
