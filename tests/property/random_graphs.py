"""Random graphs with matching data, for tests that compare engines.

Streams know the *shape* of their tokens (which fibers there are), so that only streams that
nest alike meet.  Some operations may still contradict each other on empty fibers, as they may
in a user's graph: then every engine must say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled.functions import UNARY
from tests.property.sketching import (
    CRD,
    REF,
    SIG,
    VAL,
    Builder,
    Live,
    Nest,
    Shape,
    deepen,
    flatten,
    random_nest,
    references,
    refibered,
    refill,
    values,
)

BINARY = ("add", "sub", "mul", "div", "elemmul", "max")
_UNARY = (*UNARY,)
STORED = 12  # references and values


class Grower:
    """Adds groups of sources, then primitives that fit the open streams."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self.rng = builder.rng
        self.size = 5 if self.rng.random() < 0.7 else 40  # coordinates of a fiber
        self.edge = int(self.rng.integers(2, 5)) if self.rng.random() < 0.3 else 1  # of tiles

    # -- groups of sources ---------------------------------------------------------------

    def a_level(self) -> None:
        """A stream and the level below it, each with several aligned streams."""
        rng, b = self.rng, self.b
        depth = int(rng.integers(1, 4))
        inner = random_nest(rng, depth, self.size)
        lower = Shape(depth, None)
        upper = Shape(depth - 1, None)
        lower.parent = upper
        outer = refibered(inner, depth, lambda: int(rng.integers(0, self.size)))
        if rng.random() < 0.3:  # unsorted, with duplicates
            inner = refibered(
                inner,
                depth,
                lambda: rng.integers(0, self.size, int(rng.integers(0, self.size + 2))).tolist(),
            )
        pick = self.leaf_maker
        b.source(CRD, lower, flatten(inner, depth))
        for kind in (VAL, REF, VAL):
            if rng.random() < 0.7:
                b.source(kind, lower, flatten(refill(inner, depth, pick(kind)), depth))
        if depth > 1:
            b.source(CRD, upper, flatten(outer, depth - 1))
        for kind in (REF, VAL):
            if rng.random() < 0.6:
                tokens = flatten(refill(outer, depth - 1, pick(kind)), depth - 1)
                b.source(kind, upper, tokens)

    def operands(self) -> None:
        """Coordinates and payloads for a joiner."""
        rng, b = self.rng, self.b
        depth = int(rng.integers(1, 4))
        frame = random_nest(rng, depth, self.size)
        parent = Shape(depth - 1, None)
        dense = rng.random() < 0.3
        for _ in range(int(rng.integers(2, 5))):
            nest = refibered(
                frame,
                depth,
                lambda: list(range(self.size)) if dense else random_nest(rng, 1, self.size),
            )
            shape = Shape(depth, parent)
            b.source(CRD, shape, flatten(nest, depth))
            kind = VAL if rng.random() < 0.4 else REF
            b.source(kind, shape, flatten(refill(nest, depth, self.leaf_maker(kind)), depth))

    def a_tree(self) -> None:
        """Coordinates of several levels, each opening the fibers of the next, and values."""
        rng, b = self.rng, self.b
        levels = int(rng.integers(2, 6))
        size = 3 if levels > 3 else self.size

        def fiber(depth: int) -> list[tuple[int, Any]]:
            count = int(rng.integers(0, 3 if levels > 3 else 4))
            crds = sorted(rng.choice(size, min(count, size), replace=False).tolist())
            return [(c, fiber(depth + 1) if depth < levels else None) for c in crds]

        tree = fiber(1)

        def crds(part: Any, depth: int) -> Nest:
            if depth == 1:
                return [crd for crd, _ in part]
            return [crds(inside, depth - 1) for _, inside in part]

        shape = Shape(0, None)
        for depth in range(1, levels + 1):
            shape = Shape(depth, shape)
            b.source(CRD, shape, flatten(crds(tree, depth), depth))
        for _ in range(int(rng.integers(1, 3))):
            inner = refill(crds(tree, levels), levels, self.leaf_maker(VAL))
            b.source(VAL, shape, flatten(inner, levels))

    def a_join(self) -> None:
        """A level before and after a join, and a stream below the first."""
        rng, b = self.rng, self.b
        frame = random_nest(rng, 2, 5)
        levels = int(rng.integers(1, 3))
        before = refibered(frame, 2, lambda: random_nest(rng, 1, 5))
        after = refibered(frame, 2, lambda: random_nest(rng, 1, 5))
        parent = Shape(1, None)
        old, new = Shape(2, parent), Shape(2, parent)
        kind = (CRD, REF, VAL)[int(rng.integers(3))]
        make = self.leaf_maker(kind) if kind is not CRD else lambda: int(rng.integers(0, 9))
        if levels == 1:
            tree = deepen(before, 2, lambda: [make() for _ in range(int(rng.integers(0, 5)))])
        else:
            tree = deepen(before, 2, lambda: refill(random_nest(rng, 2, 4), 2, make))
        below, shape = old, new
        for _ in range(levels):
            below, shape = Shape(below.depth + 1, below), Shape(shape.depth + 1, shape)
        streams = [
            b.source(CRD, old, flatten(before, 2)),
            b.source(CRD, new, flatten(after, 2)),
            b.source(kind, below, flatten(tree, 2 + levels)),
        ]
        guide = b.copies(streams[1], 2)
        b.node("fiber_align", [streams[0], guide[0], streams[2]], [(kind, shape)], levels=levels)

    def a_replay(self) -> None:
        """Subtrees, and a driver with a fiber for each."""
        rng, b = self.rng, self.b
        levels, depth = int(rng.integers(1, 3)), int(rng.integers(0, 3))
        frame = random_nest(rng, depth, 3)
        top = Shape(depth, None)
        driver = deepen(frame, depth, lambda: random_nest(rng, 1, 4))
        kind = (CRD, REF, VAL)[int(rng.integers(3))]
        make = self.leaf_maker(kind) if kind is not CRD else lambda: int(rng.integers(0, 9))
        tree = deepen(frame, depth, lambda: refill(random_nest(rng, levels, 4), levels, make))
        drives = Shape(depth + 1, top)
        below, shape = top, drives
        for _ in range(levels):
            below, shape = Shape(below.depth + 1, below), Shape(shape.depth + 1, shape)
        streams = [
            b.source(kind, below, flatten(tree, depth + levels)),
            b.source(CRD, drives, flatten(driver, depth + 1)),
        ]
        driven = b.copies(streams[1], 2)
        axes = ""
        if kind is REF and rng.random() < 0.6:
            (streams[0],) = self.array(streams[0])
            kind, axes = VAL, streams[0].axes
        b.node("replay", [streams[0], driven[0]], [(kind, shape, axes)], levels=levels)

    def leaf_maker(self, kind: StreamKind) -> Any:
        if kind is VAL:
            return lambda: values(self.rng, 1)[0]
        return lambda: references(self.rng, 1, STORED)[0]

    # -- primitives ----------------------------------------------------------------------

    def pick(self, kind: StreamKind | None = None, shape: Shape | None = None) -> Live | None:
        fits = [
            s
            for s in self.b.live
            if (kind is None or s.kind is kind) and (shape is None or s.shape is shape)
        ]
        return fits[int(self.rng.integers(len(fits)))] if fits else None

    def root(self) -> None:
        self.b.node("root", [], [(REF, Shape(0, None))])

    def scan(self) -> None:
        ref = self.pick(REF)
        if ref is None or ref.shape.depth > 3:
            return
        below = Shape(ref.shape.depth + 1, ref.shape)
        if self.rng.random() < 0.5:
            dim = int(self.rng.integers(0, self.size + 1))
            self.b.node("dense_scan", [ref], [(CRD, below), (REF, below)], dim=dim)
            return
        count = STORED * 6
        seg = np.sort(self.rng.integers(0, STORED + 1, count + 1))
        crd = np.concatenate([np.sort(self.rng.choice(9, STORED, replace=True))])
        self.b.node("scan", [ref], [(CRD, below), (REF, below)], tensor="T", level=0)
        self.b.bind(seg=seg.astype(np.int64), crd=crd.astype(np.int64))

    def broadcast(self) -> None:
        stream = self.pick()
        if stream is not None:
            self.b.copies(stream, int(self.rng.integers(2, 4)))

    def repeat(self) -> None:
        held = self.pick(REF if self.rng.random() < 0.5 else VAL)
        if held is None:
            return
        below = [s for s in self.b.live if s.shape.parent is held.shape and s.kind is not SIG]
        if not below:
            return
        shaped = below[int(self.rng.integers(len(below)))]
        if self.rng.random() < 0.7:
            shaped, _ = self.b.copies(shaped, 2)
        (signal,) = self.b.node("repsig", [shaped], [(SIG, shaped.shape)])
        self.b.node("repeat", [held, signal], [(held.kind, shaped.shape, held.axes)])

    def locate(self) -> None:
        crd = self.pick(CRD)
        ref = self.pick(REF, crd.shape) if crd else None
        if crd is None or ref is None:
            return
        if self.rng.random() < 0.4:
            kinds = [(REF, crd.shape), (REF, crd.shape), (CRD, crd.shape)]
            self.b.node("sam_locate", [ref, crd], kinds)
        else:
            self.b.node("locate", [crd, ref], [(REF, crd.shape)], dim=int(self.rng.integers(1, 4)))

    def search(self) -> None:
        """A compressed level searched for the coordinates of a stream below the references."""
        ref = self.pick(REF)
        below = [s for s in self.b.live if ref and s.shape.parent is ref.shape and s.kind is CRD]
        if ref is None or not below:
            return
        wanted = below[int(self.rng.integers(len(below)))]
        if self.rng.random() < 0.7:
            wanted, _ = self.b.copies(wanted, 2)
        shape = Shape(wanted.shape.depth, wanted.shape.parent)
        self.b.node("search", [ref, wanted], [(CRD, shape), (REF, shape)], tensor="A", level=0)
        lengths = self.rng.integers(0, self.size + 1, STORED)
        fibers = [np.sort(self.rng.choice(self.size, n, replace=False)) for n in lengths]
        self.b.bind(seg=np.concatenate(([0], np.cumsum(lengths))), crd=np.concatenate(fibers))

    def array(self, ref: Live | None = None) -> list[Live]:
        ref = self.pick(REF) if ref is None else ref
        if ref is None:
            return []
        axes = ("ij", "ij", "i", "")[int(self.rng.integers(4))] if self.edge > 1 else ""
        params: dict[str, Any] = {"block": 2} if self.rng.random() < 0.15 else {}
        if axes:
            params = self.tile(axes)
        made = self.b.node("array", [ref], [(VAL, ref.shape, axes)], tensor="T", **params)
        shape = (4096, *(self.edge for _ in axes))
        numbers = self.rng.normal(size=shape).round(2)
        numbers[self.rng.random(4096) < 0.1] = 0
        self.b.bind(vals=numbers.astype(np.float32))
        return made

    def tile(self, text: str) -> dict[str, Any]:
        return {"tile": text, "block": self.edge}

    def permuted(self, axes: str) -> str:
        return "".join(self.rng.permutation(list(axes))) if axes else ""

    def tiles_of(self, left: str, fn: str, right: str) -> tuple[dict[str, Any], str]:
        """Parameters for a function of two values with axes, and the axes of the result."""
        a = self.permuted("ijk")[: len(left)]
        b = self.permuted("ijk")[: len(right)]
        axes = sorted(set(a + b))
        if fn == "mul" and self.rng.random() < 0.7:
            axes = axes[: int(self.rng.integers(0, len(axes) + 1))]
        result = self.permuted("".join(axes))
        return self.tile(f"{a},{b}->{result}"), result

    def binary(self) -> None:
        left = self.pick(VAL)
        if left is None:
            return
        others = [s for s in self.b.live if s.kind is VAL and s.shape is left.shape and s != left]
        if not others:
            return
        params: dict[str, Any] = {"fn": BINARY[int(self.rng.integers(len(BINARY)))]}
        params["needs"] = ("", "", "a", "b", "ab")[int(self.rng.integers(5))]
        chance = self.rng.random()
        if chance < 0.1:
            params["block"] = 2
        elif chance < 0.2:
            params |= {"latency": int(self.rng.integers(1, 6)), "ii": int(self.rng.integers(1, 4))}
        axes = ""
        if left.axes or others[0].axes:
            more, axes = self.tiles_of(left.axes, params["fn"], others[0].axes)
            params |= more
        self.b.node("binary", [left, others[0]], [(VAL, left.shape, axes)], **params)

    def unary(self) -> None:
        value = self.pick(VAL)
        if value is None:
            return
        fn = _UNARY[int(self.rng.integers(len(_UNARY)))]
        params: dict[str, Any] = {"latency": 4} if self.rng.random() < 0.2 else {}
        result, op = value.axes, "unary"
        if value.axes:
            result = self.permuted(value.axes)
            if self.rng.random() < 0.5:
                op, fn = "tilefold", "max" if self.rng.random() < 0.5 else "add"
                result = result[: int(self.rng.integers(0, len(result) + 1))]
            params |= self.tile(f"{value.axes}->{result}")
        self.b.node(op, [value], [(VAL, value.shape, result)], fn=fn, scalar=0.5, **params)

    def reduce(self) -> None:
        value = self.pick(VAL)
        if value is None or value.shape.depth == 0:
            return
        parent = value.shape.parent
        above = parent or Shape(value.shape.depth - 1, None)
        fn = "max" if self.rng.random() < 0.5 else "add"
        guide = self.pick(CRD, parent) if parent is not None else None
        zero = bool(self.rng.random() < 0.3)
        if guide is not None and self.rng.random() < 0.7:
            self.b.node(
                "reduce", [value, guide], [(VAL, above, value.axes)], fn=fn, empty_is_zero=zero
            )
        else:
            outs = [(VAL, Shape(above.depth, above.parent), value.axes)]
            self.b.node("reduce", [value], outs, fn=fn, empty_is_zero=zero)

    def join(self) -> None:
        crd = self.pick(CRD)
        if crd is None:
            return
        parent = crd.shape.parent
        operands: list[Live] = []
        for other in [s for s in self.b.live if s.kind is CRD]:
            if other.shape.depth != crd.shape.depth or other.shape.parent is not parent:
                continue
            loads = [
                s
                for s in self.b.live
                if s.shape is other.shape and s.kind in (REF, VAL) and s not in operands
            ]
            if loads:
                operands += [other, loads[0]]
        count = len(operands) // 2
        if count < 2:
            return
        count = int(self.rng.integers(2, count + 1))
        operands = operands[: 2 * count]
        joined = Shape(crd.shape.depth, parent)
        outs = [(CRD, joined), *((s.kind, joined, s.axes) for s in operands[1::2])]
        if self.rng.random() < 0.5:
            self.b.node("intersect", operands, outs)
        else:
            gate = int(self.rng.integers(0, count)) if self.rng.random() < 0.5 else 0
            self.b.node("union", operands, outs, gate=gate)

    def spacc1(self) -> None:
        inner = self.pick(CRD)
        if inner is None or inner.shape.depth < 2 or inner.shape.parent is None:
            return
        outer = self.pick(CRD, inner.shape.parent)
        value = self.pick(VAL, inner.shape)
        if outer is None or value is None:
            return
        result = Shape(outer.shape.depth, outer.shape.parent)
        fn = "max" if self.rng.random() < 0.3 else "add"
        dim = 70 if self.rng.random() < 0.5 else 5000
        outs = [(CRD, result), (VAL, result, value.axes)]
        self.b.node("spacc1", [outer, inner, value], outs, fn=fn, dim=dim)

    def crddrop(self) -> None:
        inner = self.pick(CRD)
        if inner is None or inner.shape.depth < 2 or inner.shape.parent is None:
            return
        outer = self.pick(CRD, inner.shape.parent)
        if outer is None:
            return
        kept = Shape(outer.shape.depth, outer.shape.parent)
        below = Shape(inner.shape.depth, kept)
        self.b.node("crddrop", [inner, outer], [(CRD, below), (CRD, kept)])

    def lanes(self) -> None:
        """A fiber's references dealt to lanes that scan them, and collected."""
        ref = self.pick(REF)
        guide = self.pick(CRD, ref.shape) if ref else None
        if ref is None or guide is None or not 0 < ref.shape.depth < 4:
            return
        lanes = self.b.node("fork", [ref], [(REF, ref.shape)] * int(self.rng.integers(2, 4)))
        below = Shape(ref.shape.depth + 1, ref.shape)
        dims = self.rng.integers(0, 4, len(lanes))
        levels = int(self.rng.integers(0, 2))
        if levels:
            scanned = [
                self.b.node("dense_scan", [lane], [(CRD, below), (REF, below)], dim=int(dim))
                for lane, dim in zip(lanes, dims, strict=True)
            ]
            lanes = [crd for crd, _ in scanned]
        shape = below if levels else ref.shape
        if self.rng.random() < 0.4:
            self.b.node("join", lanes, [(lanes[0].kind, shape)])
        else:
            self.b.node("ordered_join", [guide, *lanes], [(lanes[0].kind, shape)], levels=levels)

    def valdrop(self) -> None:
        value = self.pick(VAL)
        crd = self.pick(CRD, value.shape) if value else None
        if value is None or crd is None:
            return
        shape = Shape(value.shape.depth, value.shape.parent)
        op = "valdrop" if self.rng.random() < 0.5 else "zerodrop"
        self.b.node(op, [value, crd], [(VAL, shape, value.axes), (CRD, shape)])

    def stopdrop(self) -> None:
        stream = self.pick()
        if stream is not None and stream.kind is not SIG:
            shape = Shape(stream.shape.depth, None)
            self.b.node("stopdrop", [stream], [(stream.kind, shape, stream.axes)])

    def shift(self) -> None:
        crd = self.pick(CRD)
        if crd is not None:
            offset = int(self.rng.integers(0, 50))
            self.b.node("shift", [crd], [(CRD, crd.shape)], offset=offset, dim=100)

    def two_levels(self) -> None:
        """A primitive that walks a level along with the one outside."""
        inner = self.pick(CRD)
        if inner is None or inner.shape.parent is None:
            return
        outer = self.pick(CRD, inner.shape.parent)
        if outer is None:
            return
        ref = self.pick(REF, inner.shape)
        choice = self.rng.random()
        above = Shape(outer.shape.depth, outer.shape.parent)
        below = Shape(inner.shape.depth, above)
        if choice < 0.4 and ref is not None:
            outs = [(CRD, below), (CRD, above), (REF, below)]
            self.b.node("crdmask", [inner, outer, ref], outs)
        elif choice < 0.7:
            self.b.node("crdhold", [inner, outer], [(CRD, inner.shape), (CRD, inner.shape)])
        else:
            self.b.node("flatten", [inner, outer], [(CRD, above)], factor=7)

    def spacc(self) -> None:
        """An accumulator over as many levels as there are."""
        value = self.pick(VAL)
        shape = value.shape if value is not None else None
        chain: list[Live] = []
        while shape is not None and len(chain) < 7:
            crd = self.pick(CRD, shape)
            if crd is None:
                break
            chain.append(crd)
            shape = shape.parent
        if value is None or len(chain) < 3:
            return
        order = int(self.rng.integers(2, len(chain)))
        inputs = chain[: order + 1][::-1]
        made, above = [], inputs[0].shape.parent
        for _ in range(order):
            above = Shape(above.depth + 1 if above is not None else inputs[0].shape.depth, above)
            made.append((CRD, above))
        fn = "max" if self.rng.random() < 0.3 else "add"
        outs = [*made, (VAL, made[-1][1], value.axes)]
        self.b.node(f"spacc{order}", [*inputs, value], outs, fn=fn)


GROUPS = ("a_level", "a_level", "operands", "root", "a_tree", "a_join", "a_replay")
STEPS = (
    "scan",
    "broadcast",
    "broadcast",
    "repeat",
    "repeat",
    "locate",
    "array",
    "array",
    "binary",
    "binary",
    "unary",
    "reduce",
    "join",
    "join",
    "spacc1",
    "spacc1",
    "crddrop",
    "valdrop",
    "lanes",
    "stopdrop",
    "shift",
    "two_levels",
    "two_levels",
    "spacc",
    "spacc",
)


def random_graph(seed: int, *, searching: bool = False) -> BoundGraph:
    """The graph of that number: a few sources, a few primitives, a reader for every stream.

    ``searching``: another one, in which levels are searched, too.
    """
    steps = (*STEPS, "search", "search") if searching else STEPS
    rng = np.random.default_rng(seed)
    builder = Builder(rng)
    grower = Grower(builder)
    for _ in range(int(rng.integers(1, 3))):
        getattr(grower, GROUPS[int(rng.integers(len(GROUPS)))])()
    for _ in range(int(rng.integers(1, 30))):
        getattr(grower, steps[int(rng.integers(len(steps)))])()
    return builder.finish(f"random {seed}")
