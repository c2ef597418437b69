"""Tables of numbers in text: one row per line, every fault with its line and field."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numpy.lib.recfunctions import structured_to_unstructured

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_DENSE, MAX_ENTRIES
from fuseloom.frontends.files.lines import LineBlock
from fuseloom.program.levels import Ints
from fuseloom.wording import counted

Floats = npt.NDArray[np.float64]
WHOLE = re.compile(rb"[+-]?[0-9]+")
NAN = re.compile(rb"[+-]?nan\([0-9a-z_]*\)", re.IGNORECASE)
"""The pattern that C prints for a NaN with a payload."""
FORTRAN = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[dD][+-]?[0-9]+")


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of a table.

    Attributes
    ----------
    values : (n, columns) array of float64
    lines : (n,) array of int
        The 1-based line of each.
    notes : tuple of str
        What was passed over, or read in another way than it is written.
    """

    source: Path
    values: Floats
    lines: Ints
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, row: int, message: str, hint: str) -> DataError:
        """An error at a row's line."""
        line = int(self.lines[row])
        return DataError(message, hint=hint, source=str(self.source), line=line)

    def integers(self, column: int, what: str, low: int, high: int) -> Ints:
        """A column of integers within limits, both included.

        Raises
        ------
        DataError
            Names the first line that breaks the rule, and the field.
        """
        given = self.values[:, column]
        bad = np.flatnonzero(~((given >= low) & (given <= high) & (given == np.floor(given))))
        if len(bad):
            raise self.error(
                int(bad[0]),
                f"field {column + 1}, {what}, is {given[bad[0]]:g}, "
                f"not an integer in {low:,}..{high:,}",
                hint="check the size, and whether counting starts at 0 or at 1",
            )
        return given.astype(np.int64)


