"""Two designs beside each other, as plain data: figures, regions, the text of their schedules.

The parts of the design on the left are those of any design, under names of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from fuseloom_workbench.base.parts import LATER, PARTS, Draw, LaterPart, page_part
from fuseloom_workbench.base.quantities import change, count, short
from fuseloom_workbench.costs.choices import lanes
from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.state.beside import beside, choices
from fuseloom_workbench.state.estimate_figures import EstimateFigures
from fuseloom_workbench.state.machines import machine_label
from fuseloom_workbench.state.session import Session

LEFT = "beside."
"""Prefix of the names of the left design's parts."""
Row = dict[str, Any]
_AT_ONCE = ("table", "menu", "selection", "status", "drawing", "heat", "timeline", "window")
"""Parts that the left design has, too, made with those of the right one."""


@page_part("compare")
def view(session: Session) -> dict[str, Any]:
    """The choices, the figures and regions of both designs, and the lines of their schedules."""
    other = beside(session)
    found: dict[str, Any] = {
        "choices": [[choice.key, choice.name] for choice in choices(session)],
        "choice": session.comparand.key,
        "name": session.comparand.name,
        "sides": [],
    }
    if other is None:
        return found
    return found | {
        "sides": [_side(other), _side(session)],
        "same": other.configuration == session.configuration,
        "figures": list(_figures(other, session)),
        "schedule": list(_lines(_directives(other), _directives(session))),
    }


def _side(session: Session) -> dict[str, Any]:
    """The regions of a design over its kernels, and where it runs."""
    built = session.built
    regions = zip(session.regions, session.estimate.regions, strict=True)
    return {
        "name": built.known_name,
        "machine": machine_label(session.machine),
        "run": session.record is not None,
        "shown": session.region,
        "kernels": [
            [unit.name, region]
            for unit, region in zip(built.units, built.unit_regions, strict=True)
            if not unit.memory
        ],
        "regions": [
            {
                "name": region.name,
                "order": " → ".join(built.region_order(number)),
                "cycles": short(expected.cycles, "").rstrip(),
            }
            for number, (region, expected) in enumerate(regions)
        ],
    }


def _figures(left: Session, right: Session) -> Iterator[Row]:
    """A row per figure, with its change from left to right."""
    ours, theirs = right.record, left.record
    yield _figure(
        "cycles.simulated",
        "cycles, simulated",
        None if theirs is None else theirs.run.cycles,
        None if ours is None else ours.run.cycles,
    )
    before, after = EstimateFigures.of(left.built), EstimateFigures.of(right.built)
    yield _figure("cycles.estimated", "cycles, estimated", before.cycles, after.cycles)
    for name, cycles in before.parts.items():
        yield _figure("cycles.estimated", name, cycles, after.parts[name]) | {"part": True}
    yield _figure("bytes", "memory traffic, B", before.bytes, after.bytes)
    yield _figure("flops", "FLOPs", left.estimate.flops, right.estimate.flops)
    yield _figure("on_chip", "on chip at most, B", before.on_chip, after.on_chip)
    for name, help_, of in _COUNTS:
        yield _figure(help_, name, of(left), of(right), better=False)


_COUNTS: tuple[tuple[str, str, Callable[[Session], int]], ...] = (
    ("regions", "count.regions", lambda session: len(session.regions)),
    ("graph nodes", "nodes", lambda session: sum(len(r.graph.nodes) for r in session.regions)),
    ("lanes", "lanes", lambda session: lanes(session.design.settings)),
)


def _figure(
    help_: str, name: str, left: float | None, right: float | None, better: bool = True
) -> Row:
    """A figure of both; ``better``: whether less of it is better."""
    known = left is not None and right is not None
    more = round(right) - round(left) if left is not None and right is not None else 0
    share = f" ({more / left:+.0%})".replace("-", "−").replace("%", " %") if more and left else ""
    return {
        "help": help_,
        "name": name,
        "left": _number(left),
        "right": _number(right),
        "change": f"{change(more)}{share}" if known else "",
        "verdict": ("worse" if more > 0 else "better" if more else "") if better else "",
    }


def _number(value: float | None) -> str:
    return "—" if value is None else count(value, "").rstrip()


def _directives(session: Session) -> list[str]:
    return [text.strip() for text in session.built.resolved.split(";")]


def _lines(left: list[str], right: list[str]) -> Iterator[tuple[str, str, str]]:
    """Lines beside each other, and whether they are the ``same``."""
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        ours, theirs = left[a:b], right[c:d]
        for k in range(max(len(ours), len(theirs))):
            pair = [lines[k] if k < len(lines) else "" for lines in (ours, theirs)]
            yield pair[0], pair[1], "same" if tag == "equal" else "changed"


# The parts of the design on the left ------------------------------------------------------------


def _of_left(name: str, session: Session) -> Any:
    """A part of the design on the left; None without one."""
    other = beside(session)
    return None if other is None else PARTS[name](other)


def _graph_key(session: Session) -> str:
    other = beside(session)
    return "" if other is None else graph.key(other)


def _draw_graph(session: Session, lay_out: Draw) -> Iterator[graph.GraphPicture]:
    other = beside(session)
    return iter(()) if other is None else graph.draw(other, lay_out)


def _graph_parts(session: Session, picture: graph.GraphPicture | None) -> Mapping[str, str]:
    other = beside(session)
    shown = None if other is None or picture is None else graph.view(other, picture)
    return {f"{LEFT}graph": json.dumps(shown)}


for _name in _AT_ONCE:
    page_part(f"{LEFT}{_name}")(partial(_of_left, _name))
LATER[f"{LEFT}graph"] = LaterPart(
    _graph_key, _draw_graph, _graph_parts, LATER["graph"].given_up, end=LATER["graph"].end
)
