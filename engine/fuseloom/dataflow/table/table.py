"""The fusion table: index rows, view columns, and every step of its construction."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.table.cells import (
    VALUE_ROW,
    Accumulator,
    Cell,
    Column,
    ConstructionStep,
    Level,
    Output,
)
from fuseloom.display.shows import Shows
from fuseloom.errors import LoweringError
from fuseloom.wording import counted, described

JSON_VERSION = 1


@dataclass(frozen=True)
class CellChoices:
    """The choices of a table besides the order; see :mod:`fuseloom.dataflow.table.edits`.

    Attributes
    ----------
    locate, repeat_references : bool
        What holds where no single cell says otherwise (see ``RegionOptions``).
    looked_up, scanned : frozenset of (column, row)
        Levels that are, and are not, to be looked up at the coordinates of others.
    turned : frozenset of str
        Columns whose repeats are references where others repeat values, and the other way round.
    """

    locate: bool = True
    repeat_references: bool = False
    looked_up: frozenset[tuple[str, str]] = frozenset()
    scanned: frozenset[tuple[str, str]] = frozenset()
    turned: frozenset[str] = frozenset()

    def located(self, column: str, row: str) -> bool:
        """Return whether a dense level may be looked up."""
        return (column, row) not in self.scanned and (
            self.locate or (column, row) in self.looked_up
        )

    def searched(self, column: str, row: str) -> bool:
        """Return whether a compressed level is searched where another operand gives coordinates."""
        return (column, row) in self.looked_up

    def references(self, column: str) -> bool:
        """Return whether a column repeats references, not values, inside its last index."""
        return self.repeat_references != (column in self.turned)

    def with_level(self, column: str, row: str, on: bool) -> CellChoices:
        """The same, with one level looked up or scanned."""
        cell = {(column, row)}
        return replace(
            self,
            looked_up=self.looked_up | cell if on else self.looked_up - cell,
            scanned=self.scanned - cell if on else self.scanned | cell,
        )


@dataclass(frozen=True)
class FusionTable(Shows, html="fuseloom.dataflow.table.display:table_html"):
    """A region under one order, ready to be lowered.

    Attributes
    ----------
    order : tuple of str
        Rows, outermost first; aliases made by cuts included.
    levels : dict
        Level name to level; accumulators' own levels included.
    steps : tuple of ConstructionStep
        Applying their changes in order gives the cells.
    """

    region: FusedRegion
    order: tuple[str, ...]
    columns: tuple[Column, ...]
    levels: dict[str, Level]
    accumulators: dict[str, Accumulator]
    outputs: tuple[Output, ...]
    steps: tuple[ConstructionStep, ...]
    choices: CellChoices = CellChoices()

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.region.name}: {counted(len(self.columns), 'column')}, "
            f"order {','.join(self.order)}",
        )

    @property
    def rows(self) -> tuple[str, ...]:
        return (*self.order, VALUE_ROW)

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        """(column, row) to the finished cell."""
        return self.at(len(self.steps))

    def at(self, step: int) -> dict[tuple[str, str], Cell]:
        """The cells after the first ``step`` steps."""
        cells: dict[tuple[str, str], Cell] = {}
        for done in self.steps[:step]:
            for column, row, cell in done.changes:
                cells[column, row] = cell
        return cells

    def cell(self, column: str, row: str) -> Cell:
        try:
            return self.cells[column, row]
        except KeyError:
            raise LoweringError(f"the table has no cell {column}.{row}") from None

    def verify(self) -> None:
        """Check that the table can be lowered: nothing refers to what is not there.

        Raises
        ------
        LoweringError
            Naming the cell and what it refers to.
        """
        names, rows = {column.name for column in self.columns}, {*self.rows}
        for (column, row), cell in self.cells.items():
            if column not in names or row not in rows:
                raise LoweringError(f"cell {column}.{row} is outside the table")
            if cell.target and tuple(cell.target.rsplit(".", 1)) not in self.cells:
                raise LoweringError(f"cell {column}.{row} refers to {cell.target}, which is empty")
        for output in self.outputs:
            missing = [level for level in output.levels if level not in self.levels]
            if missing:
                raise LoweringError(f"output {output.tensor} has no level {missing[0]}")
            if (output.column, VALUE_ROW) not in self.cells:
                raise LoweringError(f"output {output.tensor} has no value cell")

    def to_json(self) -> str:
        """Versioned JSON: columns, rows, cells, accumulators and the steps of construction."""
        return json.dumps(
            {
                "fuseloom": "table",
                "version": JSON_VERSION,
                "region": self.region.name,
                "rows": self.rows,
                "columns": [asdict(column) for column in self.columns],
                "accumulators": [str(a) for a in self.accumulators.values()],
                "steps": [
                    {
                        "phase": step.phase,
                        "title": step.title,
                        "cells": [
                            {
                                "column": column,
                                "row": row,
                                "kind": cell.kind.value,
                                "text": cell.text,
                                "target": cell.target,
                            }
                            for column, row, cell in step.changes
                        ],
                    }
                    for step in self.steps
                ],
            }
        )

    def grid(self) -> list[list[str]]:
        """Rows of texts: a header of column titles, then one row per index and the values."""
        header = ["", *(c.title for c in self.columns)]
        body = [
            [
                row,
                *(
                    cell.text if (cell := self.cells.get((c.name, row))) else ""
                    for c in self.columns
                ),
            ]
            for row in self.rows
        ]
        return [header, *body]

    def __str__(self) -> str:
        grid = self.grid()
        widths = [max(len(row[k]) for row in grid) for k in range(len(grid[0]))]
        lines = [
            " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in grid
        ]
        lines.insert(1, "-+-".join("-" * width for width in widths))
        lines += [str(a) for a in self.accumulators.values()]
        return "\n".join(lines)
