"""The open menu of a cell: what may be chosen there, and what each entry is expected to change."""

from __future__ import annotations

import time
from typing import Any

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import change, count
from fuseloom_workbench.state.carrying import recut
from fuseloom_workbench.state.cells import CellChoice, choices
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.session import Session

PATIENCE = 2.0
"""Seconds of computing for estimates of entries; those after that are offered without one."""
_last: list[tuple[BuiltDesign, tuple[int, str, str], list[dict[str, Any]]]] = []


@page_part("menu")
def view(session: Session) -> dict[str, Any]:
    """The cell, and its entries with the change of estimated cycles; empty while none is open."""
    column, row = session.menu
    if (column, row) not in session.current.table.cells:
        return {"cell": [], "entries": []}
    return {
        "cell": [column, row],
        "name": f"{column}.{row}",
        "entries": _entries(session.built, (session.region, column, row)),
    }


def _entries(built: BuiltDesign, place: tuple[int, str, str]) -> list[dict[str, Any]]:
    """Entries of a cell; those of the last menu are kept, as parts are made again and again."""
    for before, where, made in _last:
        if before is built and where == place:
            return made
    end = time.thread_time() + PATIENCE
    made = [_entry(built, choice, time.thread_time() < end) for choice in choices(built, *place)]
    _last[:] = [(built, place, made)]
    return made


def _entry(built: BuiltDesign, choice: CellChoice, estimated: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "key": choice.key,
        "text": choice.text,
        "says": choice.says,
        "chosen": choice.chosen,
        "effect": "",
        "refused": "",
    }
    if choice.chosen:
        return entry
    if not estimated:
        return {**entry, "effect": "not estimated"}
    try:
        other = recut(choice.design(), built).built
    except FuseloomError as reason:
        return {**entry, "refused": str(reason)}
    if [r.graph for r in other.regions] == [r.graph for r in built.regions]:
        return {**entry, "effect": "changes nothing"}
    more = round(other.estimate.cycles) - round(built.estimate.cycles)
    return {
        **entry,
        "effect": f"est. {change(more, 'cycles', count) if more else 'as many cycles'}",
    }
