"""Reductions of the rows or columns of a matrix; their extent is an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuseloom.calls.data_kinds import DataKind, Matrix, Vector
from fuseloom.calls.library.library_call import (
    ROUNDED,
    Array,
    Examples,
    LibraryCall,
    two_extents,
)

BY_ROWS = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { a { row: i, col: 0, rows: n, cols: width } }
}"""
BY_COLUMNS = """
n: Symbolic
for j in [0, out.len, n] {
  produces { out { start: j, len: n } }
  when consumes { a { row: 0, col: j, rows: height, cols: n } }
}"""
OF_TWO = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes {
    a { row: i, col: 0, rows: n, cols: width },
    b { row: i, col: 0, rows: n, cols: width }
  }
}"""


def max_rows(a: Array, width: int, out: Array) -> None:
    """The largest element of each row."""
    np.max(a, axis=1, out=out)


def min_rows(a: Array, width: int, out: Array) -> None:
    """The smallest element of each row."""
    np.min(a, axis=1, out=out)


def argmax_rows(a: Array, width: int, out: Array) -> None:
    """The column of the largest element of each row."""
    np.argmax(a, axis=1, out=out)


def sum_rows(a: Array, width: int, out: Array) -> None:
    """The sum of each row."""
    np.sum(a, axis=1, out=out)


def mean_rows(a: Array, width: int, out: Array) -> None:
    """The mean of each row."""
    np.mean(a, axis=1, out=out)


def variance_rows(a: Array, width: int, out: Array) -> None:
    """The variance of each row."""
    np.var(a, axis=1, out=out)


def norm_rows(a: Array, width: int, out: Array) -> None:
    """The Euclidean norm of each row."""
    np.einsum("ij,ij->i", a, a, out=out)
    np.sqrt(out, out=out)


def dot_rows(a: Array, b: Array, width: int, out: Array) -> None:
    """The dot product of each two rows."""
    np.einsum("ij,ij->i", a, b, out=out)


def max_columns(a: Array, height: int, out: Array) -> None:
    """The largest element of each column."""
    np.max(a, axis=0, out=out)


def sum_columns(a: Array, height: int, out: Array) -> None:
    """The sum of each column."""
    np.sum(a, axis=0, out=out)


def mean_columns(a: Array, height: int, out: Array) -> None:
    """The mean of each column."""
    np.mean(a, axis=0, out=out)


def _rows(*names: str, dtype: type = np.float64) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        data = {name: rng.normal(size=(height, width)) for name in names}
        return {**data, "width": width, "out": np.zeros(height, dtype)}

    return made


def _columns(rng: np.random.Generator) -> dict[str, Any]:
    height, width = two_extents(rng)
    return {"a": rng.normal(size=(height, width)), "height": height, "out": np.zeros(width)}


def _row(
    name: str,
    text: str,
    function: Callable[..., Any],
    annotation: str,
    examples: Examples,
    tolerance: float = 0.0,
    result: DataKind | None = None,
) -> LibraryCall:
    inputs = ("a", "b") if annotation == OF_TWO else ("a",)
    extent = "height" if annotation == BY_COLUMNS else "width"
    return LibraryCall(
        name, text, function, annotation, (*inputs, extent, "out"),
        {**dict.fromkeys(inputs, Matrix()), "out": result or Vector()}, examples, tolerance,
    )  # fmt: skip


ROWS = (
    _row("max_rows", "The largest element of each row.", max_rows, BY_ROWS, _rows("a")),
    _row("min_rows", "The smallest element of each row.", min_rows, BY_ROWS, _rows("a")),
    _row(
        "argmax_rows", "The column of the largest element of each row.", argmax_rows, BY_ROWS,
        _rows("a", dtype=np.int64), result=Vector(np.int64),
    ),
    _row("sum_rows", "The sum of each row.", sum_rows, BY_ROWS, _rows("a"), ROUNDED),
    _row("mean_rows", "The mean of each row.", mean_rows, BY_ROWS, _rows("a"), ROUNDED),
    _row("variance_rows", "The variance of each row.", variance_rows, BY_ROWS, _rows("a"), ROUNDED),
    _row("norm_rows", "The Euclidean norm of each row.", norm_rows, BY_ROWS, _rows("a"), ROUNDED),
    _row(
        "dot_rows", "The dot product of each row of a matrix with that of another.", dot_rows,
        OF_TWO, _rows("a", "b"), ROUNDED,
    ),
    _row("max_columns", "The largest element of each column.", max_columns, BY_COLUMNS, _columns),
    _row("sum_columns", "The sum of each column.", sum_columns, BY_COLUMNS, _columns, ROUNDED),
    _row("mean_columns", "The mean of each column.", mean_columns, BY_COLUMNS, _columns, ROUNDED),
)  # fmt: skip
"""The rows of this subject."""
