"""The pictures on the doors of the home page: small drawings of what the engine computes.

``python docs/build.py`` writes them into ``doors.html``, so that the server computes none of them;
a test fails where that file is not what the engine gives.  Colours are those of the page's theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import MappingProxyType

from fuseloom_workbench.base.assets import asset

ASSET = "serving/doors.html"
WIDTH, HEIGHT, EDGE = 96.0, 64.0, 3.0
REGIONS = 8
"""Colours that regions, kernels and tiles have in turn."""
Places = Mapping[str, tuple[float, float]]


@cache
def shown_pictures() -> Mapping[str, str]:
    """The picture of each door that has one, by the name of its page, as SVG text.

    Examples
    --------
    >>> sorted(shown_pictures())
    ['calls', 'explorer', 'kernels', 'networks', 'patterns']
    """
    found = re.findall(r'<svg data-door="(\w+)".*?</svg>', asset(ASSET))
    pictures = re.findall(r"<svg .*?</svg>", asset(ASSET))
    return MappingProxyType(dict(zip(found, pictures, strict=True)))


def computed_pictures() -> str:
    """The pictures of all doors, computed anew, one a line."""
    made = (
        ("explorer", *dataflow_picture()),
        ("networks", *network_picture()),
        ("patterns", *pattern_picture()),
        ("calls", *calls_picture()),
        ("kernels", *kernels_picture()),
    )
    return "".join(
        f'<svg data-door="{name}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{label}">{drawn}</svg>\n'
        for name, label, drawn in made
    )


def dataflow_picture() -> tuple[str, str]:
    """A layer of a graph network as one dataflow graph: nodes by the colour of their family."""
    from fuseloom.comparison.examples import example
    from fuseloom.dataflow.compiler import compile_program
    from fuseloom.dataflow.samml.catalogue import primitive
    from fuseloom_workbench.graph.net import TOKENS

    program, _ = example("gcn_layer")
    graph = compile_program(program, "fuse T..Y").regions[0].graph
    edges = [(str(a), str(b)) for a, b, _ in graph.edges()]
    rank: dict[str, int] = {}
    for number in graph.topological():
        before = [rank[a] for a, b in edges if b == str(number)]
        rank[str(number)] = 1 + max(before, default=-1)
    at = _layered(rank, edges)
    nodes = {str(node.id): TOKENS[primitive(node.op).family] for node in graph.nodes}
    drawn = [_lines((at[a], at[b]) for a, b in edges)]
    for token in dict.fromkeys(nodes.values()):
        dots = [at[name] for name, own in nodes.items() if own == token]
        drawn.append(_squares(dots, 2.9, token))
    return f"Dataflow graph of a layer of a graph network, fused: {len(nodes)} nodes", "".join(
        drawn
    )


def network_picture() -> tuple[str, str]:
    """A network's fused loop nest: a bar and a bracket for each loop, a bar for each statement."""
    from fuseloom.contraction.kernels.data import Data
    from fuseloom.contraction.loopnest.ir import Forall, lines
    from fuseloom.contraction.networks import from_einsum, read_extents
    from fuseloom.contraction.paths import binary
    from fuseloom.contraction.random_data import scattered
    from fuseloom.contraction.ranking import FusionScheme, ranked
    from fuseloom.contraction.shipped import SHIPPED
    from fuseloom.contraction.solving.solve import Question

    shipped = next(iter(SHIPPED.values()))
    tree = binary(from_einsum(shipped.einsum, read_extents(shipped.extents)), shipped.tree or None)
    found = ranked(Question(tree), Data(tree, scattered(tree, 0.1, 0)).held, bound=1)
    nest = next(c.nest for c in found.candidates if c.scheme is FusionScheme.FUSED)
    written = lines(nest)
    step = (HEIGHT - 2 * EDGE) / len(written)
    loops, statements, brackets = [], [], []
    for number, line in enumerate(written):
        x, y = EDGE + 9 * line.depth, EDGE + step * number
        if isinstance(line.part, Forall):
            inside = [n for n, other in enumerate(written) if n > number]
            end = next((n for n in inside if written[n].depth <= line.depth), len(written))
            loops.append((x, y + 0.6, 15.0, step - 1.2))
            brackets.append(((x + 1.5, y + step), (x + 1.5, EDGE + step * end - 1)))
        else:
            length = min(WIDTH - EDGE - x, 1.6 * len(str(line)))
            statements.append((x, y + 0.6, length, step - 1.2))
    drawn = _lines(brackets) + _boxes(loops, "scan") + _boxes(statements, "compute")
    sums = len(tree.contractions)
    return f"Fused loop nest of a tensor network: {len(loops)} loops, {sums} contractions", drawn


