"""A matrix with a vector along its rows or columns, by tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.library.library_call import Array, LibraryCall, two_extents

_TILES = """
n: Symbolic
m: Symbolic
for i in [0, out.rows, n] {
  for j in [0, out.cols, m] {
    produces { out { row: i, col: j, rows: n, cols: m } }
    when consumes {
      a { row: i, col: j, rows: n, cols: m },
      v { start: PLACE, len: LENGTH }
    }
  }
}"""
PER_ROW = _TILES.replace("PLACE", "i").replace("LENGTH", "n")
PER_COLUMN = _TILES.replace("PLACE", "j").replace("LENGTH", "m")


def subtract_per_row(a: Array, v: Array, out: Array) -> None:
    """Each row minus its element of a vector."""
    np.subtract(a, v[:, None], out=out)


def multiply_per_row(a: Array, v: Array, out: Array) -> None:
    """Each row times its element of a vector."""
    np.multiply(a, v[:, None], out=out)


def divide_per_row(a: Array, v: Array, out: Array) -> None:
    """Each row divided by its element of a vector."""
    np.divide(a, v[:, None], out=out)


def add_per_column(a: Array, v: Array, out: Array) -> None:
    """Each column plus its element of a vector."""
    np.add(a, v[None, :], out=out)


def subtract_per_column(a: Array, v: Array, out: Array) -> None:
    """Each column minus its element of a vector."""
    np.subtract(a, v[None, :], out=out)


def multiply_per_column(a: Array, v: Array, out: Array) -> None:
    """Each column times its element of a vector."""
    np.multiply(a, v[None, :], out=out)


def _row(name: str, text: str, function: Callable[..., Any], annotation: str) -> LibraryCall:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        shape = two_extents(rng)
        count = shape[0] if annotation == PER_ROW else shape[1]
        values = rng.uniform(0.5, 2.0, count)
        return {"a": rng.normal(size=shape), "v": values, "out": np.zeros(shape)}

    kinds = {"a": Matrix(), "v": Vector(), "out": Matrix()}
    return LibraryCall(name, text, function, annotation, ("a", "v", "out"), kinds, made)


ROWS = (
    _row(
        "subtract_per_row", "Each row minus its element of a vector.", subtract_per_row, PER_ROW
    ),
    _row(
        "multiply_per_row", "Each row times its element of a vector.", multiply_per_row, PER_ROW
    ),
    _row(
        "divide_per_row", "Each row divided by its element of a vector.", divide_per_row, PER_ROW
    ),
    _row(
        "add_per_column", "Each column plus its element of a vector: a bias.", add_per_column,
        PER_COLUMN,
    ),
    _row(
        "subtract_per_column", "Each column minus its element of a vector.", subtract_per_column,
        PER_COLUMN,
    ),
    _row(
        "multiply_per_column", "Each column times its element of a vector.", multiply_per_column,
        PER_COLUMN,
    ),
)  # fmt: skip
"""The rows of this subject."""
