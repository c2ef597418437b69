"""Windows of the timeline, from the files of events: columns, bars, figures of an area, traces.

Cycles are those of the run: its regions come one after another.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.events.files import known_file
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.events.trace import PathPiece, TraceRegion, write_trace
from fuseloom.dataflow.sim.events.windows import (
    Area,
    Figures,
    area_of,
    edges_of,
    intervals_of,
    most_intervals,
)
from fuseloom.dataflow.sim.observe import IDLE
from fuseloom.errors import FuseloomError
from fuseloom.exploration.limiting import allow_mapping
from fuseloom.results.record import RegionRecord
from fuseloom.wording import counted
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.state.look import Window
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.rows import (
    Place,
    TimelineRow,
    TimelineRows,
    begins,
    rows_of,
    shown_runs,
)

BARS = 20_000
"""Most intervals that are shown as bars, each with its exact start and length."""

TRACE = 200_000
"""Most events of a trace that goes to the browser."""

OPEN_STORES = 64
"""Files that are held open: those of two runs of at most 32 regions."""

Int64 = npt.NDArray[np.int64]
_Parts = list[tuple[EventStore, int, list[int]]]


class _MappedStore(EventStore):
    """A store whose file a process with little memory may map."""

    def __init__(self, path: Path) -> None:
        self._size = path.stat().st_size if path.is_file() else 0
        allow_mapping(self._size)
        super().__init__(path)

    def __del__(self) -> None:
        allow_mapping(-self._size)


@lru_cache(maxsize=OPEN_STORES)
def _opened(path: Path) -> EventStore:
    return _MappedStore(path)


def has_events(kept: KeptRun) -> bool:
    """Return whether the files of all regions of a run are there."""
    return all(_file(region) is not None for region in kept.run.regions)


def _file(region: RegionRecord) -> Path | None:
    name = (region.timeline or {}).get("events")
    if not isinstance(name, str):
        return None
    try:
        path = known_file(name)
    except ValueError:
        return None
    return path if path.is_file() else None


def store_of(region: RegionRecord) -> EventStore:
    """The waits of a region.

    Raises
    ------
    FuseloomError
        If they are not there.
    """
    path = _file(region)
    if path is None:
        raise FuseloomError("this run kept no events", hint="run again with events")
    store = _opened(path)
    if store.nodes != len(region.nodes or ()):
        raise FuseloomError("these are the events of another run", hint="run again with events")
    return store


@page_part("window")
def answer(session: Session) -> dict[str, Any]:
    """Return the answer to the last request about the timeline; empty without one."""
    asked = session.window
    here, there = shown_runs(session)
    if asked is None or here is None:
        return {}
    return _remembered(_Question(asked, here, there, rows_of(session)))


class _Question:
    """A question about runs; compared by the very objects, which never change."""

    def __init__(
        self, window: Window, here: KeptRun, there: KeptRun | None, rows: TimelineRows
    ) -> None:
        self.window = window
        self.here = here
        self.there = there
        self.rows = rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Question) and all(
            a is b for a, b in zip(self._parts, other._parts, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self.window)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.window, self.here, self.there, self.rows

    @property
    def runs(self) -> Iterator[tuple[str, KeptRun]]:
        """The runs that kept events, by the letter they are called."""
        for letter, kept in (("a", self.there), ("b", self.here)):
            if kept is not None and has_events(kept):
                yield letter, kept

    def members(self, number: int) -> list[TimelineRow]:
        """The rows that a number stands for: one, or a group's."""
        rows = self.rows.rows
        if number < 0:
            return [row for row in rows if row.group == -1 - number]
        return [rows[number]] if number < len(rows) else []


_ANSWERS: dict[str, Callable[[_Question], dict[str, Any]]] = {}


@lru_cache(maxsize=4)
def _remembered(question: _Question) -> dict[str, Any]:
    asked = question.window
    about = {"kind": asked.kind, "number": asked.number, "from": asked.start, "to": asked.stop}
    try:
        return {**about, **_ANSWERS[asked.kind](question)}
    except FuseloomError as reason:
        return {**about, "problem": str(reason)}


def _places(rows: Sequence[TimelineRow], letter: str) -> list[Place]:
    found = (row.here if letter == "b" else row.there for row in rows)
    return [place for place in found if place is not None]


def _by_region(kept: KeptRun, places: Sequence[Place]) -> _Parts:
    """Stores of the regions in which some nodes are, where those begin, and the nodes."""
    starts = begins(kept.run)
    nodes: dict[int, list[int]] = {}
    for region, node in places:
        nodes.setdefault(region, []).append(node)
    return [(store_of(kept.run.regions[r]), starts[r], nodes[r]) for r in sorted(nodes)]


# Columns and bars -------------------------------------------------------------------------


def _window(question: _Question) -> dict[str, Any]:
    asked = question.window
    edges = edges_of(asked.start, asked.stop, asked.width)
    made: dict[str, Any] = {"columns": len(edges) - 1, "rows": list(asked.rows)}
    members = [question.members(number) for number in asked.rows]
    bars = 0
    for letter, kept in question.runs:
        cells = np.stack([_cells(kept, _places(rows, letter), edges) for rows in members] or
                         [np.zeros((IDLE, len(edges) - 1), np.int64)])  # fmt: skip
        made[letter] = _packed(cells)
        places = [p for rows in members if len(rows) == 1 for p in _places(rows, letter)]
        bars += _count(kept, places, asked)
    made["bars"] = None
    if bars <= BARS:
        made["bars"] = {
            letter: [
                _bars(kept, _places(rows, letter), asked) if number >= 0 else []
                for number, rows in zip(asked.rows, members, strict=True)
            ]
            for letter, kept in question.runs
        }
    return made


