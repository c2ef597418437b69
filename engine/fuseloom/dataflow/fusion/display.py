"""Schedules, regions and their partial orders as a notebook shows them."""

from __future__ import annotations

from collections import defaultdict

from fuseloom.dataflow.fusion.pog import PartialOrderGraph
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.display import Drawing, Markup, shown, table, tag
from fuseloom.display.drawing import width_of

ACROSS, DOWN, HIGH = 96.0, 48.0, 28.0
"""Pixels from one column of indices to the next, from one row to the next, and of a box."""
KINDS = {
    "Fuse": "makes one region of consecutive statements",
    "Order": "chooses the order of indices",
}


def schedule_html(schedule: Schedule) -> Markup:
    """A line per directive."""
    directives = [*schedule.fusions, *schedule.orders, *schedule.settings]
    if not directives:
        text = (
            "An empty schedule: every statement is a region of its own, each under its own order."
        )
        return shown(tag("p", text, class_="quiet"))
    rows = [(tag("code", str(d)), KINDS.get(type(d).__name__, "")) for d in directives]
    return shown(table(["directive", ""], rows))


def order_drawing(pog: PartialOrderGraph, title: str = "the region") -> Drawing:
    """Indices from left to right, an arrow from each to those that must lie inside it.

    Arrows that others imply are left out; the indices of a circle stand in one column.
    """
    places = _places(pog)
    wide = {x: max(HIGH, width_of(x) + 14) for x in pog.indices}
    columns: dict[int, list[str]] = defaultdict(list)
    for x in pog.indices:
        columns[places[x]].append(x)
    rows = max((len(c) for c in columns.values()), default=1)
    middle = {
        x: (ACROSS * c + 40, DOWN * (k + (rows - len(xs)) / 2) + HIGH)
        for c, xs in columns.items()
        for k, x in enumerate(xs)
    }
    pieces = [
        _arrow(middle[a], middle[b], wide[a] / 2, wide[b] / 2) for a, b in _needed(pog, places)
    ]
    for x, (cx, cy) in middle.items():
        w = wide[x]
        pieces.append(
            tag("rect", x=cx - w / 2, y=cy - HIGH / 2, width=w, height=HIGH, rx=HIGH / 2,
                class_="box")
        )  # fmt: skip
        pieces.append(tag("text", x, x=cx, y=cy + 4, text_anchor="middle", class_="mono"))
    text = "\n".join(map(str, pog.edges)) or "any order"
    said = f"Which index of {title} must lie outside which: {', '.join(pog.indices) or 'none'}"
    width = ACROSS * (max(columns, default=0) + 1)
    return Drawing(said, text, width, DOWN * rows + 12, Markup("".join(pieces)))


def _places(pog: PartialOrderGraph) -> dict[str, int]:
    """The column of each index: after all that must lie outside it, as far as that goes."""
    place = dict.fromkeys(pog.indices, 0)
    circle = pog.cyclic
    edges = [(e.outer, e.inner) for e in pog.edges if not {e.outer, e.inner} <= circle]
    for _ in pog.indices:
        for a, b in edges:
            place[b] = max(place[b], place[a] + 1)
    return place


def _needed(pog: PartialOrderGraph, places: dict[str, int]) -> list[tuple[str, str]]:
    """Edges that no longer path implies."""
    pairs = list(dict.fromkeys((e.outer, e.inner) for e in pog.edges))
    if pog.cyclic:
        return pairs
    inside: dict[str, set[str]] = {x: set() for x in pog.indices}
    for x in sorted(pog.indices, key=lambda x: -places[x]):
        for a, b in pairs:
            if a == x:
                inside[x] |= {b} | inside[b]
    return [
        (a, b) for a, b in pairs if not any(b in inside[c] for x, c in pairs if x == a and c != b)
    ]


def _arrow(
    start: tuple[float, float], end: tuple[float, float], half: float, other: float
) -> Markup:
    x0, y0, x1, y1 = start[0] + half, start[1], end[0] - other - 6, end[1]
    bend = (x0 + x1) / 2
    ends = ((x0, y0), (bend, y0), (bend, y1), (x1, y1))
    first, *others = (f"{x:.1f} {y:.1f}" for x, y in ends)
    line = tag("path", d=f"M{first}C{' '.join(others)}", class_="edge")
    tip = tag("path", d=f"M{x1 + 6:.1f} {y1:.1f}l-8 -4v8z", class_="tip")
    return Markup(line + tip)


def order_html(pog: PartialOrderGraph, title: str = "the region") -> Markup:
    """The drawing, how many orders there are, and why each arrow is there."""
    count = "no order satisfies all of these" if pog.cyclic else f"legal orders: {pog.count():,}"
    rows = [(f"{e.outer} outside {e.inner}", e.origin.value, e.reason) for e in pog.edges]
    return Markup(
        order_drawing(pog, title)._repr_html_()
        + shown(
            tag("p", count),
            table(["index", "from", "because"], rows)
            if rows
            else tag("p", "Nothing constrains it."),
        )
    )


def region_html(region: FusedRegion) -> Markup:
    """Its statements in its own indices, their partial order, and circles that were broken."""
    head, *lines = str(region).splitlines()
    own = [line.strip() for line in lines if "=" in line and "→" not in line]
    repairs = [tag("p", str(repair)) for repair in region.repairs]
    return Markup(
        shown(tag("h4", head), tag("pre", "\n".join(own)))
        + order_html(region.pog, region.name)
        + (shown(repairs) if repairs else "")
    )
