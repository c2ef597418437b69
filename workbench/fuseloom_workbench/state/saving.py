"""Designs and sessions as plain data, so that another process or a later visit can go on.

What is read back may come from a browser: names, numbers and texts are checked, and each design
is built by the engine like one that was drawn by hand.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine.text import parse_machine, print_machine
from fuseloom.dataflow.why.promises import Promise
from fuseloom.errors import FuseloomError
from fuseloom.results.declarations import read
from fuseloom.results.record import RunRecord
from fuseloom_workbench.state.design import Design
from fuseloom_workbench.state.expected import EstimateSummary
from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.look import GraphDrawing
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.runs import PROMISES
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import chosen_options, known_names

VERSION = 1
FOLDS = 2000
"""Kernels and regions whose folding is restored."""
STEPS = 50
"""Steps back and forth that are saved."""
TEXT = 1 << 20
"""Characters of all saved steps together."""


def design_to_dict(design: Design) -> dict[str, Any]:
    """A design as plain data, which :func:`design_from_dict` reads back to an equal one."""
    return {
        "model": design.model,
        "data": design.data,
        "seed": design.seed,
        "cuts": sorted(design.cuts),
        "orders": {name: list(order) for name, order in design.orders.items()},
        "schedule": str(Schedule((), design.wishes, design.settings)),
        "text": design.text,
        "machine": print_machine(design.machine),
        "where_possible": design.where_possible,
        "options": dict(design.options),
        "as_written": design.as_written,
        "uploads": [[u.tensor, u.key, u.label] for u in design.uploads],
    }


def design_from_dict(data: Any) -> Design:
    """Read what :func:`design_to_dict` gave.

    Raises
    ------
    FuseloomError
        If it is something else, or names what there is not.
    """
    try:
        model, source, text = data["model"], data["data"], data["text"]
        cuts = [int(cut) for cut in data["cuts"]]
        orders = {str(k): tuple(map(str, order)) for k, order in data["orders"].items()}
        seed, where_possible = int(data["seed"]), bool(data["where_possible"])
        as_written = bool(data.get("as_written", False))
        uploads = tuple(Upload(*map(str, given)) for given in data.get("uploads", ()))
        schedule, machine, options = data["schedule"], data["machine"], dict(data["options"])
        texts = (model, source, schedule, machine, text or "")
        if not all(isinstance(x, str) for x in texts) or not 0 <= seed < 1 << 32:
            raise TypeError
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise FuseloomError("a saved design that is none", hint="start a new one") from None
    known_names(model, source)
    directives = Schedule.parse(schedule)
    return Design(
        model,
        source,
        seed,
        frozenset(cut for cut in cuts if cut > 0),
        orders,
        directives.orders,
        text or None,
        directives.settings,
        parse_machine(machine),
        where_possible,
        chosen_options(model, source, options),
        as_written,
        uploads,
    )


def kept_to_dict(kept: KeptRun) -> dict[str, Any]:
    """A run as plain data, which :func:`kept_from_dict` reads back."""
    return {
        "configuration": kept.configuration,
        "problem": kept.problem,
        "name": kept.name,
        "preset": kept.preset,
        "design": design_to_dict(kept.design),
        "estimated": kept.estimated,
        "run": kept.run.to_dict(),
        "expected": None if kept.expected is None else kept.expected.to_dict(),
        "searched": kept.searched,
    }


def kept_from_dict(data: Mapping[str, Any]) -> KeptRun:
    """Read what :func:`kept_to_dict` gave.

    Raises
    ------
    FuseloomError
        If it is something else.
    """
    return KeptRun(
        configuration=data["configuration"],
        problem=data["problem"],
        name=data["name"],
        preset=data["preset"],
        design=design_from_dict(data["design"]),
        estimated=float(data["estimated"]),
        run=RunRecord.from_dict(data["run"]),
        expected=EstimateSummary.read(data.get("expected")),
        searched=data.get("searched") is True,
    )


def packed(kept: KeptRun) -> str:
    """A run as a short text, which :func:`unpacked` reads: what a server holds of each.

    Between the processes of one server only; a file or a browser is never given it, nor asked.
    """
    text = json.dumps(kept_to_dict(kept), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode())).decode()


def unpacked(text: str) -> KeptRun:
    """Read what :func:`packed` gave.

    Raises
    ------
    FuseloomError
        If a run lies in it that is something else.
    """
    return kept_from_dict(json.loads(zlib.decompress(base64.b64decode(text))))


def save(session: Session) -> dict[str, Any]:
    """A session as plain data, its runs left out."""
    past, future = session.steps
    return {
        "version": VERSION,
        "design": design_to_dict(session.design),
        "past": _steps(past),
        "future": _steps(future),
        "look": {
            "region": session.region,
            "cell": list(session.cell),
            "node": session.node,
            "clusters": session.clusters,
            "direction": session.direction,
            "pinned": session.pinned,
            "moment": list(session.moment),
            "folds": dict(session.drawing.folds),
            "whole": session.drawing.whole,
            "against": session.drawing.against,
        },
        "promises": {key: promise.to_dict() for key, promise in session.promises.items()},
    }


def _steps(designs: list[Design]) -> list[dict[str, Any]]:
    """The last steps; those whose texts are too long are left out, and all before them."""
    kept: list[dict[str, Any]] = []
    left = TEXT
    for design in reversed(designs[-STEPS:]):
        left -= len(design.text or "") + 500
        if left < 0:
            break
        kept.insert(0, design_to_dict(design))
    return kept


def restore(session: Session, saved: Any, kept: list[KeptRun] | None = None) -> None:
    """Bring a session to a saved state; ``kept`` are the runs it has.

    Raises
    ------
    FuseloomError
        If the design cannot be built, or it is none; the session is as before then.
    """
    if not isinstance(saved, dict) or saved.get("version") != VERSION:
        raise FuseloomError("a saved session of another version", hint="start a new one")
    past, future = ([design_from_dict(d) for d in _list(saved, k)] for k in ("past", "future"))
    records = session.records if kept is None else {k.configuration: k for k in kept}
    given = saved.get("promises", {})
    kept_promises = list(given.items())[-PROMISES:] if isinstance(given, dict) else []
    promises = {str(key): read(Promise, p, "promise") for key, p in kept_promises}
    session.go_to(design_from_dict(saved.get("design")), past, future, records)
    look = saved.get("look")
    if isinstance(look, dict):
        _look(session, look)
    session.promises = promises


def _look(session: Session, look: Mapping[str, Any]) -> None:
    """Restore the selection and the drawing, as far as they make sense."""
    match look:
        case {"region": int(region)}:
            session.select_region(region)
    match look:
        case {"cell": [str(column), str(row)]} if (column, row) in session.current.table.cells:
            session.select_cell(column, row)
    match look:
        case {"node": int(node)} if node >= 0:
            session.select_node(node)
    match look:
        case {"moment": [int(cycle), int(node)]}:
            session.step_to(cycle, node)
    match look:
        case {
            "folds": dict(folds),
            "whole": bool(whole),
            "against": "" | "A" | "global" as against,
        }:
            known = ((str(k), v) for k, v in list(folds.items())[:FOLDS] if isinstance(v, bool))
            session.drawing = GraphDrawing(tuple(sorted(known)), whole, against)
    for name in ("clusters", "direction", "pinned"):
        if name in look:
            try:
                setattr(session, name, look[name])
            except ValueError:  # no such direction
                continue


def _list(saved: Mapping[str, Any], name: str) -> list[Any]:
    steps = saved.get(name)
    return steps[-STEPS:] if isinstance(steps, list) else []
