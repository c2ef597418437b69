"""The graph of a session, drawn: where everything is, what it is called, what it stands for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.wording import counted
from fuseloom_workbench.base.parts import LATER, Draw, LaterPart, page_part
from fuseloom_workbench.graph import layout
from fuseloom_workbench.graph.drawing import node_key
from fuseloom_workbench.graph.folding import Box, GroupLevel
from fuseloom_workbench.graph.matching import NodeSignature
from fuseloom_workbench.graph.net import MISSING, NEW, Face
from fuseloom_workbench.graph.sheet import Sheet, frames_of, sheet_of
from fuseloom_workbench.state.session import Session

FAMILIES = {
    "scan": "scan",
    "repeat": "repeat",
    "join": "join",
    "locate": "locate, drop",
    "values": "values",
    "compute": "compute",
    "acc": "accumulate",
    "write": "write, route",
}
"""The names of the families for people, by the token of their colour."""


@dataclass(frozen=True)
class GraphPicture:
    """The layout of a graph, as :func:`layout.draw` gives it, or the reason why there is none."""

    text: str = ""
    problem: str = ""
    whole: ClassVar[bool] = True


def dot(session: Session) -> str:
    """The graph in Graphviz's language, as the session wants it drawn."""
    return sheet_of(session).dot


def stopped(session: Session) -> bool:
    """Return whether the current drawing was cancelled."""
    return session.drawing.stopped == sheet_of(session).key


@page_part("drawing")
def wanted(session: Session) -> dict[str, Any]:
    """Return the wanted drawing, whether or not it exists yet."""
    sheet = sheet_of(session)
    return {
        "key": sheet.key,
        "nodes": sheet.folded.size,
        "lines": len(sheet.folded.bundles),
        "seconds": round(sheet.seconds, 1),
        "stopped": stopped(session),
        "groups": {
            key: [group.level.value, key in sheet.closed]
            for key, group in sheet.drawn.net.groups.items()
        },
    }


def key(session: Session) -> str:
    """All that a picture depends on; nothing if its drawing was cancelled."""
    return "" if stopped(session) else dot(session)


def draw(session: Session, lay_out: Draw) -> Iterator[GraphPicture]:
    """Make the picture of the region shown."""
    return _drawn(dot(session), wanted(session)["nodes"], session.most_nodes, lay_out)


def _drawn(text: str, nodes: int, most: int, lay_out: Draw) -> Iterator[GraphPicture]:
    if nodes > most:
        yield GraphPicture(
            problem=f"a graph of {counted(nodes, 'node')}; here, graphs up to "
            f"{counted(most, 'node')} are drawn"
        )
        return
    try:
        yield GraphPicture(lay_out(text, "places"))
    except RuntimeError as problem:
        yield GraphPicture(problem=str(problem))
    except MemoryError:
        yield GraphPicture(problem="graph layout needs more memory than there is for it")


def _given_up(_: Session, picture: GraphPicture | None, seconds: float) -> GraphPicture:
    problem = f"drawing this graph took more than {seconds:g} s and was given up"
    return picture or GraphPicture(problem=problem)


def _parts(session: Session, picture: GraphPicture | None) -> dict[str, str]:
    return {} if picture is None else {"graph": json.dumps(view(session, picture))}


LATER["graph"] = LaterPart(key, draw, _parts, _given_up, end=layout.end)


def view(session: Session, picture: GraphPicture) -> dict[str, Any]:
    """A drawing with the names of all that is in it."""
    sheet = sheet_of(session)
    drawn = sheet.drawn
    pinned = session.reference
    return {
        "key": sheet.key,
        "problem": picture.problem,
        "name": session.current.name,
        "region": session.region,
        "regions": len(session.regions),
        "direction": session.direction,
        "clusters": session.clusters,
        "whole": session.drawing.whole,
        "asked": session.drawing.against,
        "against": session.drawing.against if sheet.compares else "",
        "pinned": "" if pinned is None else pinned.name,
        "told": sheet.told,
        "note": sheet.note,
        **_placed(sheet, picture.text, session.clusters),
        "nodes": dict(_nodes(sheet)),
        "boxes": {box.key: _box(sheet, box) for box in sheet.folded.boxes},
        "groups": {
            key: {"name": g.name, "level": g.level.value, "closed": key in sheet.closed}
            for key, g in drawn.net.groups.items()
        },
        "legend": _legend(drawn.faces),
        "start": _start(session, sheet),
    }


