"""Tables as text: how every table of this project is laid out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from fuseloom.errors import shortened
from fuseloom.terminal import table_width
from fuseloom.wording import grouped


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
    wrap : bool
        In a terminal that is too narrow, a last column of names goes on in further lines; False
        cuts its cells instead.
    """

    title: str
    width: int | None = None
    align: Align = Align.RIGHT
    wrap: bool = True


def text_table(
    columns: Sequence[TextColumn],
    rows: Iterable[Sequence[str]],
    *,
    gap: str = "  ",
    indent: str = "",
    header: bool = True,
) -> list[str]:
    """The lines of a table: its titles, unless ``header`` is False, and a line per row.

    Where a command prints to a terminal, a table that is too wide for it is made narrower: first
    its columns take no more than their cells need, then names are cut or go on in further lines.
    Figures are never cut.
    """
    cells = [tuple(column.title for column in columns)] if header else []
    cells += [tuple(row) for row in rows]
    widths = [
        max((len(row[k]) for row in cells), default=0) if column.width is None else column.width
        for k, column in enumerate(columns)
    ]
    lines = [_line(columns, row, widths, gap, indent) for row in cells]
    most = table_width()
    if most is None or max(map(len, lines), default=0) <= most:
        return lines
    room = most - len(indent) - len(gap) * (len(columns) - 1)
    longest = [max((len(row[k]) for row in cells), default=0) for k in range(len(columns))]
    widths = _narrowed(columns, longest, room)
    return [
        _line(columns, part, widths, gap, indent)
        for row in cells
        for part in _parts(columns, row, widths)
    ]


NARROWEST = 12
"""Characters that a column of names keeps in the narrowest terminal."""


def _line(
    columns: Sequence[TextColumn], row: Sequence[str], widths: Sequence[int], gap: str, indent: str
) -> str:
    placed = [
        cell.ljust(width) if column.align is Align.LEFT else cell.rjust(width)
        for column, cell, width in zip(columns, row, widths, strict=True)
    ]
    return (indent + gap.join(placed)).rstrip()


def _narrowed(columns: Sequence[TextColumn], longest: Sequence[int], room: int) -> list[int]:
    """Return widths whose sum is at most ``room``, if names alone can be cut down to that.

    The last column gives way first, then the widest of the others.
    """
    widths = list(longest)
    names = [k for k, column in enumerate(columns) if column.align is Align.LEFT]
    if names and names[-1] == len(columns) - 1:
        last = names.pop()
        widths[last] = min(
            widths[last], max(room - sum(widths[:last]), min(widths[last], 2 * NARROWEST))
        )
    while sum(widths) > room and any(widths[k] > NARROWEST for k in names):
        widths[max(names, key=widths.__getitem__)] -= 1
    return widths


def _parts(
    columns: Sequence[TextColumn], row: Sequence[str], widths: Sequence[int]
) -> Iterator[Sequence[str]]:
    """Yield the lines of a row whose names do not fit into the widths."""
    cells = [
        shortened(cell, width) if column.align is Align.LEFT else cell
        for column, cell, width in zip(columns, row, widths, strict=True)
    ]
    last = columns[-1]
    if last.align is Align.LEFT and last.wrap and len(row[-1]) > widths[-1]:
        first, *others = textwrap.wrap(row[-1], widths[-1])
        yield [*cells[:-1], first]
        for other in others:
            yield [*("" for _ in cells[:-1]), other]
    else:
        yield cells


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
        [(name, *(grouped(figure) for figure in figures)) for name, *figures in rows],
        gap=" ",
    )