def pattern_picture() -> tuple[str, str]:
    """The windows of a convolution: two positions of the pattern, and what each sees and gives."""
    from fuseloom.access.kernels import Convolution, conv2d
    from fuseloom.access.terms import subterms
    from fuseloom_workbench.patterns.positions import positions_of

    layer = Convolution(1, 1, 7, 8, 1, (3, 3))
    term = next(part for part in subterms(conv2d(layer)) if part.construct == "compute")
    made = positions_of(term)
    rows, columns = layer.result
    size = 6.4
    top = (HEIGHT - layer.height * size) / 2
    image = [
        (EDGE + size * x, top + size * y, size, size)
        for y in range(layer.height)
        for x in range(layer.width)
    ]
    cell = 5.2
    left, above = WIDTH - EDGE - columns * cell, (HEIGHT - rows * cell) / 2
    result = [
        (left + cell * x, above + cell * y, cell, cell) for y in range(rows) for x in range(columns)
    ]
    drawn = [_grid(image), _grid(result)]
    every = made.count // (rows * columns)
    for token, position in (("scan", columns + 1), ("compute", 3 * columns + 4)):
        seen = [int(n) - 1 for n in made.sides[0].at(position * every) if n]
        drawn.append(_boxes([image[n] for n in seen], token, faint=True))
        (x, y, _, _), end = image[seen[len(seen) // 2]], result[position]
        drawn.append(_lines([((x + size / 2, y + size / 2), (end[0], end[1] + cell / 2))], token))
        drawn.append(_boxes([end], token))
    return (
        f"Access pattern of a convolution: {made.count} windows of {len(seen)} elements",
        "".join(drawn),
    )


def calls_picture() -> tuple[str, str]:
    """Calls fused tile by tile: rows that each computes in turn, which overlap where windows do."""
    from fuseloom.calls.composition import compose
    from fuseloom.calls.fused import FusedFunction
    from fuseloom.calls.pipelines import PIPELINES
    from fuseloom_workbench.calls.view import tiles_view

    pipeline = PIPELINES["unsharp"]
    case = pipeline.make({"h": 12, "w": 12})
    fused = FusedFunction(compose(case.calls))
    sizes = {name: 4 for name in fused.scheduled.parameters if name.endswith(pipeline.tile)}
    made = tiles_view(fused, fused.values(**{**case.arguments, **sizes}))
    boxes = {one["name"]: one["box"] for one in made["data"] if not one["given"]}
    wide = (WIDTH - 2 * EDGE) / len(boxes)
    high = (HEIGHT - 2 * EDGE) / max(box[2] for box in boxes.values())
    at = {name: EDGE + wide * number for number, name in enumerate(boxes)}
    wholes = [(at[name], EDGE, wide - 4, high * box[2]) for name, box in boxes.items()]
    tiles: dict[int, list[tuple[float, float, float, float]]] = {}
    turns: dict[str, int] = {}
    for one in made["steps"]:
        name, (row, _, rows, _) = one["output"], one["box"]
        turn = turns[name] = turns.get(name, -1) + 1
        tiles.setdefault(turn, []).append((at[name], EDGE + high * row, wide - 4, high * rows))
    drawn = [_grid(wholes)]
    drawn += [_boxes(found, f"r{turn % REGIONS + 1}", faint=True) for turn, found in tiles.items()]
    middles = [(x + wide - 4, HEIGHT / 2) for x in at.values()]
    drawn.append(_lines((a, (b[0] - wide + 4, b[1])) for a, b in pairwise(middles)))
    return f"{len(boxes)} calls of an unsharp mask in {len(tiles)} tiles", "".join(drawn)


def kernels_picture() -> tuple[str, str]:
    """A dense graph, layer by layer: operations in the colour of the kernel that has them."""
    from fuseloom.stitch.examples.models import example_text
    from fuseloom.stitch.frames import fuse_module
    from fuseloom.stitch.hlo import read_hlo

    fusion = fuse_module(read_hlo(example_text("logistic_regression"))).frames[0].fusion
    operations = fusion.computation.operations
    spans = fusion.analysis.spans
    last = max(spans.values())
    edges = [(name, one.name) for one in operations for name in one.operands]
    at = _layered({one.name: last - spans[one.name] for one in operations}, edges)
    homes = {name: n for n, kernel in enumerate(fusion.kernels) for name in kernel.operations}
    drawn = [_lines((at[a], at[b]) for a, b in edges)]
    drawn.append(_circles([at[one.name] for one in operations if one.name not in homes], "line2"))
    for number in range(len(fusion.kernels)):
        members = [at[name] for name, home in homes.items() if home == number]
        drawn.append(_circles(members, f"r{number % REGIONS + 1}"))
    count = len(fusion.kernels)
    return f"{len(operations)} operations of logistic regression in {count} kernels", "".join(drawn)


# Drawing ------------------------------------------------------------------------------------------


def _layered(rank: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> Places:
    """Places of nodes: those of a rank below each other, near those that they read."""
    most = max(rank.values())
    order: dict[str, float] = {}
    places: dict[str, tuple[float, float]] = {}
    before: dict[str, list[str]] = {name: [] for name in rank}
    for a, b in edges:
        before[b].append(a)
    for layer in range(most + 1):
        here = [name for name, own in rank.items() if own == layer]
        near = {name: _mean([order[a] for a in before[name] if a in order]) for name in here}
        here.sort(key=near.__getitem__)
        x = EDGE + (WIDTH - 2 * EDGE) * layer / most
        for number, name in enumerate(here):
            order[name] = (number + 1) / (len(here) + 1)
            places[name] = (x, order[name])
    lowest, highest = min(order.values()), max(order.values())
    high = (HEIGHT - 4 * EDGE) / (highest - lowest)
    return {name: (x, 2 * EDGE + high * (y - lowest)) for name, (x, y) in places.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.5


def _n(value: float) -> str:
    return f"{round(value, 1):g}"


def _lines(
    pairs: Iterable[tuple[tuple[float, float], tuple[float, float]]], token: str = "line2"
) -> str:
    path = "".join(f"M{_n(a)} {_n(b)}L{_n(c)} {_n(d)}" for (a, b), (c, d) in pairs)
    return f'<path d="{path}" fill="none" stroke="var(--{token})"/>'


def _rectangles(boxes: Iterable[tuple[float, float, float, float]]) -> str:
    return "".join(f"M{_n(x)} {_n(y)}h{_n(w)}v{_n(h)}h{_n(-w)}z" for x, y, w, h in boxes)


def _boxes(
    boxes: Iterable[tuple[float, float, float, float]], token: str, *, faint: bool = False
) -> str:
    opacity = ' fill-opacity=".3"' if faint else ""
    edge = f' stroke="var(--{token})" stroke-width=".7"' if faint else ""
    return f'<path d="{_rectangles(boxes)}" fill="var(--{token})"{opacity}{edge}/>'


def _grid(boxes: Iterable[tuple[float, float, float, float]]) -> str:
    return f'<path d="{_rectangles(boxes)}" fill="var(--sunk)" stroke="var(--line2)"/>'


def _squares(at: Iterable[tuple[float, float]], size: float, token: str) -> str:
    return _boxes([(x - size / 2, y - size / 2, size, size) for x, y in at], token)


def _circles(at: Iterable[tuple[float, float]], token: str) -> str:
    path = "".join(f"M{_n(x - 1.5)} {_n(y)}a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0z" for x, y in at)
    return f'<path d="{path}" fill="var(--{token})"/>'