def _cells(kept: KeptRun, places: Sequence[Place], edges: Int64) -> Int64:
    """Exact cycles of some nodes together in each activity but idleness, (4, columns)."""
    made = np.zeros((IDLE, len(edges) - 1), np.int64)
    for store, start, nodes in _by_region(kept, places):
        clocks = np.clip(edges - start, 0, store.cycles)
        if clocks[0] == clocks[-1]:
            continue
        for node in nodes:
            made += np.diff(store.spent(node, clocks)[:IDLE], axis=1)
    return made


def _packed(cells: Int64) -> dict[str, Any]:
    """Numbers in the narrowest type, as text: rows, then activities, then columns."""
    most = int(cells.max(initial=0))
    kind = next(k for k in (np.uint8, np.uint16, np.uint32, np.float64)
                if k is np.float64 or most <= np.iinfo(k).max)  # fmt: skip
    data = np.ascontiguousarray(cells, np.dtype(kind).newbyteorder("<"))
    return {"bytes": data.itemsize, "data": base64.b64encode(data.tobytes()).decode()}


def _count(kept: KeptRun, places: Sequence[Place], asked: Window) -> int:
    """No fewer intervals than there are of some nodes in a window."""
    return sum(
        most_intervals(store, max(0, asked.start - start), max(0, asked.stop - start), nodes)
        for store, start, nodes in _by_region(kept, places)
        if start < asked.stop and asked.start < start + store.cycles
    )


def _bars(kept: KeptRun, places: Sequence[Place], asked: Window) -> list[list[int]]:
    """Intervals of a node as activity, first cycle, length."""
    made = []
    for store, start, nodes in _by_region(kept, places):
        if start >= asked.stop or asked.start >= start + store.cycles:
            continue
        found = intervals_of(store, max(0, asked.start - start), asked.stop - start, nodes)
        keep = found.activity != IDLE
        columns = (found.activity, found.start + start, found.stop - found.start)
        made += np.stack(columns, axis=1)[keep].tolist()
    return made


# Figures of an area -----------------------------------------------------------------------


def _area(question: _Question) -> dict[str, Any]:
    """Figures of the chosen rows in each region that the area meets, of both runs."""
    asked = question.window
    rows = [row for number in asked.rows for row in question.members(number)]
    lines = []
    for letter, kept in question.runs:
        starts = begins(kept.run)
        names = dict(zip(starts, kept.run.regions, strict=True))
        for store, start, nodes in _by_region(kept, _places(rows, letter)):
            region = names[start]
            first = max(0, asked.start - start)
            last = min(asked.stop - start, region.cycles)
            if first < last:
                area = area_of(store, first, last, sorted(set(nodes)))
                lines.append(_told(letter, region, start, area, len(set(nodes))))
    return {"lines": lines}


def _told(letter: str, region: RegionRecord, start: int, area: Area, nodes: int) -> dict[str, Any]:
    return {
        "run": letter,
        "region": region.name,
        "nodes": nodes,
        "from": area.start + start,
        "to": area.stop + start,
        "busy": _figures(region, start, area.busy),
        "cell": area.cell,
        "tokens": None if area.tokens is None else _figures(region, start, area.tokens),
        "token_cell": area.token_cell,
    }


def _figures(region: RegionRecord, start: int, figures: Figures) -> dict[str, Any]:
    def place(at: tuple[int, int]) -> dict[str, Any]:
        return {"node": region.rows[at[0]]["label"], "cycle": at[1] + start}

    return {
        "least": figures.least,
        "mean": figures.mean,
        "most": figures.most,
        "least_at": place(figures.least_at),
        "most_at": place(figures.most_at),
    }


# Traces -----------------------------------------------------------------------------------


def _trace(question: _Question) -> dict[str, Any]:
    """The whole run for Perfetto, if it is not too long for a browser."""
    kept = question.here
    starts = begins(kept.run)
    regions = [
        TraceRegion(
            region.name,
            [region.rows[node]["label"] for node in sorted(region.rows)],
            store_of(region),
            [
                PathPiece(s["what"], s["start"], s["stop"])
                for s in (region.path or {}).get("segments", ())
            ],
            start,
        )
        for region, start in zip(kept.run.regions, starts, strict=True)
    ]
    events = sum(most_intervals(r.store, 0, r.store.cycles) for r in regions)
    if events > TRACE:
        raise FuseloomError(
            f"up to {counted(events, 'event')}; at most {TRACE:,} go through a browser",
            hint="fuseloom simulate --trace-out FILE writes any number of them",
        )
    out = io.StringIO()
    write_trace(out, regions)
    return {"name": f"{kept.run.name}-{kept.name}.trace.json".replace(" ", "-"),
            "text": out.getvalue()}  # fmt: skip


_ANSWERS.update(window=_window, area=_area, trace=_trace)
