"""Which elements of a matrix are stored, drawn as a grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fuseloom.display import Drawing, Markup, tag
from fuseloom.errors import DataError
from fuseloom.program.storage import StoredTensor
from fuseloom.wording import counted

MOST = 256
"""Rows and columns that can be drawn."""
SIDE, LEAST = 256.0, 2.0
"""Pixels of the longer side, and of an element at least."""
TOP = 22.0
"""Pixels of the line above."""


def pattern(tensor: StoredTensor) -> Drawing:
    """A square for each stored element, lines between blocks.

    Elements that are stored although they are 0, because the block or the dense level around them
    is stored, are in another colour.

    Raises
    ------
    DataError
        If it is no matrix, or too large to be drawn.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 2x4 csr block 2\\nY[i,j] = 2 * A[i,j]")
    >>> A = fl.StoredTensor.from_dense(program.tensor("A"), [[0, 0, 0, 5], [0, 0, 7, 2]])
    >>> print(pattern(A))
    A: 4 of 8 elements stored, 1 of them 0
    ··o#
    ··##
    """
    shape = tensor.tensor.shape
    if len(shape) != 2 or max(shape) > MOST:
        raise DataError(
            f"{tensor.tensor.name} is not drawn: its size is {' x '.join(map(str, shape))}",
            hint=f"matrices of up to {MOST} rows and columns are",
        )
    there = np.asarray(tensor.pattern(), dtype=bool)
    zero = there & (tensor.to_dense() == 0)
    side = max(LEAST, SIDE / max(shape))
    rows, columns = shape
    stored, empty = int(there.sum()), int(zero.sum())
    text = f"{tensor.tensor.name}: {stored:,} of {counted(rows * columns, 'element')} stored"
    text += f", {empty:,} of them 0" if empty else ""
    pieces = [
        tag("text", text, x=0.0, y=13.0, class_="quiet"),
        tag("rect", x=0.5, y=TOP, width=columns * side, height=rows * side,
            fill="var(--pane)", stroke="var(--line2)"),
        _squares(there & ~zero, side, "var(--accent)"),
        _squares(zero, side, "var(--warn)"),
        *_rules(tensor.tensor.format.tile, shape, side),
    ]  # fmt: skip
    letters = np.where(zero, "o", np.where(there, "#", "·"))
    return Drawing(
        text,
        "\n".join([text, *("".join(row) for row in letters)]),
        max(columns * side + 2, 6.2 * len(text)),
        TOP + rows * side + 4,
        Markup("".join(pieces)),
    )


def _squares(there: npt.NDArray[np.bool_], side: float, colour: str) -> Markup:
    """Runs of neighbours in a row are one path."""
    pieces = []
    for i, row in enumerate(there):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        for begin, end in edges.reshape(-1, 2):
            wide = (end - begin) * side
            pieces.append(
                f"M{0.5 + begin * side:.1f} {TOP + i * side:.1f}h{wide:.1f}v{side:.1f}h-{wide:.1f}z"
            )
    return tag("path", d="".join(pieces), fill=colour) if pieces else Markup("")


def _rules(tile: tuple[int, ...], shape: tuple[int, ...], side: float) -> Iterator[Markup]:
    """Lines between blocks, or between elements that are large enough."""
    edge = tile[0] if len(tile) == 2 else 1
    if edge * side < 8:
        return
    rows, columns = shape
    for k in range(edge, columns, edge):
        yield tag("path", d=f"M{0.5 + k * side:.1f} {TOP}v{rows * side:.1f}", stroke="var(--line)")
    for k in range(edge, rows, edge):
        yield tag("path", d=f"M0.5 {TOP + k * side:.1f}h{columns * side:.1f}", stroke="var(--line)")
