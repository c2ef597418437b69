"""The lines of a list of edges as arrays, every fault with its line and field."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.edge_head import (
    COMMENTS,
    QUOTE,
    EdgeFields,
    Head,
    check_quotes,
    is_number,
    split,
    without_braces,
)
from fuseloom.frontends.files.limits import MAX_ENTRIES
from fuseloom.frontends.files.lines import LineBlock
from fuseloom.frontends.files.tensor import Floats
from fuseloom.program.levels import Ints
from fuseloom.wording import counted

MOST = 2**63 - 1
Ends = tuple[Any, Any]
"""Two arrays of int64, or two lists of names."""


@dataclass(frozen=True)
class Edges:
    """Edges as they are listed.

    Attributes
    ----------
    ends : two arrays of int64, or two lists of str
        From, and to.
    weights : array of float64, or None
    lines : array of int64
        The 1-based line of each.
    """

    source: str
    ends: Ends
    weights: Floats | None
    lines: Ints

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, edge: int, message: str, hint: str) -> DataError:
        """An error at an edge's line."""
        line = int(self.lines[edge])
        return DataError(message, hint=hint, source=self.source, line=line)


def read_edge_rows(path: Path, blocks: Iterable[LineBlock], head: Head, weighted: bool) -> Edges:
    """All edges; blank lines and comments are skipped.

    Raises
    ------
    DataError
        Names line and field: no node, no number, not finite, or another number of fields.
    """
    assert head.fields is not None
    parts = list(_parts(path, blocks, head, head.fields, weighted and head.fields.weight))
    lines = np.concatenate([part.lines for part in parts])

    def joined(end: int) -> Any:
        if head.named:
            return [name for part in parts for name in part.ends[end]]
        return np.concatenate([part.ends[end] for part in parts])

    weights = [part.weights for part in parts if part.weights is not None]
    return Edges(
        str(path), (joined(0), joined(1)), np.concatenate(weights) if weights else None, lines
    )


def _parts(
    path: Path,
    blocks: Iterable[LineBlock],
    head: Head,
    fields: EdgeFields,
    weight: int | bool | None,
) -> Iterator[Edges]:
    column = None if weight is None or weight is False else int(weight)
    total = 0
    for block in blocks:
        kept = [
            (number, without_braces(text) if head.braces else text)
            for number, text in enumerate(map(bytes.strip, block.lines), block.first)
            if text and not text.startswith(COMMENTS)
        ]
        if not kept:
            continue
        total += len(kept)
        if total > MAX_ENTRIES:
            raise DataError(
                f"{path} lists more than {MAX_ENTRIES:,} edges", hint="use a smaller graph"
            )
        numbers, texts = zip(*kept, strict=True)
        found = None if head.named else fast_columns(texts, head.delimiter, fields, column)
        if found is None:
            rows = zip(numbers, texts, strict=True)
            table = [_row(str(path), n, t, head, fields, column) for n, t in rows]
            found = _columns(table, head.named, column)
        a, b, weights = found
        yield Edges(str(path), (a, b), weights, np.array(numbers, dtype=np.int64))


Columns = tuple[Any, Any, Floats | None]


def fast_columns(
    texts: Sequence[bytes], delimiter: str | None, fields: EdgeFields, weight: int | None
) -> Columns | None:
    """All lines at once, or None where one of them needs a closer look."""
    kinds: list[Any] = ["U1"] * fields.count
    for k in fields.ends:
        kinds[k] = np.int64
    if weight is not None:
        kinds[weight] = np.float64
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table: npt.NDArray[Any] = np.loadtxt(
                [text.decode("ascii") for text in texts],
                dtype=[(f"f{k}", kind) for k, kind in enumerate(kinds)],
                comments=None, delimiter=delimiter, quotechar=QUOTE, ndmin=1,
            )  # fmt: skip
    except (ValueError, UnicodeDecodeError, OverflowError, Warning):
        return None
    if table.shape != (len(texts),):
        return None
    a, b = (np.ascontiguousarray(table[f"f{k}"]) for k in fields.ends)
    weights = None if weight is None else np.ascontiguousarray(table[f"f{weight}"])
    if min(a.min(), b.min()) < 0 or (weights is not None and not np.isfinite(weights).all()):
        return None
    return a, b, weights


def _columns(table: list[tuple[Any, Any, float]], named: bool, weight: int | None) -> Columns:
    a, b, weights = zip(*table, strict=True)
    values = None if weight is None else np.array(weights, dtype=np.float64)
    if named:
        return list(a), list(b), values
    return np.array(a, dtype=np.int64), np.array(b, dtype=np.int64), values


def _row(
    path: str, line: int, text: bytes, head: Head, fields: EdgeFields, weight: int | None
) -> tuple[Any, Any, float]:
    check_quotes(path, line, text)
    given = split(text, head.delimiter)
    if len(given) == fields.count + 1 and not given[-1]:
        given.pop()  # a line that ends with the delimiter
    if len(given) != fields.count:
        raise DataError(
            f"{counted(len(given), 'field')}, expected {fields.count}",
            hint="every line has the same number of fields",
            source=path,
            line=line,
        )
    a, b = (_node(path, line, k + 1, given[k], head.named) for k in fields.ends)
    return a, b, 1.0 if weight is None else _weight(path, line, weight + 1, given[weight])


def _node(path: str, line: int, place: int, field: str, named: bool) -> int | str:
    if named:
        if field:
            return field
        raise DataError(f"field {place}, a node, is empty", hint="name it", source=path, line=line)
    if not is_number(field):
        raise DataError(
            f"field {place}, {field[:40]!r}, is not a number, as the nodes of the first edge are",
            hint="if nodes have names, read_edges(path, named=True) numbers them",
            source=path,
            line=line,
        )
    number = int(field) if field.isdigit() else float(field)
    if not (0 <= number <= MOST and number == number // 1):
        raise DataError(
            f"field {place}, a node, is {field[:40]}, not an integer from 0",
            hint="number the nodes, or read_edges(path, named=True) takes them as names",
            source=path,
            line=line,
        )
    return int(number)


def _weight(path: str, line: int, place: int, field: str) -> float:
    if not is_number(field):
        raise DataError(
            f"field {place}, {field[:40]!r}, is not a number",
            hint="name the fields in a first line, as source,target,weight; or "
            "read_edges(path, weighted=False) does not read weights",
            source=path,
            line=line,
        )
    value = float(field)
    if not np.isfinite(value):
        raise DataError(
            f"field {place}, {field[:40]!r}, is not finite",
            hint="remove NaN and infinite values",
            source=path,
            line=line,
        )
    return value
