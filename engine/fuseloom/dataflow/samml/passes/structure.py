"""Which streams nest alike: every level of every stream named by what decides its fibers.

Two streams with equal levels have the same fibers, token by token; streams with the same index
names need not (an operand's coordinates before and after an intersection).  The rules follow
from the catalogue's ports, depths and ``Nesting`` alone.  They are cautious: levels said to be
equal are equal, levels said to differ may be equal all the same.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node, StreamKind
from fuseloom.dataflow.samml.passes.fanout_free import FanoutFreeGraph
from fuseloom.dataflow.samml.primitive import Nesting

Levels = tuple[int, ...]


@dataclass
class Structure:
    """Levels of the streams of a fan-out-free graph.

    Attributes
    ----------
    of : dict
        Stream id to its levels, outermost first.
    crd : dict
        Levels to the first stream that carries their coordinates.
    shares : dict
        A level that is one lane's share of another to that other level and the lanes.
    made : dict
        Node id to its granularity: how many outer levels of its inputs its outputs keep.
    """

    of: dict[int, Levels] = field(default_factory=dict)
    crd: dict[Levels, int] = field(default_factory=dict)
    shares: dict[int, tuple[int, int]] = field(default_factory=dict)
    made: dict[int, int] = field(default_factory=dict)
    _known: dict[Hashable, int] = field(default_factory=dict)

    def level(self, key: Hashable) -> int:
        """The level of that description; equal descriptions are one level."""
        return self._known.setdefault(key, len(self._known))

    def base(self, level: int) -> int:
        """The level that a share is a share of, or the level itself."""
        while level in self.shares:
            level = self.shares[level][0]
        return level


def structure(fanout_free: FanoutFreeGraph) -> Structure:
    """Levels of every stream."""
    found = Structure()
    for node in fanout_free.nodes:
        _number(fanout_free, node, found)
        for s in node.outputs:
            if s is not None and fanout_free.streams[s].kind is StreamKind.CRD:
                found.crd.setdefault(found.of[s], s)
    return found


def _number(fanout_free: FanoutFreeGraph, node: Node, found: Structure) -> None:
    inputs = [found.of[s] for s in node.inputs]
    outputs = [s for s in node.outputs if s is not None]
    depth = {s: fanout_free.streams[s].depth for s in outputs}
    nesting = primitive(node.op).nesting
    agreed = agreement(inputs)
    found.made[node.id] = agreed
    if nesting is Nesting.DEALS:
        whole = inputs[0]
        lanes = len(outputs)
        for lane, s in enumerate(outputs):
            share = found.level(("share", whole[-1], lane, lanes))
            found.shares[share] = (whole[-1], lanes)
            found.of[s] = (*whole[:-1], share)
        found.made[node.id] = len(whole)
        return
    if nesting is Nesting.COLLECTS:
        guide, lanes_levels = inputs[0], inputs[1:]
        (out,) = outputs
        below = range(len(guide), depth[out])
        inner = (found.level(("lanes", *(lane[k] for lane in lanes_levels))) for k in below)
        found.of[out] = (*guide, *inner)
        found.made[node.id] = depth[out]
        return
    if nesting is Nesting.ALIGNS:
        _, after, stream = inputs
        (out,) = outputs
        inner = (found.level(("aligned", k, *after)) for k in stream[len(after) :])
        found.of[out] = (*after, *inner)
        found.made[node.id] = min(agreed, len(after) - 1)
        return
    kept = agreed
    if nesting is Nesting.OPAQUE:
        kept = 0
    elif nesting is Nesting.MAKES:
        coordinates = [depth[s] for s in outputs if fanout_free.streams[s].kind is StreamKind.CRD]
        kept = min([agreed, *(d - 1 for d in coordinates)])
    longest = max(inputs, key=len, default=())
    signals = [s for s in node.inputs if fanout_free.streams[s].kind is StreamKind.SIG]
    if signals and nesting is Nesting.MAKES:  # a repeater's output nests as the signal says
        longest = found.of[signals[0]]
        kept = max(kept, len(longest))
    found.made[node.id] = kept
    for s in outputs:
        own = (found.level((node.id, k)) for k in range(kept, depth[s]))
        found.of[s] = (*longest[: min(kept, depth[s])], *own)


def agreement(inputs: list[Levels]) -> int:
    """Outer levels in which all agree, as far as each goes; the deepest depth if they all do."""
    deepest = max(map(len, inputs), default=0)
    for k in range(deepest):
        if len({levels[k] for levels in inputs if k < len(levels)}) > 1:
            return k
    return deepest