def _start(session: Session, sheet: Sheet) -> str:
    """The node or box where a visitor begins to look: what keeps its nodes busy longest."""
    if session.drawing.whole:
        return ""
    expected = session.estimate.regions[session.region]
    busiest = node_key(expected.bottleneck.node) if expected.nodes else ""
    return next((box.key for box in sheet.folded.boxes if busiest in box.members), busiest)


def _placed(sheet: Sheet, picture: str, framed: bool) -> dict[str, Any]:
    """Things drawn, lines and frames with their places; without these if there is no picture."""
    places = json.loads(picture) if picture else None
    frames = frames_of(sheet, framed)
    threads = sheet.drawn.threads
    lines = []
    for k, bundle in enumerate(sheet.folded.bundles):
        first = threads[bundle.lines[0]]
        states = {threads[x].state for x in bundle.lines}
        kinds = {threads[x].kind for x in bundle.lines}
        lines.append(
            {
                "ends": [bundle.start, bundle.end],
                "path": places["lines"][str(k)] if places else "",
                "kind": first.kind if len(kinds) == 1 else "many",
                "state": states.pop() if len(states) == 1 else "",
                "of": list(bundle.lines),
                "label": first.label if len(bundle.lines) == 1 else "",
            }
        )
    return {
        "size": places["size"] if places else None,
        "places": {s.key: places["nodes"][str(k)] for k, s in enumerate(sheet.shapes)}
        if places
        else {},
        "lines": lines,
        "frames": {g: places["frames"][str(k)] for k, g in enumerate(frames)} if places else {},
    }


def _nodes(sheet: Sheet) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every node, drawn or in a box: what it is called, and by what it is found."""
    times: Counter[NodeSignature] = Counter()
    inside = {key: box.key for box in sheet.folded.boxes for key in box.members}
    groups = {item.key: list(item.groups) for item in sheet.drawn.net.items}
    for key, face in sheet.drawn.faces.items():
        mark = face.mark
        entry = primitive(mark.op)
        times[mark] += 1
        yield (
            key,
            {
                "label": face.label,
                "token": face.token,
                "glyph": face.glyph,
                "copy": face.copy,
                "state": face.state,
                "box": inside.get(key, ""),
                "groups": groups[key],
                "same": _identity(mark, times[mark]),
                "title": entry.title,
                "find": " ".join(
                    (face.label, entry.title, mark.op, f"#{face.node}", mark.statement)
                ).lower(),
                "index": mark.index,
                "tensor": mark.tensor,
                "number": face.node,
                "statement": mark.statement,
            },
        )


def _identity(mark: NodeSignature, times: int) -> str:
    """Return the identity of a node in the drawing after an edit."""
    parts = (mark.op, mark.statement, mark.index, mark.tensor, mark.detail, mark.label, times)
    return "|".join(map(str, parts))


def _box(sheet: Sheet, box: Box) -> dict[str, Any]:
    drawn = sheet.drawn
    group = drawn.net.groups[box.key]
    members = set(box.members)
    kernels = {item.groups[-1] for item in drawn.net.items if item.key in members}
    states = Counter(drawn.faces[key].state for key in box.members)
    return {
        "name": group.name,
        "level": group.level.value,
        "members": list(box.members),
        "statements": " ".join(dict.fromkeys(drawn.faces[key].mark.statement for key in members)),
        "kernels": len(kernels) if group.level is GroupLevel.REGION else 0,
        "inside": len(box.inside),
        NEW: states[NEW],
        MISSING: states[MISSING],
    }


def _legend(faces: Mapping[str, Face]) -> list[dict[str, str]]:
    """The families of primitives that occur, with their signs and the tokens of their colours."""
    signs: dict[str, dict[str, None]] = {}
    for face in faces.values():
        signs.setdefault(face.token, {})[face.glyph] = None
    return [
        {"text": FAMILIES[token], "token": token, "glyph": next(iter(signs[token]))}
        for token in FAMILIES
        if token in signs
    ]
