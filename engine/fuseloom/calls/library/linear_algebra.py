"""Products of matrices and vectors, by panels of rows and by tiles; sparse ones by rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuseloom.calls.data_kinds import CsrRows, DataKind, Matrix, Vector
from fuseloom.calls.library.library_call import (
    ROUNDED,
    Array,
    Examples,
    LibraryCall,
    extent,
    two_extents,
)

_TILES = """
n: Symbolic
m: Symbolic
for i in [0, out.rows, n] {
  for j in [0, out.cols, m] {
    produces { out { row: i, col: j, rows: n, cols: m } }
    when consumes {
      INPUTS
    }
  }
}"""
GEMM_ROWS = """
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: width } }
  when consumes {
    a { row: i, col: 0, rows: n, cols: depth },
    b { row: 0, col: 0, rows: depth, cols: width }
  }
}"""
GEMM_TILES = _TILES.replace(
    "INPUTS",
    """a { row: i, col: 0, rows: n, cols: depth },
      b { row: 0, col: j, rows: depth, cols: m }""",
)
GEMM_TRANSPOSED = _TILES.replace(
    "INPUTS",
    """a { row: i, col: 0, rows: n, cols: depth },
      b { row: j, col: 0, rows: m, cols: depth }""",
)
GEMM_LEFT_TRANSPOSED = _TILES.replace(
    "INPUTS",
    """a { row: 0, col: i, rows: depth, cols: n },
      b { row: 0, col: j, rows: depth, cols: m }""",
)
GEMV = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes {
    a { row: i, col: 0, rows: n, cols: width },
    x { start: 0, len: width }
  }
}"""
GEMV_TRANSPOSED = """
n: Symbolic
for j in [0, out.len, n] {
  produces { out { start: j, len: n } }
  when consumes {
    a { row: 0, col: j, rows: height, cols: n },
    x { start: 0, len: height }
  }
}"""
GER = _TILES.replace("INPUTS", "x { start: i, len: n }, y { start: j, len: m }")
GER_UPDATE = _TILES.replace(
    "INPUTS",
    """x { start: i, len: n }, y { start: j, len: m },
      a { row: i, col: j, rows: n, cols: m }""",
)
SPARSE_ROWS = """
n: Symbolic
m: Symbolic
for i in [0, out.rows, n] {
  for j in [0, out.cols, m] {
    produces { out { row: i, col: j, rows: n, cols: m } }
    when consumes {
      s { row: i, rows: n },
      b { row: 0, col: j, rows: depth, cols: m }
    }
  }
}"""
SPARSE_VECTOR = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { s { row: i, rows: n }, x { start: 0, len: depth } }
}"""
SPARSE_SUM = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { s { row: i, rows: n } }
}"""


def gemm_rows(a: Array, b: Array, depth: int, width: int, out: Array) -> None:
    """The product of two matrices."""
    np.matmul(a, b, out=out)


def gemm(a: Array, b: Array, depth: int, out: Array) -> None:
    """The product of two matrices."""
    np.matmul(a, b, out=out)


def gemm_transposed(a: Array, b: Array, depth: int, out: Array) -> None:
    """The product of a matrix and the transpose of another."""
    np.matmul(a, b.T, out=out)


def gemm_left_transposed(a: Array, b: Array, depth: int, out: Array) -> None:
    """The product of the transpose of a matrix and another matrix."""
    np.matmul(a.T, b, out=out)


def gemv(a: Array, x: Array, width: int, out: Array) -> None:
    """The product of a matrix and a vector."""
    np.matmul(a, x, out=out)


def gemv_transposed(a: Array, x: Array, height: int, out: Array) -> None:
    """The product of the transpose of a matrix and a vector."""
    np.matmul(a.T, x, out=out)


def ger(alpha: float, x: Array, y: Array, out: Array) -> None:
    """The outer product of two vectors, times a number."""
    np.multiply(x[:, None], y[None, :], out=out)
    np.multiply(out, alpha, out=out)


def ger_update(alpha: float, x: Array, y: Array, a: Array, out: Array) -> None:
    """A matrix plus the outer product of two vectors, times a number."""
    np.multiply(x[:, None], y[None, :], out=out)
    np.multiply(out, alpha, out=out)
    np.add(out, a, out=out)


def outer_difference(x: Array, y: Array, out: Array) -> None:
    """The difference of each element of a vector and each of another."""
    np.subtract(x[:, None], y[None, :], out=out)


def squared_distances(a: Array, b: Array, depth: int, out: Array) -> None:
    """The squared distance of each point of one set and each of another."""
    differences = a[:, None, :] - b[None, :, :]
    np.einsum("ijk,ijk->ij", differences, differences, out=out)


def sparse_times_dense(s: Any, b: Array, depth: int, out: Array) -> None:
    """The product of a sparse matrix and a dense one."""
    np.copyto(out, s @ b, casting="no")


def sparse_times_vector(s: Any, x: Array, depth: int, out: Array) -> None:
    """The product of a sparse matrix and a vector."""
    np.copyto(out, s @ x, casting="no")


def sparse_row_sums(s: Any, out: Array) -> None:
    """The sum of each row of a sparse matrix."""
    np.copyto(out, np.asarray(s.sum(axis=1)).reshape(s.shape[0]), casting="no")


