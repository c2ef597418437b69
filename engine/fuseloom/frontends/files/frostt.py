"""Tensors of any rank in FROSTT files (``.tns``, packed or not).

One element per line: its coordinates, counted from 1, then its value.  Source: http://frostt.io.
A heading may come before them: the rank, the sizes, the number of elements, in the ways of ParTI
and the Tensor Toolbox (a line each, maybe after ``sptensor``), of MLIR (rank and elements, then
sizes), or the sizes alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files.lines import LineBlock, Lines
from fuseloom.frontends.files.table import TableRows, read_rows
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates, check_shape
from fuseloom.program.levels import shape_text
from fuseloom.program.limits import MAX_DIMENSION, MAX_RANK
from fuseloom.wording import counted

COMMENTS = (b"#", b"%", b"//")
KEYWORDS = (b"sptensor", b"tensor")


@dataclass(frozen=True)
class _Heading:
    """The contents of the first lines, and the number of lines of numbers."""

    lines: int = 0
    shape: tuple[int, ...] | None = None
    elements: int | None = None


def read_frostt(
    path: str | Path, shape: tuple[int, ...] | None = None, *, base: int | None = None
) -> CoordinateTensor:
    """A tensor of the rank of its lines; elements given twice are added, and the notes say so.

    Parameters
    ----------
    shape : tuple of int, optional
        By default what the heading says, or the largest coordinate along each axis.
    base : int, optional
        What coordinates count from, 0 or 1; by default 1, or 0 if one is 0.

    Raises
    ------
    DataError
        Names the line: not numbers, an element out of range or not finite, or a heading that the
        elements contradict.
    """
    lines = Lines(Path(path))
    held = _first(lines)
    heading = _heading([line.split() for _, line in held])
    if heading.shape is not None:
        check_shape(heading.shape, str(path))
    width = len(held[heading.lines][1].split()) if len(held) > heading.lines else 2
    kept = [LineBlock(number, [line]) for number, line in held[heading.lines :]]
    rank = width - 1
    if len(held) == heading.lines or not 1 <= rank <= MAX_RANK:
        raise DataError(
            f"{path} holds no tensor of rank 1 to {MAX_RANK}",
            hint="one element per line: its coordinates, then its value",
        )
    rows = read_rows(
        lines.path, chain(kept, lines.rest()), columns=width, whole=rank, comment=COMMENTS
    )
    if shape is not None and len(shape) != rank:
        raise DataError(f"{path} has rank {rank}, not {len(shape)}", hint="give a size per axis")
    notes = list(rows.notes)
    if heading.elements is not None and heading.elements != len(rows):
        raise DataError(
            f"{path} has {counted(len(rows), 'element')}, its heading says {heading.elements:,}",
            hint="the file may be cut short",
        )
    if shape is None and heading.shape is not None:
        shape = heading.shape
        notes.append(f"the heading gives the shape {shape_text(shape)}")
    first = _base(rows, rank) if base is None else base
    if first == 0 and base is None:
        notes.append("coordinates count from 0, as one of them is 0")
    sizes = shape or (MAX_DIMENSION,) * rank
    columns = [
        rows.integers(k, "a coordinate", first, sizes[k] - 1 + first) - first for k in range(rank)
    ]
    found = shape or tuple(int(column.max()) + 1 for column in columns)
    return CoordinateTensor.of(
        np.stack(columns, axis=1), rows.values[:, rank], found, str(path),
        duplicates=Duplicates.SUM, place=rows.error, notes=tuple(notes),
    )  # fmt: skip


def _base(rows: TableRows, rank: int) -> int:
    """0 if a coordinate is 0 (or less, which the reader refuses); else 1."""
    return int(rows.values[:, :rank].min() > 0)


def _first(lines: Lines) -> list[tuple[int, bytes]]:
    """The first lines that are no comment: a heading at most, and the first element."""
    held: list[tuple[int, bytes]] = []
    while len(held) < 4 and (line := lines.take()) is not None:
        text = line.strip()
        named = text.lower() in KEYWORDS and not held
        if text and not text.startswith(COMMENTS) and not named:
            held.append((lines.number, line))
    return held


def _heading(rows: list[list[bytes]]) -> _Heading:
    """Return the heading that the first rows form, judged by the number of fields of each."""
    if not all(field.isdigit() and len(field) < 20 for row in rows[:2] for field in row[:-1]):
        return _Heading()
    widths = [len(row) for row in rows]
    whole = [
        [int(f) if f.isdigit() and len(f) < 20 else -1 for f in row] for row in rows
    ]  # -1 is no size
    match widths:
        case [1, n, 1, body] if whole[0] == [n] and body == n + 1:  # rank, sizes, elements
            return _sized(3, whole[1], whole[2][0])
        case [1, n, 1] if whole[0] == [n] and whole[2] == [0]:
            return _sized(3, whole[1], 0)
        case [1, n, body, *_] if whole[0] == [n] and body == n + 1:  # rank, sizes
            return _sized(2, whole[1], None)
        case [2, n, body, *_] if whole[0][0] == n and body == n + 1:  # rank elements, sizes
            return _sized(2, whole[1], whole[0][1])
        case [n, body, *_] if body == n + 1 and _within(whole[1:], whole[0]):  # sizes
            return _sized(1, whole[0], None)
    return _Heading()


def _within(rows: list[list[int]], sizes: list[int]) -> bool:
    """Return whether all coordinates lie within the sizes: else the first row is no heading."""
    return all(at <= size for row in rows for at, size in zip(row[:-1], sizes, strict=False))


def _sized(lines: int, shape: list[int], elements: int | None) -> _Heading:
    fits = min(shape) >= 0 and (elements is None or elements >= 0)
    return _Heading(lines, tuple(shape), elements) if fits else _Heading()
