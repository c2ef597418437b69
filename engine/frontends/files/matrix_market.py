"""Matrices in Matrix Market files (``.mtx``, ``.mtx.gz``).

Source: R. Boisvert, R. Pozo and K. Remington, "The Matrix Market Exchange Formats", NISTIR 5935.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.errors import DataError
from engine.frontends.files.limits import MAX_ENTRIES
from engine.frontends.files.lines import Lines
from engine.frontends.files.table import Rows, read_rows
from engine.frontends.files.tensor import CoordinateTensor, Floats, check_shape
from engine.program.levels import Ints

BANNER = "%%MatrixMarket"
LAYOUTS = ("coordinate", "array")
FIELDS = ("real", "double", "integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def read_matrix_market(path: str | Path) -> CoordinateTensor:
    """A matrix; what a symmetric file leaves out is filled in.

    A pattern has the value 1 everywhere; an ``array`` keeps its non-zeros only.

    Raises
    ------
    DataError
        Names the line: a header of another kind, rows that contradict it, an element out of
        range, not finite or given twice.
    """
    lines = Lines(Path(path))
    layout, field, symmetry = _banner(lines)
    shape, claimed = _sizes(lines, layout)
    check_shape(shape, str(path))
    if symmetry != "general" and shape[0] != shape[1]:
        raise lines.error(
            f"a {symmetry} matrix of {shape[0]}x{shape[1]}", hint="a symmetric matrix is square"
        )
    if claimed > MAX_ENTRIES:
        raise lines.error(
            f"the header claims {claimed:,} elements, the limit is {MAX_ENTRIES:,}",
            hint="use a smaller matrix",
        )
    columns = 1 if layout == "array" else 2 if field == "pattern" else 3
    rows = read_rows(lines.path, lines.rest(), columns=columns, comment=b"%", limit=claimed + 1)
    expected = claimed if layout == "coordinate" else _stored(shape[0], shape[1], symmetry)
    if len(rows) != expected:
        raise DataError(
            f"{path} has {len(rows):,}{' or more' if len(rows) > expected else ''} elements, "
            f"its header says {expected:,}",
            hint="the file may be cut short",
        )
    if layout == "array":
        return _array(rows, shape, symmetry)
    coords = np.stack([rows.integers(k, "a coordinate", 1, shape[k]) - 1 for k in (0, 1)], axis=1)
    values = rows.values[:, 2] if columns == 3 else np.ones(len(rows))
    return _unfolded(rows, coords, values, shape, symmetry)


def _banner(lines: Lines) -> tuple[str, str, str]:
    words = (lines.take() or b"").decode("latin-1").lower().split()
    hint = f"{BANNER} matrix coordinate real general"
    if len(words) != 5 or words[0] != BANNER.lower() or words[1] != "matrix":
        raise lines.error("this is no header of a Matrix Market file", hint=hint)
    for word, known in zip(words[2:], (LAYOUTS, FIELDS, SYMMETRIES), strict=True):
        if word not in known:
            raise lines.error(
                f"{word[:40]!r} is not supported here", hint=f"supported: {', '.join(known)}"
            )
    layout, field, symmetry = words[2:]
    if field == "pattern" and (layout == "array" or symmetry == "skew-symmetric"):
        raise lines.error(f"a pattern cannot be {layout}, {symmetry}", hint=hint)
    return layout, field, symmetry


def _sizes(lines: Lines, layout: str) -> tuple[tuple[int, int], int]:
    """Shape, and how many elements the header claims."""
    line = lines.take()
    while line is not None and (not line.strip() or line.lstrip().startswith(b"%")):
        line = lines.take()
    words = (line or b"").split()
    expected = 3 if layout == "coordinate" else 2
    if len(words) != expected or not all(word.isdigit() and len(word) < 20 for word in words):
        raise lines.error(
            f"the line of sizes does not hold {expected} whole numbers",
            hint="rows, columns" + (", elements" if expected == 3 else ""),
        )
    rows, columns, *rest = map(int, words)
    return (rows, columns), rest[0] if rest else rows * columns


def _stored(rows: int, columns: int, symmetry: str) -> int:
    """Elements that an ``array`` file of a symmetry lists."""
    match symmetry:
        case "symmetric":
            return rows * (rows + 1) // 2
        case "skew-symmetric":
            return rows * (rows - 1) // 2
        case _:
            return rows * columns


def _array(rows: Rows, shape: tuple[int, int], symmetry: str) -> CoordinateTensor:
    """Column by column; of a symmetric matrix the lower triangle."""
    n, m = shape
    if symmetry == "general":
        at = np.arange(n * m)
        coords = np.stack([at % n, at // n], axis=1)
    else:
        row, column = np.tril_indices(n, -1 if symmetry == "skew-symmetric" else 0)
        order = np.lexsort((row, column))
        coords = np.stack([row[order], column[order]], axis=1)
    values = rows.values[:, 0]
    kept = values != 0
    lines = Rows(rows.source, rows.values[kept], rows.lines[kept])
    return _unfolded(lines, coords[kept], values[kept], shape, symmetry)


def _unfolded(
    rows: Rows, coords: Ints, values: Floats, shape: tuple[int, int], symmetry: str
) -> CoordinateTensor:
    """With the triangle that a symmetric file leaves out."""
    lines = rows.lines
    if symmetry != "general":
        diagonal = coords[:, 0] == coords[:, 1]
        if symmetry == "skew-symmetric" and diagonal.any():
            raise rows.error(
                int(np.flatnonzero(diagonal)[0]),
                "a skew-symmetric file lists a diagonal element",
                "its diagonal is zero and left out",
            )
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        coords = np.concatenate([coords, coords[~diagonal][:, ::-1]])
        values = np.concatenate([values, sign * values[~diagonal]])
        lines = np.concatenate([lines, lines[~diagonal]])
    both = Rows(rows.source, values[:, None], lines)
    return CoordinateTensor.of(coords, values, shape, str(rows.source), place=both.error)
