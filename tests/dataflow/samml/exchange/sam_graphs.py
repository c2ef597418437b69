"""Writes graphs in the DOT dialect of the Custard compiler, for products under any loop order.

Only what the dialect says is used; nothing of the engine.  ``flawed`` adds the faults that
releases of the compiler had: a reducer in front of accumulators, droppers on summed indices.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field


def dot(comment: str, nodes: str, edges: str) -> str:
    """A graph in short: nodes ``4 arrayvals tensor=b``, edges ``4>3 val`` and ``5>2 crd in-B``."""
    lines = [f'comment="{comment}"']
    for line in filter(None, map(str.strip, nodes.split("\n"))):
        name, kind, *items = line.split()
        apart = " ".join(f'{k}="{v}"' for k, v in (item.split("=") for item in items))
        lines.append(f'{name} [label="{kind}\n{name}" shape=box type="{kind}" {apart}]')
    for line in filter(None, map(str.strip, edges.split("\n"))):
        ends, kind, *port = line.split()
        tail, head = ends.split(">")
        note = f' comment="{port[0]}"' if port else ""
        lines.append(f'{tail} -> {head} [label="{kind}" type="{kind}"{note}]')
    return "digraph SAM {\n" + "\n".join(lines) + "\n}\n"


@dataclass
class Writer:
    """Collects nodes and edges; ids are handed out in order of creation."""

    nodes: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)

    def node(self, kind: str, label: str = "", **attributes: object) -> str:
        name = str(len(self.nodes))
        items = {"type": kind, **attributes}
        packed = ",".join(f"{k}={v}" for k, v in items.items())
        apart = " ".join(f'{k}="{v}"' for k, v in items.items())
        self.nodes.append(f'{name} [comment="{packed}" label="{label or kind}" {apart}]')
        return name

    def edge(self, tail: str, head: str, kind: str, comment: str = "") -> None:
        label = f"{kind}_{comment}" if comment else kind
        self.edges.append(f'{tail} -> {head} [label="{label}" type="{kind}" comment="{comment}"]')

    def text(self, comment: str) -> str:
        body = "\n".join(f"    {line}" for line in (*self.nodes, *self.edges))
        return f'digraph SAM {{\n    comment="{comment}"\n{body}\n}}\n'


@dataclass
class Operand:
    """One access, and where its references come from: a node and the comment on its edge."""

    name: str
    indices: str
    source: tuple[str, str] | None = None


def product_graph(
    result: tuple[str, str],
    operands: list[tuple[str, str]],
    order: str,
    formats: dict[str, str],
    flawed: bool = False,
) -> str:
    """``result = operand * operand ...`` with loops in ``order``."""
    w = Writer()
    used = [Operand(*o) for o in operands]
    name, indices = result
    crds: dict[str, tuple[str, str]] = {}

    def mode(operand: str, wanted: str, index: str) -> int:
        return wanted.index(index)

    for depth, x in enumerate(order):
        mine = [o for o in used if x in o.indices]
        scans = []
        for o in mine:
            letter = formats[o.name][storage(formats[o.name]).index(o.indices.index(x))]
            scan = w.node(
                "fiberlookup", f"FiberLookup {x}: {o.name}\\ncompressed", index=x, tensor=o.name,
                mode=o.indices.index(x), format="dense" if letter == "d" else "compressed",
                src="true", root=str(depth == 0).lower(),
            )  # fmt: skip
            if o.source:
                w.edge(o.source[0], scan, "ref", o.source[1])
            scans.append(scan)
        if len(mine) > 1:
            join = w.node("intersect", index=x)
            for o, scan in zip(mine, scans, strict=True):
                w.edge(scan, join, "crd", f"in-{o.name}")
                w.edge(scan, join, "ref", f"in-{o.name}")
                o.source = join, f"out-{o.name}"
        else:
            join = scans[0]
            mine[0].source = join, ""
        crds[x] = join, ""
        others = [o for o in used if x not in o.indices]
        if others:
            signal = w.node("repsiggen", index=x)
            spread(w, crds, x, signal, "crd", "")
            for o in others:
                repeat = w.node("repeat", index=x, tensor=o.name, root=str(depth == 0).lower())
                if o.source:
                    w.edge(o.source[0], repeat, "ref", o.source[1])
                w.edge(signal, repeat, "repsig")
                o.source = repeat, ""
    values = []
    for o in used:
        array = w.node("arrayvals", tensor=o.name)
        if o.source:
            w.edge(o.source[0], array, "ref", o.source[1])
        values.append(array)
    value = values[0]
    for other in values[1:]:
        mul = w.node("mul")
        w.edge(value, mul, "val")
        w.edge(other, mul, "val")
        value = mul
    out: dict[str, tuple[str, str]] = {}
    inner_loops = list(order)
    while inner_loops and inner_loops[-1] not in indices:
        reduce = w.node("reduce")
        w.edge(value, reduce, "val")
        value = reduce
        inner_loops.pop()
    summed = [x for x in inner_loops if x not in indices]
    if summed:
        first = inner_loops.index(summed[0])
        keys = [x for x in inner_loops[first:] if x in indices][::-1]
        outer = list(inner_loops[:first])[::-1]
        value = accumulate(w, crds, inner_loops, keys, outer, value, flawed)
        out = {x: (value, f"out-{x}") for x in (*keys, *outer)}
    else:
        levels = [x for x in order if x in indices]
        for a, b in itertools.pairwise(levels):
            out.setdefault(a, crds[a])
            out.setdefault(b, crds[b])
        for a, b in reversed(list(itertools.pairwise(levels))):
            drop = w.node("crddrop", outer=a, inner=b)
            for x in (a, b):
                if out[x] == crds[x]:
                    spread(w, crds, x, drop, "crd", x)
                else:
                    w.edge(out[x][0], drop, "crd", out[x][1])
                out[x] = drop, f"{'outer' if x == a else 'inner'}-{x}"
        for x in levels:
            out.setdefault(x, crds[x])
        if flawed and 0 < len(levels) < len(order):
            x = levels[-1]
            drop = w.node("crddrop", outer=x, inner=order[-1])
            w.edge(out[x][0], drop, "crd", out[x][1] or x)
            spread(w, crds, order[-1], drop, "crd", order[-1])
            out[x] = drop, f"outer-{x}"
    writer = w.node("fiberwrite", tensor=name, mode="vals", size="1", sink="true")
    w.edge(value, writer, "val")
    for x in indices:
        writer = w.node("fiberwrite", index=x, tensor=name, mode=indices.index(x),
                        format="compressed", segsize="2", crdsize="9", sink="true")  # fmt: skip
        w.edge(out[x][0], writer, "crd", out[x][1])
    stored = "".join(str(indices.index(x)) for x in order if x in indices)
    shown = [f"{name}={'s' * len(indices)}{stored}" if indices else f"{name}=none"]
    shown += [f"{o.name}={formats[o.name] or 'none'}" for o in used]
    return w.text(",".join(shown))


def storage(text: str) -> list[int]:
    """``ss10`` -> [1, 0]."""
    return [int(c) for c in text if c.isdigit()]


def spread(
    w: Writer, crds: dict[str, tuple[str, str]], x: str, head: str, kind: str, comment: str
) -> None:
    """Read a loop's coordinates through its broadcast, made when first needed."""
    node, _ = crds[x]
    if f' [comment="type=broadcast,index={x}"' not in "".join(w.nodes):
        broadcast = w.node("broadcast", index=x)
        w.edge(node, broadcast, "crd", "")
        crds[x] = broadcast, ""
    w.edge(crds[x][0], head, kind, comment)


