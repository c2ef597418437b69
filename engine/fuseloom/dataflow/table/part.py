"""Some columns of a fusion table, where the whole is too wide to be looked at."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.dataflow.table.table import FusionTable
from fuseloom.display.shows import Shows
from fuseloom.errors import LoweringError


@dataclass(frozen=True)
class TablePart(Shows, html="fuseloom.dataflow.table.display:part_html"):
    """Columns of a table, as a thing that shows itself.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns, in the order they are shown in.
    """

    table: FusionTable
    columns: tuple[str, ...]

    @property
    def left_out(self) -> int:
        """The number of other columns."""
        return len(self.table.columns) - len(self.columns)

    def __str__(self) -> str:
        cells = self.table.cells
        lines = []
        for row in self.table.rows:
            texts = (cells[c, row].text if (c, row) in cells else "" for c in self.columns)
            lines.append("  ".join([row, *texts]).rstrip())
        return "\n".join(lines)


def columns_of(table: FusionTable, *columns: str) -> TablePart:
    """Some columns of a table.

    Raises
    ------
    LoweringError
        If the table has no such column.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 4x4 dcsr\\nx: 4 dense\\ny[i] = A[i,j] * x[j]")
    >>> print(columns_of(fl.compile(program).regions[0].table, "A"))
    i  LS(root)
    j  LS(<A.i>)
    val  Val(<A.j>)
    """
    known = [column.name for column in table.columns]
    for name in columns:
        if name not in known:
            raise LoweringError(
                f"the table has no column {name!r}", hint=f"its columns are {', '.join(known)}"
            )
    return TablePart(table, columns)
