"""The entries of Ctrl+K in a session: choices, views and runs to load, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuseloom.dataflow.machine import PRESETS
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import fitting_data, model_names

TAKEN = ("preset", "choose", "choose_data", "set_machine", "recall", "select_region")
"""Requests that what is found may make."""


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
    for k, kept in reversed(list(enumerate(session.records.values()))):
        yield "Run", kept.name, count(kept.run.cycles, "cycles"), "recall", k
    for name in model_names():
        yield "Model", name, "", "choose", name
    for name in fitting_data(session.design.model):
        yield "Data", name, f"for {session.design.model}", "choose_data", name
    for name in PRESETS:
        yield "Machine", name, "", "set_machine", name
