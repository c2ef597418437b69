"""Rows of the timeline: nodes in the order of the graph, those of one kernel together.

A row has a node of the run shown, B, or of the pinned run, A, or both: the nodes of one name within
one kernel, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.results.record import RunRecord
from fuseloom_workbench.state.design import build
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session

ELSEWHERE = "before all kernels"
"""The group of nodes that belong to no kernel."""

Place = tuple[int, int]
"""A node of a run: number of its region, and its own in there."""


@dataclass(frozen=True)
class TimelineRow:
    """A line of the timeline.

    Attributes
    ----------
    label : str
        What people call the node.
    group : int
        Number of its kernel among the groups.
    here, there : Place or None
        The node in the run shown, and in the pinned one.
    """

    label: str
    group: int
    here: Place | None
    there: Place | None


@dataclass(frozen=True)
class TimelineRows:
    """All lines, and what people call their groups: the kernels, in the order of the program."""

    groups: tuple[str, ...]
    rows: tuple[TimelineRow, ...]


@dataclass(frozen=True)
class _Found:
    kernel: int
    label: str
    place: Place


def rows_of(session: Session) -> TimelineRows:
    """The rows of the run shown and the pinned one."""
    return _rows(*_runs(session))


def shown_runs(session: Session) -> tuple[KeptRun | None, KeptRun | None]:
    """The run shown, B, and the pinned one, A, if that is another run of the same problem.

    Neither is there without its timeline.
    """
    here = session.record
    if here is None or not _has_timeline(here.run):
        return None, None
    there = session.reference
    if there is None or there.problem != here.problem or there is here:
        return here, None
    return here, there if _has_timeline(there.run) else None


def _has_timeline(run: RunRecord) -> bool:
    return all(r.timeline is not None and r.nodes is not None for r in run.regions)


class _RunKey:
    """A run and its statements, compared by the run itself."""

    def __init__(self, kept: KeptRun, session: Session) -> None:
        self.kept = kept
        self.session = session

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RunKey) and other.kept is self.kept

    def __hash__(self) -> int:
        return id(self.kept)

    def regions(self) -> tuple[CompiledRegion, ...]:
        built = self.session.built
        if built.configuration != self.kept.configuration:
            built = build(self.kept.design, built)
        return built.regions

    def kernels(self) -> dict[str, int]:
        """Statement to the number of its kernel in the program; both runs have one program."""
        units = self.session.built.units
        return {name: number for number, unit in enumerate(units) for name in unit.statements}


def _runs(session: Session) -> tuple[_RunKey | None, _RunKey | None]:
    here, there = shown_runs(session)
    return here and _RunKey(here, session), there and _RunKey(there, session)


@lru_cache(maxsize=4)
def _rows(here: _RunKey | None, there: _RunKey | None) -> TimelineRows:
    if here is None:
        return TimelineRows((), ())
    others: dict[tuple[int, str], list[_Found]] = {}
    for node in _nodes(there) if there is not None else ():
        others.setdefault((node.kernel, node.label), []).append(node)
    lines: dict[int, list[tuple[_Found, Place | None, Place | None]]] = {}
    for node in _nodes(here):
        same = others.get((node.kernel, node.label))
        match = same.pop(0).place if same else None
        lines.setdefault(node.kernel, []).append((node, node.place, match))
    for rest in others.values():
        for node in rest:
            lines.setdefault(node.kernel, []).append((node, None, node.place))
    units = here.session.built.units
    order = sorted(lines)
    rows = tuple(
        TimelineRow(node.label, group, ours, theirs)
        for group, kernel in enumerate(order)
        for node, ours, theirs in lines[kernel]
    )
    return TimelineRows(tuple(units[k].name if k >= 0 else ELSEWHERE for k in order), rows)


def _nodes(kept: _RunKey) -> Iterator[_Found]:
    """Nodes of a run, each memory port after the node that it serves."""
    kernels = kept.kernels()
    pairs = zip(kept.regions(), kept.kept.run.regions, strict=True)
    for number, (compiled, region) in enumerate(pairs):
        statements = _statements(compiled)
        served: dict[int, list[Mapping[str, Any]]] = {}
        for row in region.nodes or ():
            if row["owner"] != row["node"]:
                served.setdefault(row["owner"], []).append(row)
        for row in region.nodes or ():
            if row["owner"] != row["node"]:
                continue
            kernel = kernels.get(statements.get(row["node"], ""), -1)
            for one in (row, *served.get(row["node"], ())):
                yield _Found(kernel, _label(one), (number, one["node"]))


def _label(row: Mapping[str, Any]) -> str:
    """Return a node's name for people; of several with one name, with their cell."""
    plain = row["label"].islower() and row["origin"]
    return f"{row['label']} {row['origin']}" if plain else str(row["label"])


def _statements(compiled: CompiledRegion) -> dict[int, str]:
    """The statement of each node: that of its cell's column, or of the node before it."""
    columns = {column.name: column.statement for column in compiled.table.columns}
    graph = compiled.graph
    known: dict[int, str] = {}
    for number in graph.topological():
        node = graph.nodes[number]
        own = columns.get(node.origin.partition(".")[0])
        before = (known[graph.producer[s]] for s in node.inputs if graph.producer[s] in known)
        statement = own or next(before, None)
        if statement is not None:
            known[number] = statement
    return known


def begins(run: RunRecord) -> list[int]:
    """Cycle of the run at which each region begins: they run one after another."""
    made, at = [], 0
    for region in run.regions:
        made.append(at)
        at += region.cycles
    return made