def _three_extents(rng: np.random.Generator) -> tuple[int, int, int]:
    height, width = two_extents(rng)
    depth = next(x for x in (extent(rng), 4, 15, 16) if x not in (height, width))
    return height, width, depth


def _products(left: str, right: str, **more: str) -> Examples:
    """Two matrices, with the letters of their extents: i, j of the result, k that is summed."""

    def made(rng: np.random.Generator) -> dict[str, Any]:
        sizes = dict(zip("ijk", _three_extents(rng), strict=True))
        a, b = (rng.normal(size=[sizes[x] for x in letters]) for letters in (left, right))
        extents = {name: sizes[letter] for name, letter in more.items()}
        return {"a": a, "b": b, **extents, "out": np.zeros((sizes["i"], sizes["j"]))}

    return made


def _times_vector(transposed: bool) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        a = rng.normal(size=(height, width))
        if transposed:
            x = rng.normal(size=height)
            return {"a": a, "x": x, "height": height, "out": np.zeros(width)}
        return {"a": a, "x": rng.normal(size=width), "width": width, "out": np.zeros(height)}

    return made


def _outer(*, update: bool = False, **values: float) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        vectors = {"x": rng.normal(size=height), "y": rng.normal(size=width)}
        more = {"a": rng.normal(size=(height, width))} if update else {}
        return {**values, **vectors, **more, "out": np.zeros((height, width))}

    return made


def _sparse(dense: str) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        from scipy.sparse import random_array

        height, width, depth = _three_extents(rng)
        s = random_array((height, depth), density=0.4, format="csr", rng=rng)
        if dense == "b":
            out = np.zeros((height, width))
            return {"s": s, "b": rng.normal(size=(depth, width)), "depth": depth, "out": out}
        more = {"x": rng.normal(size=depth), "depth": depth} if dense else {}
        return {"s": s, **more, "out": np.zeros(height)}

    return made


def _row(
    name: str,
    text: str,
    function: Callable[..., Any],
    annotation: str,
    parameters: str,
    examples: Examples,
    tolerance: float = ROUNDED,
) -> LibraryCall:
    vectors = {"x", "y", *(["out"] if "out { start" in annotation else [])}
    kinds: dict[str, DataKind] = {
        one: CsrRows() if one == "s" else Vector() if one in vectors else Matrix()
        for one in parameters.split()
        if one in {"a", "b", "s", "x", "y", "out"}
    }
    return LibraryCall(
        name, text, function, annotation, tuple(parameters.split()), kinds, examples, tolerance
    )


ROWS = (
    _row(
        "gemm_rows", "The product of two matrices, by panels of rows.", gemm_rows, GEMM_ROWS,
        "a b depth width out", _products("ik", "kj", depth="k", width="j"),
    ),
    _row(
        "gemm", "The product of two matrices, by tiles.", gemm, GEMM_TILES, "a b depth out",
        _products("ik", "kj", depth="k"),
    ),
    _row(
        "gemm_transposed", "The product of a matrix and the transpose of another; of one and the "
        "same, syrk.", gemm_transposed, GEMM_TRANSPOSED, "a b depth out",
        _products("ik", "jk", depth="k"),
    ),
    _row(
        "gemm_left_transposed", "The product of the transpose of a matrix and another matrix.",
        gemm_left_transposed, GEMM_LEFT_TRANSPOSED, "a b depth out",
        _products("ki", "kj", depth="k"),
    ),
    _row(
        "gemv", "The product of a matrix and a vector.", gemv, GEMV, "a x width out",
        _times_vector(False),
    ),
    _row(
        "gemv_transposed", "The product of the transpose of a matrix and a vector.",
        gemv_transposed, GEMV_TRANSPOSED, "a x height out", _times_vector(True),
    ),
    _row(
        "ger", "The outer product of two vectors, times a number.", ger, GER, "alpha x y out",
        _outer(alpha=1.5), 0.0,
    ),
    _row(
        "ger_update", "A matrix plus the outer product of two vectors, times a number.",
        ger_update, GER_UPDATE, "alpha x y a out", _outer(update=True, alpha=1.5), 0.0,
    ),
    _row(
        "outer_difference", "The difference of each element of a vector and each of another.",
        outer_difference, GER, "x y out", _outer(), 0.0,
    ),
    _row(
        "squared_distances", "The squared distance of each point of one set and each of another.",
        squared_distances, GEMM_TRANSPOSED, "a b depth out", _products("ik", "jk", depth="k"),
    ),
    _row(
        "sparse_times_dense", "The product of a sparse matrix in CSR and a dense one.",
        sparse_times_dense, SPARSE_ROWS, "s b depth out", _sparse("b"),
    ),
    _row(
        "sparse_times_vector", "The product of a sparse matrix in CSR and a vector.",
        sparse_times_vector, SPARSE_VECTOR, "s x depth out", _sparse("x"),
    ),
    _row(
        "sparse_row_sums", "The sum of each row of a sparse matrix in CSR.", sparse_row_sums,
        SPARSE_SUM, "s out", _sparse(""),
    ),
)  # fmt: skip
"""The rows of this subject."""
