"""Edits of a fusion table: each says what it changes, and refuses with the rule.

A table follows from a region, an order and some choices, so an edit changes one of these and
builds the table again; the old one stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fuseloom.dataflow.fusion.directives import Fuse, Materialise
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.table.build import build_table
from fuseloom.dataflow.table.cells import VALUE_ROW, Cell, CellKind, Scan
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import LoweringError
from fuseloom.wording import counted

_LOOK_UPS = (CellKind.LOCATE, CellKind.SEARCH)


@dataclass(frozen=True)
class Edit:
    """A table that was edited.

    Attributes
    ----------
    before, after : str
        What was changed, as it stood in the table and as it stands now.
    tables : tuple of FusionTable
        One; two after a materialisation, which cuts the region.
    """

    title: str
    before: str
    after: str
    tables: tuple[FusionTable, ...]

    def __str__(self) -> str:
        return f"{self.title}: {self.before} => {self.after}"


def move_row(table: FusionTable, row: str, place: int) -> Edit:
    """Move a row: iterate an index further out or in.

    Before::                       After ``move_row(table, "j", 1)``::

        i | LS(root)  |               i | LS(root)  |
        k | ...                       j | ...
        j | ...                       k | ...

    Parameters
    ----------
    place : int
        Where the row stands afterwards, counted from 0 among the region's own indices.

    Raises
    ------
    OrderError, LoweringError
        If the order is not legal or cannot be built, with the rule.
    """
    order = own_order(table)
    if row not in order:
        raise LoweringError(
            f"there is no row {row!r} to move", hint=f"the rows are {', '.join(order)}"
        )
    if not 0 <= place < len(order):
        raise LoweringError(
            f"row {row} cannot be moved to place {place}",
            hint=f"there are {counted(len(order), 'row')} of indices, counted from 0",
        )
    left = [x for x in order if x != row]
    moved = (*left[:place], row, *left[place:])
    changed = build_table(table.region, moved, table.choices)
    return Edit(f"move row {row}", "→".join(order), "→".join(moved), (changed,))


def move_cell(table: FusionTable, column: str) -> Edit:
    """Move a column's repeats across its load: repeat values, or references.

    Before::                                   After::

        k | LS(<A.i>)                              k | LS(<A.i>)
        j | (RepV)                                 j | Rep(<A.k>,<X.j>)
        val | RepV(Val(<A.k>),<X.j>)               val | Val(<A.j>)

    Repeated references are loaded again at each repeat, repeated values once
    (``docs/spec/fusion.md`` §3.3, step 2).

    Raises
    ------
    LoweringError
        If the column is no leaf, or repeats nothing inside its last index.
    """
    before = _cell(table, column, VALUE_ROW)
    kept = next(c for c in table.columns if c.name == column)
    if not kept.leaf:
        raise LoweringError(
            f"column {column} is computed, so there is no load to move a repeat across",
            hint="choose the column of a tensor that is read from memory",
        )
    choices = replace(table.choices, turned=table.choices.turned ^ {column})
    changed = build_table(table.region, own_order(table), choices)
    after = _cell(changed, column, VALUE_ROW)
    if after == before:
        raise LoweringError(
            f"column {column} repeats nothing inside its last index",
            hint="only repeats inside a leaf's last index can be on either side of its load",
        )
    return Edit(f"move the repeats of {column}", before.text, after.text, (changed,))


def use_intersect(table: FusionTable, column: str, row: str) -> Edit:
    """Scan a level and intersect it, instead of looking it up.

    Before::  ``k | Locate(<X.i>,<A.k>.crd)``      After::  ``k | LS(<X.i>) -> I_k``

    Raises
    ------
    LoweringError
        If the cell holds no locator.
    """
    before = _cell(table, column, row)
    if before.kind not in _LOOK_UPS:
        raise LoweringError(
            f"cell {column}.{row} holds a {before.kind.value}, not a locator or searcher",
            hint="choose a cell that reads Locate(...) or Search(...)",
        )
    choices = table.choices.with_level(column, row, False)
    changed = build_table(table.region, own_order(table), choices)
    after = _cell(changed, column, row)
    return Edit(f"scan {column}.{row}", before.text, after.text, (changed,))


def use_locate(table: FusionTable, column: str, row: str) -> Edit:
    """Look a level up, instead of scanning and joining it.

    Before::  ``k | LS(<X.i>) -> I_k``      After::  ``k | Locate(<X.i>,<A.k>.crd)``

    A compressed level is searched: ``k | Search(<H.i>,<A.k>.crd) -> I_k``.

    Raises
    ------
    LoweringError
        If nothing else gives the coordinates to look up.
    """
    before = _cell(table, column, row)
    if before.kind in _LOOK_UPS:
        raise LoweringError(
            f"cell {column}.{row} is looked up already", hint="choose a cell that reads LS(...)"
        )
    if not isinstance(before.expression, Scan):
        raise LoweringError(
            f"cell {column}.{row} holds a {before.kind.value}, not a level scanner",
            hint="choose a cell that reads LS(...)",
        )
    choices = table.choices.with_level(column, row, True)
    changed = build_table(table.region, own_order(table), choices)
    after = _cell(changed, column, row)
    if after.kind not in _LOOK_UPS:
        raise LoweringError(
            f"cell {column}.{row} gives the coordinates of its level, so it cannot be looked up "
            "at them",
            hint="another operand of the same product must drive the level",
        )
    return Edit(f"look up {column}.{row}", before.text, after.text, (changed,))


def materialise(table: FusionTable, column: str) -> Edit:
    """Write a column's tensor to memory and read it again: the region is cut after it.

    Before::  one table with columns ``A X T W D``
    After::   one with ``A X T``, and one with ``T W D``

    Raises
    ------
    LoweringError
        If the column is read from memory.
    ScheduleError
        If its tensor ends the region, so that it is written anyway.
    """
    _cell(table, column, VALUE_ROW)
    kept = next(c for c in table.columns if c.name == column)
    if kept.leaf:
        raise LoweringError(
            f"column {column} is in memory already",
            hint="choose the column of a tensor that the region computes",
        )
    region = table.region
    names = [s.out.tensor for s in region.statements]
    schedule = Schedule((Fuse(names[0], names[-1]),), (), (Materialise(kept.tensor),))
    parts = [
        replace(part, options=region.options)
        for part in fuse(region.program, schedule)
        if part.statements[0].out.tensor in names
    ]
    tables = tuple(build_table(part) for part in parts)
    after = " and ".join(part.name for part in parts)
    return Edit(f"materialise {kept.tensor}", region.name, after, tables)


def own_order(table: FusionTable) -> tuple[str, ...]:
    """The rows that are the region's own indices, without the aliases of cuts."""
    return tuple(x for x in table.order if x in table.region.extents)


def _cell(table: FusionTable, column: str, row: str) -> Cell:
    if (column, row) not in table.cells:
        columns = ", ".join(c.name for c in table.columns)
        raise LoweringError(
            f"the table has no cell {column}.{row}",
            hint=f"columns: {columns}; rows: {', '.join(table.rows)}",
        )
    return table.cells[column, row]
