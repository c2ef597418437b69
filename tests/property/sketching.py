"""The parts of random graphs: streams that know the shape of their tokens, and data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.tile_values import with_tiles
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, encode

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
Nest = Any


def flatten(nest: Nest, depth: int) -> list[Any]:
    """The tokens of a nested list, without the end."""
    if depth == 0:
        return [nest]
    tokens: list[Any] = []
    for child in nest:
        tokens += flatten(child, depth - 1)
    if nest and depth > 1:
        tokens[-1] = Stop(tokens[-1].level + 1)
    else:
        tokens.append(Stop(depth - 1))
    return tokens


@dataclass(eq=False)
class Shape:
    """Which fibers a level has; ``parent`` is the level outside."""

    depth: int
    parent: Shape | None


@dataclass
class Live:
    """A stream that nothing reads yet; ``axes`` of its values, if they are tiles."""

    id: int
    kind: StreamKind
    shape: Shape
    axes: str = ""


@dataclass
class Builder:
    """A graph in the making."""

    rng: np.random.Generator
    nodes: list[Node] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    arrays: dict[int, dict[str, Any]] = field(default_factory=dict)
    live: list[Live] = field(default_factory=list)

    def stream(self, kind: StreamKind, shape: Shape, axes: str = "") -> Live:
        self.streams.append(Stream(len(self.streams), kind, shape.depth))
        return Live(len(self.streams) - 1, kind, shape, axes)

    def node(self, op: str, ins: list[Live], outs: list[Any], **params: Any) -> list[Live]:
        """Add a node; its outputs become live, its inputs are no longer.

        Outputs are (kind, shape) or (kind, shape, axes).
        """
        made = [self.stream(*out) for out in outs]
        for used in ins:
            if used in self.live:
                self.live.remove(used)
        ids = tuple(s.id for s in made)
        self.nodes.append(Node(len(self.nodes), op, tuple(s.id for s in ins), ids, params))
        self.live += made
        return made

    def bind(self, **arrays: Any) -> None:
        """Arrays for the node added last."""
        self.arrays[len(self.nodes) - 1] = arrays

    def source(self, kind: StreamKind, shape: Shape, tokens: list[Any]) -> Live:
        """A source of tokens that arrive at random times, or as fast as they can."""
        (made,) = self.node("source", [], [(kind, shape)], kind=kind.value)
        tokens = [*tokens, DONE]
        self.bind(tokens=encode(tokens))
        if self.rng.random() < 0.6:
            gaps = self.rng.choice([0, 0, 1, 1, 1, 2, 5], len(tokens))
            self.bind(tokens=encode(tokens), times=np.cumsum(gaps).astype(np.int64))
        return made

    def copies(self, stream: Live, count: int) -> list[Live]:
        return self.node("broadcast", [stream], [(stream.kind, stream.shape, stream.axes)] * count)

    def finish(self, name: str) -> BoundGraph:
        """Give every open stream a reader, or none where a node allows that."""
        voids: set[int] = set()
        for end in list(self.live):
            op = {CRD: "crdwrite", VAL: "valwrite"}.get(end.kind, "sink")
            choice = self.rng.random()
            if choice < 0.1 and self.may_be_void(end):
                voids.add(end.id)
                self.live.remove(end)
                continue
            if choice < 0.5:
                op = "sink"
            self.node(op, [end], [])
        keep = [s for s in self.streams if s.id not in voids]
        number = {s.id: k for k, s in enumerate(keep)}
        nodes = tuple(
            Node(
                n.id,
                n.op,
                tuple(number[s] for s in n.inputs),
                tuple(None if s in voids else number[s] for s in n.outputs),
                n.params,
            )
            for n in self.nodes
        )
        streams = tuple(Stream(number[s.id], s.kind, s.depth) for s in keep)
        return BoundGraph(with_tiles(Graph(name, nodes, streams)), self.arrays)

    def may_be_void(self, stream: Live) -> bool:
        maker = next(n for n in self.nodes if stream.id in n.outputs)
        return len(maker.outputs) > 1


def values(rng: np.random.Generator, count: int) -> list[Any]:
    """Values, a few of them empty, a few negative zero."""
    made: list[Any] = [np.float32(x) for x in rng.normal(size=count).round(2)]
    for k in range(count):
        if rng.random() < 0.08:
            made[k] = EMPTY
        elif rng.random() < 0.05:
            made[k] = np.float32(-0.0)
    return made


def references(rng: np.random.Generator, count: int, size: int) -> list[Any]:
    return [EMPTY if rng.random() < 0.06 else int(x) for x in rng.integers(0, size, count)]


def random_nest(rng: np.random.Generator, depth: int, size: int) -> Nest:
    """Fibers of sorted coordinates; some empty."""
    if depth == 0:
        return 0
    if depth == 1:
        count = int(rng.integers(0, size + 1)) if rng.random() < 0.85 else 0
        return sorted(rng.choice(size, min(count, size), replace=False).tolist())
    length = int(rng.integers(0, 4)) if rng.random() < 0.9 else 0
    return [random_nest(rng, depth - 1, size) for _ in range(length)]


def refill(nest: Nest, depth: int, make: Any) -> Nest:
    """The same nest with other leaves."""
    if depth == 0:
        return make()
    return [refill(child, depth - 1, make) for child in nest]


def deepen(nest: Nest, depth: int, make: Any) -> Nest:
    """Replace each leaf by a fiber."""
    if depth == 0:
        return make()
    return [deepen(child, depth - 1, make) for child in nest]


def refibered(nest: Nest, depth: int, make: Any) -> Nest:
    """The same nest with other innermost fibers."""
    if depth == 1:
        return make()
    return [refibered(child, depth - 1, make) for child in nest]