def accumulate(
    w: Writer,
    crds: dict[str, tuple[str, str]],
    loops: list[str],
    keys: list[str],
    outer: list[str],
    value: str,
    flawed: bool,
) -> str:
    """An accumulator of points: every index of the result held at the innermost loop."""
    listed = {f"in{k}": x for k, x in enumerate((*keys, *outer))}
    label = "SparseAccumulator \n" + " ".join(f"{k[2:]}={x}" for k, x in listed.items())
    acc = w.node("spaccumulator", label, order=len(keys), **listed)
    if flawed:
        reduce = w.node("reduce")
        w.edge(value, reduce, "val")
        value = reduce
    w.edge(value, acc, "val")
    innermost = keys[0]
    carried: tuple[str, str] | None = None
    for x in (*keys[1:], *outer):
        held: tuple[str, str] | None = None
        for y in loops[loops.index(x) + 1 :]:
            hold = w.node("crdhold", outer=x, inner=y)
            if held is None:
                spread(w, crds, x, hold, "crd", x)
            else:
                w.edge(held[0], hold, "crd", held[1])
            if y == innermost and carried is not None:
                w.edge(carried[0], hold, "crd", carried[1])
            else:
                spread(w, crds, y, hold, "crd", y)
            held = hold, f"outer-{x}"
        assert held is not None
        w.edge(held[0], acc, "crd", held[1])
        carried = held[0], f"inner-{innermost}"
    if carried is None:
        spread(w, crds, innermost, acc, "crd", innermost)
    else:
        w.edge(carried[0], acc, "crd", carried[1])
    for x in loops:
        if x not in (*keys, *outer):
            spread(w, crds, x, acc, "crd", x)
    return acc
