"""The chain of kernels, as plain data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import networkx as nx

from fuseloom.dataflow.why.attribution import AttributionLevel, attribution
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import change, count, short
from fuseloom_workbench.state.design import BuiltDesign, Unit
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session


@page_part("chain")
def view(session: Session) -> dict[str, Any]:
    """Kernels, the regions they lie in, what each is expected to take, and who feeds whom."""
    record, pinned = session.record, _comparable(session)
    built = session.built
    edges = links(built)
    parts = [parts_of(built, unit) for unit in built.units]
    places = layered([len(p) for p in parts], edges)
    theirs = pinned.design.cuts - built.design.cuts if pinned else frozenset()
    spent = _on_path(session)
    units = [
        {
            "name": unit.name,
            "texts": list(unit.texts),
            "tensors": list(unit.statements),
            "region": number,
            "memory": unit.memory,
            "pinned": unit.start in theirs,
            "place": list(place),
            "parts": among,
            "path": _path(spent, unit, session),
        }
        for unit, number, place, among in zip(
            built.units, built.unit_regions, places, parts, strict=True
        )
    ]
    total = sum(r.cycles for r in session.estimate.regions) or 1.0
    known = _cycles_of(pinned) if pinned else {}
    regions = []
    for k, (region, estimated) in enumerate(
        zip(session.regions, session.estimate.regions, strict=True)
    ):
        cycles = record.run.regions[k].cycles if record else None
        regions.append(
            {
                "name": region.name,
                "estimate": short(estimated.cycles, "cycles"),
                "share": estimated.cycles / total,
                "simulated": short(cycles, "cycles") if cycles is not None else "",
                **_against(cycles, known, [s.out.tensor for s in region.region.statements]),
                "hint": f"{count(estimated.flops, 'FLOPs')}, "
                f"{count(estimated.bytes, 'bytes')} of memory traffic, "
                f"{count(len(region.graph.nodes), 'graph nodes')}",
            }
        )
    keys = [{"sign": "A", "kind": "theirs", "text": "where run A cuts"}] if theirs else []
    return {
        "units": units,
        "regions": regions,
        "shown": session.region,
        "links": [list(edge) for edge in edges],
        "keys": keys,
    }


def _on_path(session: Session) -> dict[str, int]:
    """Cycles of the critical path by the statement they belong to; none where that is not known."""
    record = session.record
    if record is None or not record.run.explained:
        return {}
    spent: dict[str, int] = defaultdict(int)
    for region in attribution(record.run, session.compilation).parts:
        for part in region.parts:
            if part.level is AttributionLevel.STATEMENT:
                spent[part.name] += part.cycles
    return spent


def _path(spent: dict[str, int], unit: Unit, session: Session) -> dict[str, Any] | None:
    """Return a unit's cycles on the critical path, and its share of all cycles."""
    if not spent or unit.memory:
        return None
    cycles = sum(spent.get(name, 0) for name in unit.statements)
    run = session.record.run.cycles if session.record else 0
    return {"cycles": short(cycles, "").strip(), "share": cycles / max(1, run)}


def links(built: BuiltDesign) -> list[tuple[int, int]]:
    """Which unit feeds which, by number."""
    owner = {name: k for k, unit in enumerate(built.units) for name in unit.statements}
    found = {
        (owner[access.tensor], owner[s.out.tensor])
        for s in built.live
        for access in s.operands
        if access.tensor in owner and s.out.tensor in owner
    }
    return sorted((a, b) for a, b in found if a != b)


def parts_of(built: BuiltDesign, unit: Unit) -> list[str]:
    """Return the parallel parts of a unit, by the last tensor of each; one for most."""
    among = set(unit.statements)
    graph = nx.Graph()
    graph.add_nodes_from(unit.statements)
    for s in built.live:
        if s.out.tensor in among:
            graph.add_edges_from((a.tensor, s.out.tensor) for a in s.operands if a.tensor in among)
    place = {name: k for k, name in enumerate(unit.statements)}
    lasts = [max(part, key=place.__getitem__) for part in nx.connected_components(graph)]
    return sorted(lasts, key=place.__getitem__)


def layered(heights: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Column and first row of each unit: after all that feed it, below others of the column."""
    column = [0] * len(heights)
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        column[b] = max(column[b], column[a] + 1)
    taken: dict[int, int] = defaultdict(int)
    places = []
    for c, height in zip(column, heights, strict=True):
        places.append((c, taken[c]))
        taken[c] += height
    return places


def _comparable(session: Session) -> KeptRun | None:
    """Run A, if it is of the program and data shown."""
    pinned = session.reference
    if pinned is None or pinned.problem != session.built.problem:
        return None
    return None if pinned.configuration == session.configuration else pinned


def _cycles_of(pinned: KeptRun) -> dict[str, int]:
    """Cycles of run A's regions by their name."""
    return {region.name: region.cycles for region in pinned.run.regions}


def _against(
    cycles: int | None, known: dict[str, int], statements: Sequence[str]
) -> dict[str, Any]:
    """The difference to run A where the same region is there, or several make up this one."""
    if cycles is None or not known:
        return {"against": "", "slower": False}
    theirs = 0
    wanted = set(statements)
    for name, took in known.items():
        first, _, last = name.partition("..")
        inside = {first, last or first} & wanted
        if not inside:
            continue
        if {first, last or first} - wanted:
            return {"against": "", "slower": False}  # cut elsewhere: nothing to compare
        theirs += took
    return {
        "against": f"{change(cycles - theirs, form=count)} against A",
        "slower": cycles > theirs,
    }
