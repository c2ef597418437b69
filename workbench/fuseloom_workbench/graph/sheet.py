"""The drawing of a session: the graph, folded and compared, as text for Graphviz.

Things drawn are numbered in the order of the program, so that the same text, and so the same
drawing, serves whatever the nodes are called, and parts that stay keep their place as far as
Graphviz lets them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.samml.dot import MAX_LABEL
from fuseloom.errors import FuseloomError
from fuseloom.wording import counted
from fuseloom_workbench.graph.folding import (
    MOST,
    Box,
    FoldedGraph,
    Group,
    GroupLevel,
    Item,
    closed_groups,
    fold,
)
from fuseloom_workbench.graph.net import MEMORY, MISSING, NEW, DrawnGraph, compared, drawn_of
from fuseloom_workbench.state.design import build
from fuseloom_workbench.state.edits import with_schedule
from fuseloom_workbench.state.look import GraphDrawing
from fuseloom_workbench.state.session import Session

CHARACTER, BESIDE = 6.6, 34.0
"""Points that a letter of a label takes, and what is beside the letters."""
NODE, COPY, BOX = 26.0, 10.0, 46.0
"""Heights of what is drawn, in points."""
NARROWEST = 168.0
"""Width of a box, for its figures."""
SECONDS = 3e-6
"""The seconds of Graphviz per squared number of lines; measured from 100 to 1,800 lines."""


@dataclass(frozen=True)
class Sheet:
    """The drawing of a session.

    Attributes
    ----------
    closed : frozenset of str
        Groups that are folded.
    auto : GroupLevel or None
        What was folded because there is too much; None if that was not needed.
    told : str
        What the comparison says, or why there is none.
    """

    drawn: DrawnGraph
    folded: FoldedGraph
    closed: frozenset[str]
    auto: GroupLevel | None
    told: str
    compares: bool
    dot: str

    @property
    def key(self) -> str:
        """Short for the text."""
        return _short(self.dot)

    @property
    def shapes(self) -> tuple[Item | Box, ...]:
        """The drawn shapes, in the order of the text."""
        return (*self.folded.items, *self.folded.boxes)

    @property
    def open_groups(self) -> list[str]:
        """Groups that are not folded, nor in a folded one, in the order of the text."""
        seen: dict[str, None] = {}
        for shape in self.shapes:
            seen.update(dict.fromkeys(_around(shape)))
        return list(seen)

    @property
    def note(self) -> str:
        """Why there are boxes that nobody asked for."""
        if self.auto is None:
            return ""
        what = "kernels are" if self.auto is GroupLevel.KERNEL else "kernels and regions are"
        return (
            f"{counted(len(self.drawn.faces), 'node')}, more than {MOST}: {what} folded. "
            "Click a box to open it."
        )

    @property
    def seconds(self) -> float:
        """About how long Graphviz takes for it."""
        return SECONDS * len(self.folded.bundles) ** 2


def sheet_of(session: Session) -> Sheet:
    """Return the current drawing of a session."""
    asked = session.drawing
    compilation, pinned = session.built.compilation, session.reference
    theirs = pinned.configuration if pinned and asked.against == "A" else ""
    key = (session.region, asked, session.clusters, session.direction, theirs)
    known = vars(session).get("_sheet")
    if known is None or known[0] is not compilation or known[1] != key:
        known = vars(session)["_sheet"] = compilation, key, _made(session, asked)
    sheet: Sheet = known[2]
    return sheet


def _made(session: Session, asked: GraphDrawing) -> Sheet:
    built, shown = session.built, session.region
    drawn = drawn_of(built, shown, asked.whole)
    told, compares = "", False
    if asked.against:
        try:
            others, name = _others(session, asked)
            drawn = compared(drawn, built, others, shown, asked.whole)
            told, compares = _words(drawn, name), True
        except FuseloomError as reason:
            told = f"Nothing is compared: {reason}"
    closed, auto = closed_groups(drawn.net, dict(asked.folds))
    folded = fold(drawn.net, closed)
    sheet = Sheet(drawn, folded, closed, auto, told, compares, "")
    text = "\n".join(_text(sheet, session.direction, session.clusters))
    short, times = asked.again
    again = f"\n// {times}" if short == _short(text) else ""
    return replace(sheet, dot=text + again)


def _short(dot: str) -> str:
    return sha256(dot.partition("\n//")[0].encode()).hexdigest()[:16]


# Compared with ------------------------------------------------------------------------------


def _others(session: Session, asked: GraphDrawing) -> tuple[tuple[CompiledRegion, ...], str]:
    """The regions that are compared with, and what they are called."""
    built = session.built
    if asked.against == "A":
        pinned = session.reference
        if pinned is None:
            raise FuseloomError("no run is pinned", hint="pin a run as A in the list of runs")
        own = built.design
        if (pinned.design.model, pinned.design.text) != (own.model, own.text):
            raise FuseloomError("run A is of another program", hint="pin a run of this one")
        if pinned.configuration == built.configuration:
            raise FuseloomError("run A is what is shown", hint="change something, or pin another")
        name, key, design = f"run A ({pinned.name})", pinned.configuration, pinned.design
    else:
        statements = [s.out.tensor for s in session.current.region.statements]
        span = "" if asked.whole else f" {statements[0]}..{statements[-1]}"
        name, key = "global iteration", f"{built.configuration}\nglobal{span}"
        design = with_schedule(built.design, f"global{span}")
    known = vars(session).get("_compared")
    if known is None or known[0] != key:
        known = vars(session)["_compared"] = key, build(design, built).regions
    return known[1], name


def _words(drawn: DrawnGraph, name: str) -> str:
    """The comparison in words."""
    counts = drawn.counts
    if not counts[NEW] and not counts[MISSING]:
        return f"Against {name}: all {counted(counts['own'], 'node')} are the same."
    return (
        f"Against {name}: {counts['same']:,} of {counted(counts['own'], 'node')} are the same, "
        f"{counts[NEW]:,} are new (+); {counts[MISSING]:,} of its "
        f"{counted(counts['theirs'], 'node')} "
        "are missing (−)."
    )


# Text -----------------------------------------------------------------------------------------


def _text(sheet: Sheet, direction: str, framed: bool) -> Iterator[str]:
    yield "digraph {"
    yield f'rankdir={direction}; nodesep=0.16; ranksep=0.32; node [shape=box, label=""'
    yield "fixedsize=true]; edge [arrowsize=0.6]; fontsize=11; labeljust=l"
    number = {_key(shape): k for k, shape in enumerate(sheet.shapes)}
    groups = sheet.drawn.net.groups
    frames = [g for g in sheet.open_groups if _is_framed(groups[g], sheet, framed)]
    place = {group: k for k, group in enumerate(frames)}
    for shape in sheet.shapes:
        opened = [g for g in _around(shape) if g in place]
        for group in opened:
            yield f'subgraph cluster_{place[group]} {{ id="{place[group]}"; label="frame"'
        yield f"{number[_key(shape)]} [{_measures(shape, sheet)}]" + " }" * len(opened)
    for k, bundle in enumerate(sheet.folded.bundles):
        memory = all(sheet.drawn.threads[x].kind == MEMORY for x in bundle.lines)
        weight = f", weight={min(8, len(bundle.lines))}" if len(bundle.lines) > 1 else ""
        late = ", minlen=2" if memory else ""
        yield f'{number[bundle.start]} -> {number[bundle.end]} [id="{k}"{weight}{late}]'
    yield "}"


def frames_of(sheet: Sheet, framed: bool) -> list[str]:
    """The groups that have a frame, in the order of the text."""
    groups = sheet.drawn.net.groups
    return [g for g in sheet.open_groups if _is_framed(groups[g], sheet, framed)]


def _is_framed(group: Group, sheet: Sheet, framed: bool) -> bool:
    """Return whether an open group has a frame: a few folded kernels move less without.

    Of kernels, those that stand among as many boxes.
    """
    if framed or group.level is GroupLevel.REGION:
        return True
    kernels = [g for g in sheet.open_groups if sheet.drawn.net.groups[g].level is GroupLevel.KERNEL]
    return 0 < len(kernels) <= len(sheet.folded.boxes)


def _measures(shape: Item | Box, sheet: Sheet) -> str:
    wide, tall = size_of(shape, sheet)
    return f"width={wide / 72:.3f}, height={tall / 72:.3f}"


def size_of(shape: Item | Box, sheet: Sheet) -> tuple[float, float]:
    """Width and height of what is drawn, in points."""
    if isinstance(shape, Box):
        name = sheet.drawn.net.groups[shape.key].name
        return max(NARROWEST, math.ceil(CHARACTER * 1.1 * len(name) + BESIDE)), BOX
    face = sheet.drawn.faces[shape.key]
    if face.copy:
        return COPY, COPY
    sign = 12 if face.state else 0
    return math.ceil(CHARACTER * min(len(face.label), MAX_LABEL) + BESIDE) + sign, NODE


def _key(shape: Item | Box) -> str:
    return shape.key


def _around(shape: Item | Box) -> tuple[str, ...]:
    return shape.around if isinstance(shape, Box) else shape.groups
