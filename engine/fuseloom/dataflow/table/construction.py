"""The construction of a fusion table, step by step, each a thing that shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuseloom.dataflow.table.cells import Cell, ConstructionStep
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.display.shows import Shows


@dataclass(frozen=True)
class TableStep(Shows, html="fuseloom.dataflow.table.display:step_html"):
    """The table as it stands after a step, and which cells are new.

    Attributes
    ----------
    number : int
        Of the step, counted from 1; 0 is the empty table.
    """

    table: FusionTable
    number: int

    @property
    def step(self) -> ConstructionStep | None:
        """The construction step: its phase, a title, and the cells; None for the empty table."""
        return self.table.steps[self.number - 1] if self.number else None

    @property
    def title(self) -> str:
        """The step in words."""
        if self.step is None:
            return "the empty table"
        return f"step {self.number} of {len(self.table.steps)}: {self.step.title}"

    @property
    def before(self) -> Mapping[tuple[str, str], Cell]:
        """The cells before it, by column and row."""
        return self.table.at(max(0, self.number - 1))

    @property
    def after(self) -> Mapping[tuple[str, str], Cell]:
        """The cells after it."""
        return self.table.at(self.number)

    @property
    def changed(self) -> dict[tuple[str, str], str]:
        """The texts of the cells that it fills or replaces, by column and row."""
        before, after = self.before, self.after
        return {
            (column, row): after[column, row].text
            for column, row, _ in (self.step.changes if self.step else ())
            if before.get((column, row)) != after[column, row]
        }

    def __str__(self) -> str:
        cells = (f"  {column}.{row}: {text}" for (column, row), text in self.changed.items())
        return "\n".join([self.title, *cells])


def construction(table: FusionTable) -> tuple[TableStep, ...]:
    """The empty table, and what every step of its construction makes of it, in order.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 4x4 dcsr\\nx: 4 compressed\\ny[i] = A[i,j] * x[j]")
    >>> table = fl.compile(program).regions[0].table
    >>> print(construction(table)[1])
    step 1 of 6: scan and load A
      A.i: LS(root)
      A.j: LS(<A.i>)
      A.val: Val(<A.j>)
    """
    return tuple(TableStep(table, k) for k in range(len(table.steps) + 1))
