"""Tables of numbers in text: one row per line, every fault with its line and field."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import DataError
from engine.frontends.files.limits import MAX_DENSE, MAX_ENTRIES
from engine.frontends.files.lines import Block
from engine.program.levels import Ints

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table.

    Attributes
    ----------
    values : (n, columns) array of float64
    lines : (n,) array of int
        The 1-based line of each.
    """

    source: Path
    values: Floats
    lines: Ints

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, row: int, message: str, hint: str) -> DataError:
        """An error at a row's line."""
        line = int(self.lines[row])
        return DataError(message, hint=hint, source=str(self.source), line=line)

    def integers(self, column: int, what: str, low: int, high: int) -> Ints:
        """A column of whole numbers within limits, both included.

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
                f"not a whole number in {low:,}..{high:,}",
                hint="check the size, and whether counting starts at 0 or at 1",
            )
        return given.astype(np.int64)


def read_rows(
    path: Path,
    blocks: Iterable[Block],
    *,
    columns: int | None = None,
    delimiter: bytes | None = None,
    comment: bytes | tuple[bytes, ...] = b"#",
    limit: int = MAX_ENTRIES,
) -> Rows:
    """All rows of a table; blank lines and those that start with ``comment`` are skipped.

    Parameters
    ----------
    columns : int, optional
        Numbers per row; by default what the first row has.
    delimiter : bytes, optional
        By default any white space.
    limit : int
        Most rows.

    Raises
    ------
    DataError
        Names line and field: not a number, not finite, wrong number of fields, too many rows.
    """
    parts = list(_parts(path, blocks, columns, delimiter, comment, limit))
    if not parts:
        return Rows(path, np.zeros((0, columns or 0)), np.zeros(0, dtype=np.int64))
    values = np.concatenate([part.values for part in parts])
    return Rows(path, values, np.concatenate([part.lines for part in parts]))


def _parts(
    path: Path,
    blocks: Iterable[Block],
    columns: int | None,
    delimiter: bytes | None,
    comment: bytes | tuple[bytes, ...],
    limit: int,
) -> Iterator[Rows]:
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
        columns = columns or len(texts[0].split(delimiter))
        count += len(texts)
        if count > limit or count * columns > MAX_DENSE:
            raise DataError(
                f"{path} has more than {min(limit, MAX_DENSE // columns):,} rows",
                hint="use a smaller tensor",
            )
        values = _parsed(path, numbers, texts, columns, delimiter)
        yield Rows(path, values, np.array(numbers, dtype=np.int64))


def _parsed(
    path: Path,
    numbers: tuple[int, ...],
    texts: tuple[bytes, ...],
    columns: int,
    delimiter: bytes | None,
) -> Floats:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values: Floats = np.loadtxt(
                [text.decode("ascii") for text in texts],
                dtype=np.float64,
                comments=None,
                delimiter=None if delimiter is None else delimiter.decode(),
                ndmin=2,
            )
        if values.shape == (len(texts), columns) and np.isfinite(values).all():
            return values
    except (ValueError, UnicodeDecodeError):
        pass
    rows = zip(numbers, texts, strict=True)
    return np.array([_row(path, number, text, columns, delimiter) for number, text in rows])


def _row(
    path: Path, number: int, text: bytes, columns: int, delimiter: bytes | None
) -> list[float]:
    """One row, field by field: the slow way, which can say what is wrong."""
    fields = text.split(delimiter)
    if len(fields) != columns:
        raise DataError(
            f"{len(fields)} fields, expected {columns}",
            hint="every row has the same number of fields",
            source=str(path),
            line=number,
        )
    return [_number(path, number, k, field) for k, field in enumerate(fields, 1)]


def _number(path: Path, line: int, place: int, field: bytes) -> float:
    shown = field.strip()[:40].decode("latin-1")
    try:
        value = float(field)
    except ValueError:
        value = None
    if value is None or b"_" in field:
        raise DataError(
            f"field {place}, {shown!r}, is not a number",
            hint="write numbers as 3 or -0.5e3",
            source=str(path),
            line=line,
        )
    if not np.isfinite(value):
        raise DataError(
            f"field {place}, {shown!r}, is not finite",
            hint="remove NaN and infinite values",
            source=str(path),
            line=line,
        )
    return value