@dataclass
class TableShape:
    """The shape of a table's rows, and the peculiarities met while reading it.

    Attributes
    ----------
    columns : int or None
        Numbers per row; what the first row has where it is None.
    whole : int
        So many first fields are integers, written without a point.
    spare : bool
        Whether more fields than that are passed over.
    delimiter : bytes or None
        White space where it is None.
    finite : bool
        Whether NaN and infinities are refused.
    passed : list of int
        Lines whose further fields were passed over.
    fortran : list of int
        Lines of numbers with an exponent after ``D``.
    """

    columns: int | None = None
    whole: int = 0
    spare: bool = False
    delimiter: bytes | None = None
    finite: bool = True
    passed: list[int] = field(default_factory=list)
    fortran: list[int] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return notes on the table."""
        told = []
        if self.passed:
            told.append(
                f"fields after the first {self.columns} are not read, on {lines_text(self.passed)}"
            )
        if self.fortran:
            told.append(
                f"exponents after D, as Fortran writes them, are powers of ten, "
                f"on {lines_text(self.fortran)}"
            )
        return tuple(told)


def lines_text(numbers: Sequence[int]) -> str:
    """``line 3``, or ``12 lines, the first is 3``."""
    if len(numbers) == 1:
        return f"line {numbers[0]:,}"
    return f"{counted(len(numbers), 'line')}, the first is {numbers[0]:,}"


def read_rows(
    path: Path,
    blocks: Iterable[LineBlock],
    *,
    columns: int | None = None,
    whole: int = 0,
    spare: bool = False,
    delimiter: bytes | None = None,
    finite: bool = True,
    comment: bytes | tuple[bytes, ...] = b"#",
    limit: int = MAX_ENTRIES,
    excess: str = "use a smaller tensor",
) -> TableRows:
    """All rows of a table; blank lines and those that start with ``comment`` are skipped.

    Parameters
    ----------
    columns : int, optional
        Numbers per row; by default what the first row has.
    whole : int
        So many first fields are integers, written without a point.
    spare : bool
        Whether more fields than that are passed over, and noted.
    delimiter : bytes, optional
        By default any white space.
    finite : bool
        Whether NaN and infinities are refused.
    limit : int
        Most rows.
    excess : str
        The hint where there are more.

    Raises
    ------
    DataError
        Names line and field: not a number, not finite, wrong number of fields, too many rows.
    """
    shape = TableShape(columns, whole, spare, delimiter, finite)
    parts = list(_parts(path, blocks, shape, comment, limit, excess))
    if not parts:
        return TableRows(path, np.zeros((0, columns or 0)), np.zeros(0, dtype=np.int64))
    values = np.concatenate([part.values for part in parts])
    lines = np.concatenate([part.lines for part in parts])
    return TableRows(path, values, lines, shape.notes())


def _parts(
    path: Path,
    blocks: Iterable[LineBlock],
    shape: TableShape,
    comment: bytes | tuple[bytes, ...],
    limit: int,
    excess: str,
) -> Iterator[TableRows]:
    count = 0
    for block in blocks:
        kept = [
            (number, text)
            for number, text in enumerate(map(bytes.strip, block.lines), block.first)
            if text and not text.startswith(comment)
        ]
        if not kept:
            continue
        numbers, texts = zip(*kept, strict=True)
        columns = shape.columns = shape.columns or len(texts[0].split(shape.delimiter))
        count += len(texts)
        if count > limit or count * columns > MAX_DENSE:
            raise DataError(
                f"{path} has more than {counted(min(limit, MAX_DENSE // columns), 'row')}",
                hint=excess,
            )
        values = _parsed(path, numbers, texts, columns, shape)
        yield TableRows(path, values, np.array(numbers, dtype=np.int64))


def _parsed(
    path: Path, numbers: tuple[int, ...], texts: tuple[bytes, ...], columns: int, shape: TableShape
) -> Floats:
    kinds = [("", np.int64)] * shape.whole + [("", np.float64)] * (columns - shape.whole)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values: Any = np.loadtxt(
                [text.decode("ascii") for text in texts],
                dtype=kinds if shape.whole else np.float64,
                comments=None,
                delimiter=None if shape.delimiter is None else shape.delimiter.decode(),
                ndmin=1 if shape.whole else 2,
            )
        if shape.whole:
            values = structured_to_unstructured(values, dtype=np.float64)
        fits = values.shape == (len(texts), columns)
        if fits and (not shape.finite or np.isfinite(values).all()):
            return cast(Floats, values)
    except (ValueError, UnicodeDecodeError, OverflowError, Warning):
        pass
    rows = zip(numbers, texts, strict=True)
    return np.array([_row(path, number, text, columns, shape) for number, text in rows])


def _row(path: Path, number: int, text: bytes, columns: int, shape: TableShape) -> list[float]:
    """One row, field by field: the slow way, which can say what is wrong."""
    fields = text.split(shape.delimiter)
    if len(fields) > columns and shape.spare:
        shape.passed.append(number)
        fields = fields[:columns]
    if len(fields) != columns:
        raise DataError(
            f"{counted(len(fields), 'field')}, expected {columns}",
            hint="every row has the same number of fields",
            source=str(path),
            line=number,
        )
    return [_number(path, number, k, field, shape) for k, field in enumerate(fields, 1)]


def _number(path: Path, line: int, place: int, field: bytes, shape: TableShape) -> float:
    shown = field.strip()[:40].decode("latin-1")
    value: float | None
    try:
        value = float(field)
    except ValueError:
        value = _fortran(field.strip())
        if value is not None:
            shape.fortran.append(line)
        elif NAN.fullmatch(field.strip()) is not None:
            value = float("nan")
    if value is None or b"_" in field:
        raise DataError(
            f"field {place}, {shown!r}, is not a number",
            hint="write numbers as 3 or -0.5e3",
            source=str(path),
            line=line,
        )
    if shape.finite and not np.isfinite(value):
        raise DataError(
            f"field {place}, {shown!r}, is not finite",
            hint="remove NaN and infinite values",
            source=str(path),
            line=line,
        )
    if place <= shape.whole and WHOLE.fullmatch(field.strip()) is None:
        raise DataError(
            f"field {place}, {shown!r}, is not an integer",
            hint="write it without a point: 3, not 3.0",
            source=str(path),
            line=line,
        )
    return value


def _fortran(field: bytes) -> float | None:
    """A number with its exponent after ``D``."""
    return float(field.upper().replace(b"D", b"E")) if FORTRAN.fullmatch(field) else None
