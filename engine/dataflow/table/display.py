"""Fusion tables as a notebook shows them, and what the kinds of their cells are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.dataflow.table.cells import VALUE_ROW, Cell, CellKind
from engine.dataflow.table.table import FusionTable
from engine.display import Markup, shown, table, tag


class Look(NamedTuple):
    """How cells of a kind look: the colour of a family of primitives, a sign, and a sentence."""

    family: str
    sign: str
    says: str


LOOKS: Mapping[CellKind, Look] = {
    CellKind.SCAN: Look(
        "scan",
        "≡",
        "LS(x) scans the level below reference x: its coordinates and their references.",
    ),
    CellKind.LOCATE: Look(
        "locate",
        "@",
        "Looks coordinates up in a dense level: no scan, and no intersection.",
    ),
    CellKind.SEARCH: Look(
        "locate", "@", "Looks coordinates up in a compressed level by searching it."
    ),
    CellKind.REPEAT: Look(
        "repeat",
        "↻",
        "Rep(x, I) repeats reference x once for each coordinate of I: the tensor lacks that index.",
    ),
    CellKind.JOIN: Look(
        "join",
        "∩",
        "Intersects (∩) or unites (∪) the coordinates of several tensors: I_p is the joined level.",
    ),
    CellKind.REFERENCE: Look("", "", "<A.i> is the stream of references that cell A, i makes."),
    CellKind.ACCUMULATE: Look(
        "acc",
        "Σ",
        "Acc1_k.crd sums over k and emits what is left, one level deep; RedN sums to a value.",
    ),
    CellKind.VALUE: Look("values", "v", "Loads values by reference from the value array."),
    CellKind.COMPUTE: Look("compute", "×", "Arithmetic on values as they stream by."),
    CellKind.REDUCED: Look("", "", "The index is summed over: nothing is left of it."),
    CellKind.PASS: Look("", "", "The level goes through unchanged."),
    CellKind.VALUE_REPEAT: Look(
        "repeat",
        "↻",
        "RepV repeats a value that is computed already; (val) marks what is repeated as a value.",
    ),
}
"""Of each kind of cell."""


def table_html(fusion: FusionTable, step: int | None = None) -> Markup:
    """Rows of indices, columns of tensors, and what the kinds of cells are.

    Parameters
    ----------
    step : int, optional
        Of the construction, counted from 0; by default the finished table.
    """
    cells = fusion.cells if step is None else fusion.at(step)
    rows = [
        (
            tag("code", "value" if row == VALUE_ROW else row),
            *(_cell(cells.get((column.name, row))) for column in fusion.columns),
        )
        for row in fusion.rows
    ]
    kinds = [k for k in CellKind if k in {cell.kind for cell in cells.values()} and LOOKS[k].sign]
    legend = (
        tag("span", tag("span", look.sign, class_="sign"), kind.value, title=look.says,
            class_=f"kind {look.family}")
        for kind, look in ((k, LOOKS[k]) for k in kinds)
    )  # fmt: skip
    return shown(
        tag("h4", f"fusion table of {fusion.region.name}, order {' → '.join(fusion.order)}"),
        table(["index", *(column.title for column in fusion.columns)], rows),
        tag("p", legend),
        tag("pre", "\n".join(map(str, fusion.accumulators.values())))
        if fusion.accumulators
        else None,
    )


def _cell(cell: Cell | None) -> Markup:
    if cell is None:
        return tag("td", "·", class_="quiet")
    look = LOOKS[cell.kind]
    if not look.sign:
        return tag("td", cell.text, class_="quiet", title=look.says)
    sign = tag("span", look.sign, class_="sign")
    return tag("td", sign, cell.text, class_=f"made {look.family}", title=look.says)
