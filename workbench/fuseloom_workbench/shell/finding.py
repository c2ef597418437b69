"""The entries of Ctrl+K in a session: choices, views and runs to load, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from fuseloom.dataflow.machine import PRESETS
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.graph.drawing import is_copy
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import fitting_data, model_names

TAKEN = (
    "preset", "choose", "choose_data", "set_machine", "recall", "select_region", "add_boundary",
    "remove_boundary", "select_node",
)  # fmt: skip
"""Requests that what is found may make."""
MOST_NODES = 300
"""Nodes of a region that are listed; of larger ones the graph has a search of its own."""


def finds(session: Session) -> list[dict[str, Any]]:
    """Entries in the order in which they are listed: group, name, hint, and the request made.

    Examples
    --------
    >>> found = finds(Session("gcn", "karate"))
    >>> next(entry for entry in found if entry["name"] == "full")["do"]
    ['preset', 'full']
    """
    return [
        {"group": group, "name": name, "hint": hint, "do": list(do)}
        for group, name, hint, *do in _entries(session)
    ]


def _entries(session: Session) -> Iterator[tuple[Any, ...]]:
    for name, text in session.presets.items():
        yield "Preset", name, text or "every statement alone", "preset", name
    for k, region in enumerate(session.regions):
        yield "Region", f"{k + 1}: {region.name}", "show it", "select_region", k
    units = zip(session.built.units, session.built.unit_regions, strict=True)
    for unit, number in units:
        if not unit.memory:
            yield "Kernel", unit.name, "; ".join(unit.texts), "select_region", number
    yield from _fusions(session)
    for k, kept in reversed(list(enumerate(session.records.values()))):
        yield "Run", kept.name, count(kept.run.cycles, "cycles"), "recall", k
    for name in model_names():
        yield "Model", name, "", "choose", name
    for name in fitting_data(session.design.model):
        yield "Data", name, f"for {session.design.model}", "choose_data", name
    for name in PRESETS:
        yield "Machine", name, "", "set_machine", name
    nodes = [node for node in session.current.graph.nodes if not is_copy(node)]
    if len(nodes) <= MOST_NODES:
        for node in nodes:
            yield "Node", node.label or node.op, f"{node.op} {node.id}", "select_node", node.id


def _fusions(session: Session) -> Iterator[tuple[Any, ...]]:
    """Every boundary that can be removed, and every one that can be made."""
    cut = set(session.built.gaps)
    for gap, (left, right) in enumerate(pairwise(session.built.units), 1):
        if left.memory or right.memory:
            continue
        if gap in cut:
            hint = "remove the boundary between them"
            yield "Fusion", f"fuse {left.name} with {right.name}", hint, "remove_boundary", gap
        else:
            yield "Fusion", f"cut before {right.name}", "a region ends there", "add_boundary", gap
