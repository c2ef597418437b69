"""Runs and estimates side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fuseloom.display import bar, shown, table, tag
from fuseloom.errors import DataError
from fuseloom.results.text_table import Align, TextColumn, text_table

_HEADS = ("", "cycles", "of the first", "FLOPs", "bytes", "FLOPs per byte")


@dataclass(frozen=True)
class Compared:
    """The cost of each of several runs.

    Attributes
    ----------
    rows : tuple of tuple
        Name, cycles, FLOPs and bytes.
    """

    rows: tuple[tuple[str, float, float, float], ...]

    @property
    def best(self) -> str:
        """The name of the one with the fewest cycles."""
        return min(self.rows, key=lambda row: row[1])[0]

    def _texts(self) -> Iterable[tuple[str, ...]]:
        first = self.rows[0][1]
        for name, cycles, flops, moved in self.rows:
            yield (
                name,
                f"{cycles:,.0f}",
                f"{cycles / first:.2f}×" if first else "–",
                f"{flops:,.0f}",
                f"{moved:,.0f}",
                f"{flops / moved:.2f}" if moved else "–",
            )

    def __str__(self) -> str:
        columns = [TextColumn(_HEADS[0], align=Align.LEFT), *map(TextColumn, _HEADS[1:])]
        return "\n".join(text_table(columns, list(self._texts())))

    def _repr_html_(self) -> str:
        most = max(row[1] for row in self.rows)
        rows = [
            (name, bar(row[1] / most if most else 0.0, cycles), *others)
            for row, (name, cycles, *others) in zip(self.rows, self._texts(), strict=True)
        ]
        fewest = tag("p", "fewest cycles: ", tag("b", self.best), class_="quiet")
        return shown(table(_HEADS, rows, figures=(2, 3, 4, 5)), fewest)


def compare(found: Mapping[str, Any]) -> Compared:
    """Runs or estimates side by side, the first as the measure of all.

    Parameters
    ----------
    found : mapping of str to Run, Estimate or RunRecord

    Raises
    ------
    DataError
        If there is nothing to compare.

    Examples
    --------
    >>> import fuseloom as fl
    >>> model, data = fl.load("spmm")
    >>> orders = {o: fl.compile(model.program, f"order T: {o}") for o in ("i,k,j", "i,j,k")}
    >>> print(compare({name: fl.simulate(c, data) for name, c in orders.items()}).best)
    i,k,j
    """
    if not found:
        raise DataError("there is nothing to compare", hint="give a dict of names and runs")
    rows = []
    for name, one in found.items():
        work = getattr(one, "work", one)  # a run has both in one
        rows.append((str(name), float(one.cycles), float(work.flops), float(work.bytes)))
    return Compared(tuple(rows))
