"""Why a design takes its cycles, and what would help, as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.display import TOKENS
from fuseloom.dataflow.sim.explain.critical import PathCause
from fuseloom.dataflow.why.answer import Pinned, answer
from fuseloom.dataflow.why.attribution import AttributedCycles, AttributionLevel, attribution
from fuseloom.dataflow.why.difference import Change, difference
from fuseloom.dataflow.why.promises import held
from fuseloom.dataflow.why.recomputation import Recomputation
from fuseloom.dataflow.why.suggestions import Suggestion
from fuseloom.wording import counted
from fuseloom_workbench.base.parts import LATER, Draw, LaterPart
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.why import finding
from fuseloom_workbench.why.finding import Findings, asked_of, pinned_of

SHOWN = 0.002
"""Share of the cycles below which parts of the flame view are drawn as one."""
BUTTONS = 2
ROWS = 40
"""Rows of the difference that are listed."""
_COLOURS = {
    PathCause.WORK.value: "busy",
    PathCause.LATENCY.value: "busy",
    PathCause.TOKEN.value: "wait-input",
    PathCause.ROOM.value: "wait-space",
    PathCause.MEMORY.value: "wait-memory",
}


def view(session: Session, found: Findings | None) -> dict[str, Any]:
    """The answer, changes, and where the cycles went; without ``found``, what is known at once."""
    tree = _tree(session)
    wrong = _wrong(session)
    if found is not None and wrong:
        found = replace(found, suggestions=())
    return {
        "ready": found is not None and found.whole,
        "run": session.record is not None,
        "promise": None if wrong else _promise(session),
        "wrong": wrong,
        "answer": None if found is None else _answer(session, found),
        "buttons": [] if found is None else _buttons(found.suggestions),
        "suggestions": [] if found is None else [_suggestion(s) for s in found.suggestions],
        "recomputed": [] if found is None else [_recomputed(session, r) for r in found.again],
        "flame": None if tree is None else _flame(session, tree),
        "explained": session.record is not None and session.record.run.explained,
        "difference": None if tree is None or found is None else _difference(session, tree, found),
    }


def _wrong(session: Session) -> str:
    """Return the remedy for a run with wrong numbers, ``machine`` or ``report``; else empty."""
    record = session.record
    if record is None or record.run.check is None or record.run.ok:
        return ""
    return "machine" if session.machine.quirks.active else "report"


def _tree(session: Session) -> AttributedCycles | None:
    record = session.record
    return None if record is None else attribution(record.run, session.compilation)


def _kernels(session: Session) -> dict[str, str]:
    """Of tensors the box of the chain that has their statement."""
    return {tensor: unit.name for unit in session.built.units for tensor in unit.statements}


def _drawn(tensor: str, kernels: Mapping[str, str]) -> str:
    """A tensor with the kernel that it is drawn as."""
    kernel = kernels.get(tensor, tensor)
    return tensor if kernel == tensor else f"{tensor}, {kernel}"


def _answer(session: Session, found: Findings) -> dict[str, Any]:
    pinned, baseline = pinned_of(session), session.baseline
    base = None
    if baseline is not None and baseline.configuration != session.configuration:
        base = baseline.run.bytes
    told = answer(
        asked_of(session.built, session.record),
        found.repeated,
        pinned=None if pinned is None else Pinned(pinned.name, pinned.run.cycles),
        unfused_bytes=base,
    )
    return told.to_dict()


def _promise(session: Session) -> dict[str, Any] | None:
    """Return the promise of this design, and whether its run kept it."""
    promise, record = session.promised, session.record
    if promise is None:
        return None
    told = {"text": promise.text, "sentence": promise.sentence, "verdict": "", "held": True}
    if record is not None:
        verdict = held(promise, record.run)
        told |= {"verdict": verdict.text, "held": verdict.held}
    return told


def _buttons(found: Sequence[Suggestion]) -> list[dict[str, Any]]:
    """The best change, and the best one of another kind."""
    chosen = list(found[:1])
    chosen += [s for s in found[1:] if s.kind is not found[0].kind] or found[1:]
    return [_suggestion(s) for s in chosen[:BUTTONS]]


def _suggestion(made: Suggestion) -> dict[str, Any]:
    saved = ""
    if made.promise.estimated is not None and made.promise.now:
        saved = f"−{1 - made.promise.estimated / made.promise.now:.0%}".replace("%", " %")
    return {
        "text": made.text,
        "promise": made.promise.text,
        "sentence": made.promise.sentence,
        "bound": f"≥ {made.promise.least:,.0f}" if made.promise.least else "none known",
        "saves": saved,
        "applies": made.applies,
        "hardware": made.kind.hardware,
    }


def _recomputed(session: Session, one: Recomputation) -> dict[str, Any]:
    names = _kernels(session)
    about = "" if one.exact or one.measured else "est. "
    rows = ""
    if one.rows is not None and one.rows_needed is not None:
        rows = f"{one.rows:,.0f} instead of {one.rows_needed:,.0f}"
    return {
        "tensor": one.tensor,
        "kernel": names.get(one.tensor, one.tensor),
        "made": f"{about}{one.made:,.0f}",
        "needed": f"{about}{one.needed:,.0f}",
        "factor": f"{one.factor:.1f}×",
        "times": one.factor,
        "rows": rows,
        "reason": one.reason,
    }


def _flame(session: Session, tree: AttributedCycles) -> dict[str, Any]:
    """The tree with what is too narrow to be seen drawn as one, so that it still adds up."""
    least = max(1, SHOWN * tree.cycles)
    made = _piece(tree, least, "run", None)
    names = _kernels(session)
    for number, (region, part) in enumerate(zip(made["parts"], tree.parts, strict=False)):
        if number < len(session.regions):
            nodes = session.regions[number].graph.nodes
            colour = {n.id: TOKENS[primitive(n.op).family] for n in nodes}
            region["parts"] = [_coloured(p, colour, number, names) for p in region["parts"]]
            region["colour"] = f"r{number % 8 + 1}"
            region["region"] = number
        assert region["cycles"] == part.cycles
    return {**made, "text": count(tree.cycles, "cycles")}


def _piece(part: AttributedCycles, least: float, kind: str, node: int | None) -> dict[str, Any]:
    keep_all = part.level is AttributionLevel.RUN
    wide = [p for p in part.parts if p.cycles >= least or keep_all]
    narrow = [p for p in part.parts if not (p.cycles >= least or keep_all)]
    node = part.node if part.node is not None else node
    parts = [_piece(p, least, p.level.value, node) for p in wide]
    if sum(p.cycles for p in narrow):
        name = f"{len(narrow):,} smaller {'parts' if len(narrow) > 1 else 'part'}"
        parts.append(_leaf(name, "rest", sum(p.cycles for p in narrow)))
    return {**_leaf(part.name, kind, part.cycles), "node": node, "parts": parts}


def _leaf(name: str, level: str, cycles: int) -> dict[str, Any]:
    return {
        "name": name,
        "level": level,
        "cycles": cycles,
        "node": None,
        "region": None,
        "colour": _COLOURS.get(name, "line2"),
        "parts": [],
    }


def _coloured(
    piece: dict[str, Any], colour: dict[int, str], region: int, names: dict[str, str]
) -> dict[str, Any]:
    """With its region and colour; statements with the kernel that they are drawn as."""
    found = {**piece, "region": region}
    if piece["level"] == "node":
        found["colour"] = colour.get(piece["node"], "line2")
    if piece["level"] == "statement":
        found["name"] = _drawn(piece["name"], names)
    found["parts"] = [_coloured(p, colour, region, names) for p in piece["parts"]]
    return found


def _difference(session: Session, tree: AttributedCycles, found: Findings) -> dict[str, Any] | None:
    pinned, record = pinned_of(session), session.record
    if pinned is None or record is None or found.pinned is None:
        return None
    made = difference(found.pinned, tree)
    kernels = _kernels(session)
    return {
        "a": pinned.name,
        "b": record.name,
        "cycles": [f"{made.a:,}", f"{made.b:,}", _signed(made.more)],
        "tables": [
            {"name": "statement", **_rows(made.statements, kernels)},
            {"name": "node", **_rows(made.nodes, {})},
            {"name": "cause", **_rows(made.causes, {})},
        ],
    }


def _rows(changes: Sequence[Change], kernels: Mapping[str, str]) -> dict[str, Any]:
    """The largest changes, and the sum of the others as one."""
    shown, rest = changes[:ROWS], changes[ROWS:]
    rows = [_row(replace(c, name=_drawn(c.name, kernels))) for c in shown]
    if rest:
        a, b = (sum((c.a if k else c.b) or 0 for c in rest) for k in (1, 0))
        rows.append(_row(Change(f"{counted(len(rest), 'other')}", "", a, b)))
    return {"rows": rows}


def _row(change: Change) -> dict[str, Any]:
    return {
        "name": change.name,
        "within": change.within,
        "a": "–" if change.a is None else f"{change.a:,}",
        "b": "–" if change.b is None else f"{change.b:,}",
        "more": _signed(change.more),
        "slower": change.more > 0,
        "same": change.more == 0,
    }


def _signed(cycles: int) -> str:
    return f"{cycles:+,}".replace("-", "−") if cycles else "0"


def _work(session: Session, _: Draw) -> Iterator[Findings]:
    return finding.find(session)


def _given_up(_: Session, found: Findings | None, __: float) -> Findings:
    return replace(found or Findings((), ()), whole=True)


def _parts(session: Session, found: Findings | None) -> dict[str, str]:
    session.suggested = {} if found is None else {s.text: s for s in found.suggestions}
    return {"why": json.dumps(view(session, found))}


LATER["why"] = LaterPart(finding.key, _work, _parts, _given_up)
