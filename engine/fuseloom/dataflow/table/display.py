"""Fusion tables as a notebook shows them, and what the kinds of their cells are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fuseloom.dataflow.table.cells import VALUE_ROW, Cell, CellKind
from fuseloom.dataflow.table.construction import TableStep
from fuseloom.dataflow.table.part import TablePart
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.display import Markup, shown, table, tag
from fuseloom.wording import counted


class CellStyle(NamedTuple):
    """The look of cells of a kind: the colour of a family of primitives, a sign, and a sentence."""

    family: str
    sign: str
    says: str


LOOKS: Mapping[CellKind, CellStyle] = {
    CellKind.SCAN: CellStyle(
        "scan",
        "≡",
        "LS(x) scans the level below reference x: its coordinates and their references.",
    ),
    CellKind.LOCATE: CellStyle(
        "locate",
        "@",
        "Looks coordinates up in a dense level: no scan, and no intersection.",
    ),
    CellKind.SEARCH: CellStyle(
        "locate", "@", "Looks coordinates up in a compressed level by searching it."
    ),
    CellKind.REPEAT: CellStyle(
        "repeat",
        "↻",
        "Rep(x, I) repeats reference x once for each coordinate of I: the tensor lacks that index.",
    ),
    CellKind.JOIN: CellStyle(
        "join",
        "∩",
        "Intersects (∩) or unites (∪) the coordinates of several tensors: I_p is the joined level.",
    ),
    CellKind.REFERENCE: CellStyle(
        "", "", "<A.i> is the stream of references that cell A, i makes."
    ),
    CellKind.ACCUMULATE: CellStyle(
        "acc",
        "Σ",
        "Acc1_k.crd sums over k and emits what is left, one level deep; RedN sums to a value.",
    ),
    CellKind.VALUE: CellStyle("values", "v", "Loads values by reference from the value array."),
    CellKind.COMPUTE: CellStyle("compute", "×", "Arithmetic on values as they stream by."),
    CellKind.REDUCED: CellStyle("", "", "The index is summed over: nothing is left of it."),
    CellKind.PASS: CellStyle("", "", "The level goes through unchanged."),
    CellKind.VALUE_REPEAT: CellStyle(
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
    kinds = [k for k in CellKind if k in {cell.kind for cell in cells.values()} and LOOKS[k].sign]
    legend = (
        tag("span", tag("span", look.sign, class_="sign"), kind.value, title=look.says,
            class_=f"kind {look.family}")
        for kind, look in ((k, LOOKS[k]) for k in kinds)
    )  # fmt: skip
    return shown(
        tag("h4", f"fusion table of {fusion.region.name}, order {' → '.join(fusion.order)}"),
        _grid(fusion, {place: _cell(cell) for place, cell in cells.items()}),
        tag("p", legend),
        tag("pre", "\n".join(map(str, fusion.accumulators.values())))
        if fusion.accumulators
        else None,
    )


PHASES: Mapping[str, str] = {
    "leaves": "Tensors in memory: a scanner for each of their indices, and a load of their values.",
    "repeats": "Indices that a tensor lacks: what it has is offered again for each coordinate.",
    "compute": "What is computed: whose coordinates it has, and the arithmetic on values.",
    "reduce": "Indices that are summed over go; an accumulator puts out what is left.",
    "merge": "Levels that meet at one index become one: both cells now stand for what is joined.",
}
"""The texts that explain each phase of the construction."""


def step_html(step: TableStep) -> Markup:
    """The table after a step of its construction, with the cells marked that it fills."""
    before, changed = step.before, step.changed
    cells = {
        place: _cell(cell, new=place in changed, was=before[place].text if place in before else "")
        for place, cell in step.after.items()
    }
    return shown(
        tag("h4", step.title),
        tag("p", PHASES[step.step.phase], class_="quiet") if step.step else None,
        _grid(step.table, cells),
    )


def part_html(part: TablePart) -> Markup:
    """Some columns of a table, and how many others there are."""
    fusion, cells = part.table, {place: _cell(cell) for place, cell in part.table.cells.items()}
    others = counted(part.left_out, "more column")
    return shown(
        tag("h4", f"fusion table of {fusion.region.name}, order {' → '.join(fusion.order)}"),
        _grid(fusion, cells, part.columns),
        tag("p", f"… and {others}", class_="quiet") if part.left_out > 0 else None,
    )


def _grid(
    fusion: FusionTable,
    cells: Mapping[tuple[str, str], Markup],
    only: tuple[str, ...] | None = None,
) -> Markup:
    """Rows of indices and the values, columns of tensors."""
    titles = {column.name: column.title for column in fusion.columns}
    names = tuple(titles) if only is None else only
    empty = tag("td", "·", class_="quiet")
    rows = [
        (
            tag("code", "value" if row == VALUE_ROW else row),
            *(cells.get((name, row), empty) for name in names),
        )
        for row in fusion.rows
    ]
    return table(["index", *(titles[name] for name in names)], rows)


def _cell(cell: Cell, *, new: bool = False, was: str = "") -> Markup:
    """A cell, marked if it is new, with what was there before."""
    look = LOOKS[cell.kind]
    old = tag("div", "was ", tag("s", was)) if new and was else None
    mark = " new" if new else ""
    if not look.sign:
        return tag("td", cell.text, old, class_=f"quiet{mark}", title=look.says)
    sign = tag("span", look.sign, class_="sign")
    return tag("td", sign, cell.text, old, class_=f"made {look.family}{mark}", title=look.says)
