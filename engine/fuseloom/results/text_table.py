"""Tables as text: how every table of this project is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum


class Align(Enum):
    """The side on which a column's cells begin or end."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True)
class TextColumn:
    """A column of a table.

    Attributes
    ----------
    title : str
        Its cell in the header.
    width : int or None
        Characters of every cell; a longer one pushes the rest of its row aside, so that long
        tables can be printed row by row.  None is the width of the longest cell.
    align : Align
        Figures to the right, names to the left.
    """

    title: str
    width: int | None = None
    align: Align = Align.RIGHT


def text_table(
    columns: Sequence[TextColumn],
    rows: Iterable[Sequence[str]],
    *,
    gap: str = "  ",
    indent: str = "",
    header: bool = True,
) -> list[str]:
    """The lines of a table: its titles, unless ``header`` is False, and a line per row."""
    cells = [tuple(column.title for column in columns)] if header else []
    cells += [tuple(row) for row in rows]
    widths = [
        max((len(row[k]) for row in cells), default=0) if column.width is None else column.width
        for k, column in enumerate(columns)
    ]
    lines = []
    for row in cells:
        placed = [
            cell.ljust(width) if column.align is Align.LEFT else cell.rjust(width)
            for column, cell, width in zip(columns, row, widths, strict=True)
        ]
        lines.append((indent + gap.join(placed)).rstrip())
    return lines


TOTALS = (
    TextColumn("region", 24, Align.LEFT),
    TextColumn("cycles", 14),
    TextColumn("FLOPs", 14),
    TextColumn("bytes", 14),
)


def totals_table(
    regions: Iterable[tuple[str, float, float, float]], total: tuple[float, float, float]
) -> list[str]:
    """Cycles, FLOPs and bytes of each region and of all, as ``estimate`` and ``simulate`` have."""
    rows = [(name, cycles, flops, size) for name, cycles, flops, size in regions]
    rows.append(("total", *total))
    return text_table(
        TOTALS,
        [(name, *(f"{figure:,.0f}" for figure in figures)) for name, *figures in rows],
        gap=" ",
    )
