"""Graphs as lists of edges: comma, tab or white space between the fields, ``.gz`` or not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from engine.errors import DataError
from engine.frontends.files.limits import MAX_NODES
from engine.frontends.files.lines import Block, Lines
from engine.frontends.files.table import read_rows
from engine.frontends.files.tensor import CoordinateTensor, Duplicates

DELIMITERS = (b",", b"\t", b";")
COMMENTS = (b"#", b"%")


def read_edges(
    path: str | Path,
    nodes: int | None = None,
    *,
    duplicates: Duplicates = Duplicates.FIRST,
    symmetric: bool = False,
    weighted: bool = True,
) -> CoordinateTensor:
    """The adjacency matrix of a list of edges: from, to and maybe a weight per line.

    Nodes count from 0.  Lines that start with ``#`` or ``%`` are comments, and a first line
    without numbers is a heading.

    Parameters
    ----------
    nodes : int, optional
        By default one more than the largest node.
    duplicates : Duplicates
        What becomes of an edge that is listed twice.
    symmetric : bool
        Add the opposite of every edge.
    weighted : bool
        Whether a third field counts; without one the weight is 1.

    Raises
    ------
    DataError
        Names the line: not numbers, a node out of range, a weight that is not finite.
    """
    lines = Lines(Path(path))
    head = _head(lines)
    rows = read_rows(
        lines.path, chain(head.blocks, lines.rest()), delimiter=head.delimiter, comment=COMMENTS
    )
    if len(rows) and rows.values.shape[1] not in (2, 3):
        raise lines.error(
            f"{rows.values.shape[1]} fields per edge",
            hint="from, to and maybe a weight",
        )
    if not len(rows) and nodes is None:
        raise DataError(f"{path} lists no edges", hint="give the number of nodes")
    if nodes is not None and not 1 <= nodes <= MAX_NODES:
        raise DataError(f"{path}: a graph of {nodes:,} nodes", hint=f"1..{MAX_NODES:,} are")
    most = (nodes or MAX_NODES) - 1
    if len(rows):
        ends = np.stack([rows.integers(k, "a node", 0, most) for k in (0, 1)], axis=1)
    else:
        ends = np.zeros((0, 2), dtype=np.int64)
    count = nodes or int(ends.max()) + 1
    has_weight = weighted and len(rows) > 0 and rows.values.shape[1] == 3
    values = rows.values[:, 2] if has_weight else np.ones(len(rows))
    if symmetric:
        ends, values = np.concatenate([ends, ends[:, ::-1]]), np.concatenate([values, values])
    return CoordinateTensor.of(
        ends,
        values,
        (count, count),
        str(path),
        duplicates=duplicates,
        place=lambda k, message, hint: rows.error(k % len(rows), message, hint),
    )


@dataclass(frozen=True)
class _Head:
    """What the first lines say: the delimiter, and the first row unless it is a heading."""

    delimiter: bytes | None
    blocks: tuple[Block, ...]


def _head(lines: Lines) -> _Head:
    line = lines.take()
    while line is not None and (not line.strip() or line.lstrip()[:1] in COMMENTS):
        line = lines.take()
    if line is None:
        return _Head(None, ())
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if not any(character in b"0123456789" for character in line):
        return _Head(delimiter, ())
    return _Head(delimiter, (Block(lines.number, [line]),))
