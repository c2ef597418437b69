"""Designs and sessions as plain data, so that another process or a later visit can go on.

What is read back may come from a browser: names, numbers and texts are checked, and each design
is built by the engine like one that was drawn by hand.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from msgspec import Meta

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine.text import parse_machine, print_machine
from fuseloom.dataflow.why.promises import Promise
from fuseloom.errors import FuseloomError
from fuseloom.results.declarations import Positive, Record, read
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


@dataclass(frozen=True)
class SavedDesign(Record):
    """A design as plain data.

    Attributes
    ----------
    schedule : str
        The orders of single statements and the further directives, as text.
    machine : str
        The machine's text.
    uploads : tuple
        Tensor, key and label of each.
    """

    model: str
    data: str
    seed: Annotated[int, Meta(ge=0, lt=1 << 32)]
    cuts: tuple[Positive, ...]
    orders: dict[str, tuple[str, ...]]
    schedule: str
    text: str | None
    machine: str
    where_possible: bool
    options: dict[str, Any]
    as_written: bool
    uploads: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, design: Design) -> SavedDesign:
        """A design's decisions, from which :meth:`design` makes an equal one."""
        return cls(
            design.model,
            design.data,
            design.seed,
            tuple(sorted(design.cuts)),
            dict(design.orders),
            str(Schedule((), design.wishes, design.settings)),
            design.text,
            print_machine(design.machine),
            design.where_possible,
            dict(design.options),
            design.as_written,
            tuple((u.tensor, u.key, u.label) for u in design.uploads),
        )

    def design(self) -> Design:
        """The design.

        Raises
        ------
        FuseloomError
            If it names what there is not, or a text is none of its language.
        """
        known_names(self.model, self.data)
        directives = Schedule.parse(self.schedule)
        return Design(
            self.model,
            self.data,
            self.seed,
            frozenset(self.cuts),
            self.orders,
            directives.orders,
            self.text or None,
            directives.settings,
            parse_machine(self.machine),
            self.where_possible,
            chosen_options(self.model, self.data, self.options),
            self.as_written,
            tuple(Upload(*upload) for upload in self.uploads),
        )


def read_design(data: Any) -> Design:
    """Read a saved design.

    Raises
    ------
    FuseloomError
        If it is something else, or names what there is not.
    """
    return read(SavedDesign, data, "design").design()


@dataclass(frozen=True)
class SavedRun(Record):
    """A run as plain data; the fields are those of :class:`KeptRun`."""

    configuration: str
    problem: str
    name: str
    preset: bool
    design: SavedDesign
    estimated: float
    run: dict[str, Any]
    expected: EstimateSummary | None
    searched: bool

    @classmethod
    def of(cls, kept: KeptRun) -> SavedRun:
        """A run with its design, from which :meth:`kept` makes an equal one."""
        own = {field.name: getattr(kept, field.name) for field in fields(cls)}
        return cls(**{**own, "design": SavedDesign.of(kept.design), "run": kept.run.to_dict()})

    def kept(self) -> KeptRun:
        """The run.

        Raises
        ------
        FuseloomError
            If its design or its record is something else.
        """
        run = RunRecord.from_dict(self.run)
        return KeptRun(**{**vars(self), "design": self.design.design(), "run": run})


def packed(kept: KeptRun) -> str:
    """A run as a short text, which :func:`unpacked` reads: what a server holds of each.

    Between the processes of one server only; a file or a browser is never given it, nor asked.
    """
    text = json.dumps(SavedRun.of(kept).to_dict(), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode())).decode()


def unpacked(text: str) -> KeptRun:
    """Read what :func:`packed` gave.

    Raises
    ------
    FuseloomError
        If a run lies in it that is something else.
    """
    return read(SavedRun, json.loads(zlib.decompress(base64.b64decode(text))), "run").kept()


def save(session: Session) -> dict[str, Any]:
    """A session as plain data, its runs left out."""
    past, future = session.steps
    return {
        "version": VERSION,
        "design": SavedDesign.of(session.design).to_dict(),
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
        kept.insert(0, SavedDesign.of(design).to_dict())
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
    past, future = ([read_design(d) for d in _list(saved, k)] for k in ("past", "future"))
    records = session.records if kept is None else {k.configuration: k for k in kept}
    given = saved.get("promises", {})
    kept_promises = list(given.items())[-PROMISES:] if isinstance(given, dict) else []
    promises = {str(key): read(Promise, p, "promise") for key, p in kept_promises}
    session.go_to(read_design(saved.get("design")), past, future, records)
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
