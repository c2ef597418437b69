"""Notebook 4: fusion tables, the paper's Figure 9 rebuilt cell by cell."""

from __future__ import annotations

from functools import cache

import numpy as np

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.table.construction import TableStep, construction
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.program import parse
from fuseloom_workbench.notebook.course.formats import MATRIX
from fuseloom_workbench.notebook.exercises import Exercise, cells, names

FIGURE_9 = """program figure_9
A: 4x4 dcsr
X: 4x3 dcsr
T[i,j] = A[i,k] * X[k,j]
"""
"""The product of two sparse matrices, order i, k, j."""
INNER = """program inner
A: 4x4 dcsr
X: 4x3 dcsc
T[i,j] = A[i,k] * X[k,j]
"""
"""The same, order i, j, k: X is stored by columns."""
TWO = """program two
A: 4x4 dcsr
X: 4x3 dcsr
W: 3x2 dcsr
T[i,p] = A[i,k] * X[k,p]
H[i,n] = T[i,p] * W[p,n]
"""
"""Two products in one region."""
AS_PRINTED = "repeat references"
"""The schedule under which tables are as the paper prints them."""
DATA = {"A": MATRIX, "X": np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 5], [0, 0, 0]])}
"""The matrix of notebook 1, and another one."""


@cache
def compiled(text: str = FIGURE_9) -> Compilation:
    """One of the programs, all statements in one region, its table as the paper has it."""
    program = parse(text)
    made = [s.out.tensor for s in program.statements]
    fused = f"fuse {made[0]}..{made[-1]}; " if len(made) > 1 else ""
    return compile_program(program, fused + AS_PRINTED)


def table(text: str = FIGURE_9) -> FusionTable:
    """Its table."""
    return compiled(text).regions[0].table


def _steps(phase: str) -> list[TableStep]:
    return [s for s in construction(table()) if s.step is not None and s.step.phase == phase]


def _filled(phase: str, column: str = "") -> dict[tuple[str, str], str]:
    """Return the cells that the steps of a phase write, in all columns or in one."""
    found: dict[tuple[str, str], str] = {}
    for step in _steps(phase):
        found |= step.changed
    return {place: text for place, text in found.items() if column in ("", place[0])}


def _readers(cell: str) -> list[str]:
    """The cells that name another."""
    return [f"{c}.{r}" for (c, r), x in table().cells.items() if f"<{cell}>" in x.text]


def _other_order() -> dict[tuple[str, str], str]:
    """The cells of the rows of j and of the values, where the order is another."""
    return {
        (column, row): cell.text
        for (column, row), cell in table(INNER).cells.items()
        if (column, row) in {("A", "j"), ("X", "j"), ("T", "j"), ("T", "k"), ("T", "val")}
    }


def _joined_with(column: str, row: str) -> list[str]:
    """Other columns whose level is joined with that of a cell."""
    of = table(TWO).cells
    level = of[column, row].text.rpartition(" -> ")[2]
    return [c for (c, r), x in of.items() if r == row and c != column and level in x.text]


EXERCISES = {
    "4.1": Exercise(
        "Fill in what step 2 writes: scan and load X.",
        cells(lambda: _filled("leaves", "X")),
        "each scanner is fed by the cell above it, whether or not something stands there yet",
    ),
    "4.2": Exercise(
        "Fill in the repeats: A lacks j, X lacks i.",
        cells(lambda: _filled("repeats")),
        "Rep(what is repeated, once for each coordinate of this): <A.k> is repeated, or root",
    ),
    "4.3": Exercise(
        "Fill in what is computed: the cells T, i and T, val.",
        cells(lambda: _filled("compute")),
        "T has the rows of A; its values are MUL(<...>,<...>) of two value cells",
    ),
    "4.4": Exercise(
        "Fill in what the reduction leaves: T, k; T, j; and T, val.",
        cells(lambda: _filled("reduce")),
        "k is reduced; the accumulator Acc1_k has an output .crd and an output .val",
    ),
    "4.5": Exercise(
        "Fill in the merged cells: A, k and X, k.",
        cells(lambda: _filled("merge")),
        "what stood there, then -> and the name of the joined level",
    ),
    "4.6": Exercise(
        "Which cells name <A.i>?",
        names(lambda: _readers("A.i")),
        "write column.row; there are three",
    ),
    "4.7": Exercise(
        "Fill in the inner product: A, j; X, j; T, j; T, k and T, val.",
        cells(_other_order),
        "j is now X's outer level, A is repeated for it, and k is added up innermost: "
        "Reduce_k(...) of the product",
    ),
    "4.8": Exercise(
        "With the coordinates of which column are those of W.p intersected?",
        names(lambda: _joined_with("W", "p")),
        "look for the other I_p in the row of p",
    ),
}
