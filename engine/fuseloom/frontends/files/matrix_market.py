"""Matrices in Matrix Market files (``.mtx``, packed or not), as :func:`scipy.io.mmread` has them.

Source: R. Boisvert, R. Pozo and K. Remington, "The Matrix Market Exchange Formats", NISTIR 5935.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_ENTRIES
from fuseloom.frontends.files.lines import Lines
from fuseloom.frontends.files.table import TableRows, lines_text, read_rows
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates, Floats, check_shape
from fuseloom.program.levels import Ints
from fuseloom.wording import counted

BANNER = "%%MatrixMarket"
LAYOUTS = ("coordinate", "array")
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read_matrix_market(path: str | Path) -> CoordinateTensor:
    """A matrix; what a symmetric file leaves out is filled in.

    A pattern has the value 1 everywhere; an ``array`` keeps its non-zeros only.  Elements given
    twice are added, the diagonal of a skew-symmetric file is as it is listed, fields after the
    value are passed over, and an ``array`` of a symmetric matrix may end early, all as SciPy does;
    the notes say so.  NaN, infinities, and matrices without rows or columns are read; what cannot
    hold them, such as the data of a program, refuses them.

    Other than SciPy, exponents after ``D`` are read, and refused are numbers that go on with
    something else (``1,5`` is no 1), fractions in files of integers, and files for which SciPy
    writes outside of the matrix.

    Raises
    ------
    DataError
        Names the line: a header of another kind, rows that contradict it, an element out of
        range.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.mtx"
    ...     _ = path.write_text(
    ...         "%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\\n1 1 inf\\n2 1 3\\n"
    ...     )
    ...     read_matrix_market(path).to_scipy().toarray()
    array([[inf,  3.],
           [ 3.,  0.]])
    """
    lines = Lines(Path(path))
    layout, field, symmetry = _banner(lines)
    shape, claimed = _sizes(lines, layout)
    check_shape(shape, str(path), least=0)
    if claimed > MAX_ENTRIES:
        raise lines.error(
            f"the header claims {counted(claimed, 'element')}, the limit is {MAX_ENTRIES:,}",
            hint="use a smaller matrix",
        )
    listed = layout == "coordinate"
    columns = 1 if not listed else 2 if field == "pattern" else 3
    expected = claimed if listed else _stored(shape[0], shape[1], symmetry)
    rows = read_rows(
        lines.path, lines.rest(), columns=columns, whole=2 if listed else 0, spare=True,
        comment=b"%", finite=False, limit=expected,
        excess=f"its header says {expected:,}: correct it, or them",
    )  # fmt: skip
    if len(rows) != expected and (listed or symmetry == "general"):
        raise DataError(
            f"{path} has {counted(len(rows), 'element')}, its header says {expected:,}",
            hint="the file may be cut short",
        )
    if "integer" in field:
        _check_integers(rows, signed=field == "integer")
    if layout == "array":
        return _array(rows, shape, symmetry)
    coords = np.stack([rows.integers(k, "a coordinate", 1, shape[k]) - 1 for k in (0, 1)], axis=1)
    values = rows.values[:, 2] if columns == 3 else np.ones(len(rows))
    return _unfolded(rows, coords, values, shape, symmetry)


def _check_integers(rows: TableRows, *, signed: bool) -> None:
    values = rows.values[:, -1]
    fractions = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))
    if len(fractions):
        raise rows.error(
            int(fractions[0]),
            f"{values[fractions[0]]:g} in a file of integers",
            "write 'real' in place of 'integer' in the first line",
        )
    negative = np.flatnonzero(values < 0)
    if not signed and len(negative):
        raise rows.error(
            int(negative[0]),
            f"{values[negative[0]]:g} in a file of unsigned integers",
            "write 'integer' in place of 'unsigned-integer' in the first line",
        )


def is_banner(line: bytes) -> bool:
    """Return whether a line begins a Matrix Market file, in any case and with one or two ``%``."""
    return line.lstrip().lstrip(b"%")[: len(BANNER)].lower().startswith(
        BANNER.strip("%").lower().encode()
    ) and line.lstrip().startswith(b"%")


def _banner(lines: Lines) -> tuple[str, str, str]:
    line = lines.take()
    while line is not None and not line.strip():
        line = lines.take()
    words = (line or b"").decode("latin-1").lower().split()
    hint = f"{BANNER} matrix coordinate real general"
    if len(words) < 5 or words[0].lstrip("%") != BANNER.strip("%").lower() or words[0][0] != "%":
        raise lines.error("this is no header of a Matrix Market file", hint=hint)
    if words[1] != "matrix":
        raise lines.error(f"a {words[1][:40]} is not read, a matrix is", hint=hint)
    if words[3] == "complex":
        raise lines.error(
            "complex values are not read",
            hint="write the real part: scipy.io.mmwrite(file, scipy.io.mmread(file).real)",
        )
    for word, known in zip(words[2:5], (LAYOUTS, FIELDS, SYMMETRIES), strict=True):
        if word not in known:
            raise lines.error(
                f"{word[:40]!r} is not supported here", hint=f"supported: {', '.join(known)}"
            )
    layout, field, symmetry = words[2:5]
    if field == "pattern" and layout == "array":
        raise lines.error("a pattern cannot be an array", hint=hint)
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
            f"the line of sizes does not hold {expected} integers",
            hint="rows, columns" + (", elements" if expected == 3 else ""),
        )
    rows, columns, *rest = map(int, words)
    return (rows, columns), rest[0] if rest else rows * columns


def _stored(rows: int, columns: int, symmetry: str) -> int:
    """Elements that an ``array`` file of a symmetry lists."""
    square = min(rows, columns)
    match symmetry:
        case "symmetric" | "hermitian":
            return square * rows - square * (square - 1) // 2
        case "skew-symmetric":
            return square * rows - square * (square + 1) // 2
        case _:
            return rows * columns


def _array(rows: TableRows, shape: tuple[int, int], symmetry: str) -> CoordinateTensor:
    """Column by column; of a symmetric matrix the lower triangle."""
    n, m = shape
    if symmetry == "general":
        at = np.arange(n * m)
        coords = np.stack([at % n, at // n], axis=1)
    else:
        row, column = np.tril_indices(n, -1 if symmetry == "skew-symmetric" else 0, m)
        order = np.lexsort((row, column))
        coords = np.stack([row[order], column[order]], axis=1)
    values, notes = rows.values[:, 0], rows.notes
    if len(values) < len(coords):
        notes = (
            *notes,
            f"the file lists {len(values):,} of the {counted(len(coords), 'element')} of a "
            f"{symmetry} "
            "array: the others are 0",
        )
        coords = coords[: len(values)]
    kept = values != 0
    lines = TableRows(rows.source, rows.values[kept], rows.lines[kept], notes)
    return _unfolded(lines, coords[kept], values[kept], shape, symmetry)


def _unfolded(
    rows: TableRows, coords: Ints, values: Floats, shape: tuple[int, int], symmetry: str
) -> CoordinateTensor:
    """With the triangle that a symmetric file leaves out."""
    lines, notes = rows.lines, rows.notes
    if symmetry != "general":
        diagonal = coords[:, 0] == coords[:, 1]
        if symmetry == "skew-symmetric" and values[diagonal].any():
            at = lines[diagonal & (values != 0)].tolist()
            notes = (*notes, f"a skew-symmetric file lists its diagonal, on {lines_text(at)}: kept")
        beyond = np.flatnonzero((coords >= np.array(shape[::-1])).any(axis=1))
        if len(beyond):
            row, column = (coords[beyond[0]] + 1).tolist()
            raise rows.error(
                int(beyond[0]),
                f"the mirror image of element ({row}, {column}) is outside of "
                f"{shape[0]}x{shape[1]}",
                "write 'general' in the first line, or a square shape",
            )
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        coords = np.concatenate([coords, coords[~diagonal][:, ::-1]])
        values = np.concatenate([values, sign * values[~diagonal]])
        lines = np.concatenate([lines, lines[~diagonal]])
    both = TableRows(rows.source, values[:, None], lines)
    return CoordinateTensor.of(
        coords, values, shape, str(rows.source),
        duplicates=Duplicates.SUM, place=both.error, notes=notes, exact=True,
    )  # fmt: skip
