"""A stored tensor drawn as the tree of its fibers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fuseloom.display import Drawing, Markup, tag
from fuseloom.display.drawing import width_of
from fuseloom.errors import DataError
from fuseloom.program.levels import CompressedLevel, DenseLevel, Level
from fuseloom.program.storage import StoredTensor
from fuseloom.wording import counted

MOST = 400
"""Boxes that are drawn of a tree."""
WIDE = 9
"""Elements that are drawn of a fiber."""
CELL, GAP, HIGH, ROW, TOP = 30.0, 10.0, 24.0, 62.0, 34.0
"""Pixels: width of a box, space between fibers, height of a box, from level to level, the head."""


@dataclass
class _Fiber:
    """The subtree of one position: its elements, in order, and the number of those not drawn."""

    cells: list[_Cell]
    left_out: int
    x: float = 0.0
    width: float = 0.0


@dataclass
class _Cell:
    """An element of a fiber: a coordinate and what is below it, or a value."""

    text: str
    below: _Fiber | None
    position: int
    x: float = 0.0
    width: float = 0.0


def fiber_tree(
    tensor: StoredTensor, indices: Sequence[str] = (), *, references: bool = False
) -> Drawing:
    """The tree of a tensor's fibers: a row per level, the coordinates in boxes, values below.

    Parameters
    ----------
    indices : sequence of str, optional
        What the levels are called, outermost first; by default ``level 0`` and so on.
    references : bool
        Whether each box also says its position in the level, which is what a reference is.

    Raises
    ------
    DataError
        If the tensor is stored in blocks.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 2x3 csr\\ny[i] = A[i,j]")
    >>> A = fl.StoredTensor.from_dense(program.tensor("A"), [[0, 5, 0], [0, 0, 7]])
    >>> print(fiber_tree(A, "ij"))
    A
    i dense       0         1
    j compressed  1         2
    values        5         7
    """
    if tensor.values.ndim > 1:
        raise DataError(
            f"{tensor.tensor.name} is stored in blocks, which are not drawn",
            hint="draw it in a format without blocks",
        )
    names = list(indices) or [f"level {k}" for k in range(len(tensor.levels))]
    if len(names) != len(tensor.levels):
        raise DataError(
            f"{tensor.tensor.name} has {counted(len(tensor.levels), 'level')}, {len(names)} "
            "names were given"
        )
    budget = [MOST]
    root = _below(tensor, 0, 0, budget)
    _place(root, 0.0)
    heads = [
        *(f"{name} {fmt.value}" for name, fmt in zip(names, tensor.tensor.format.levels,
                                                     strict=True)),
        "values",
    ]  # fmt: skip
    left = max(map(width_of, heads)) + 12
    pieces: list[Markup] = [
        tag("text", head, x=0, y=TOP + depth * ROW + 16, class_="quiet")
        for depth, head in enumerate(heads)
    ]
    pieces += _drawn(root, 0, left, len(tensor.levels), references)
    name = tensor.tensor.name
    pieces.append(tag("text", f"{name}, {tensor.nnz:,} stored", x=left, y=16))
    size = " × ".join(map(str, tensor.tensor.shape)) or "a number"
    return Drawing(
        f"Fibers of {name}, {size}, {counted(tensor.nnz, 'stored element')}, in levels "
        f"{', '.join(heads)}",
        _text(name, heads, root),
        left + max(root.width, width_of(name) + 90) + 4,
        TOP + len(tensor.levels) * ROW + HIGH + 6,
        Markup("".join(pieces)),
    )


def _below(tensor: StoredTensor, depth: int, position: int, budget: list[int]) -> _Fiber:
    """The fiber of a level below one position of the level above; a value below the last."""
    if depth == len(tensor.levels):
        return _Fiber([_Cell(f"{tensor.values[position]:g}", None, position)], 0)
    every = list(_elements(tensor.levels[depth], position))
    cells = []
    for coordinate, child in every[:WIDE]:
        if budget[0] <= 0:
            break
        budget[0] -= 1
        cells.append(_Cell(str(coordinate), _below(tensor, depth + 1, child, budget), child))
    return _Fiber(cells, len(every) - len(cells))


def _elements(level: Level, position: int) -> Iterator[tuple[int, int]]:
    """(coordinate, position) of what a level stores below a position."""
    match level:
        case DenseLevel(size):
            yield from ((c, position * size + c) for c in range(size))
        case CompressedLevel():
            begin, end = int(level.seg[position]), int(level.seg[position + 1])
            yield from ((int(level.crd[p]), p) for p in range(begin, end))
        case _:
            yield int(level.crd[position]), position


def _place(fiber: _Fiber, x: float) -> None:
    """Give every box its place, the wide ones their room."""
    fiber.x = at = x
    for cell in fiber.cells:
        cell.x = at
        if cell.below is not None:
            _place(cell.below, at)
        below = cell.below.width + GAP if cell.below is not None else 0.0
        cell.width = max(CELL, width_of(cell.text) + 10, below)
        at += cell.width
    if fiber.left_out:
        at += CELL
    fiber.width = max(at - x, CELL if not fiber.cells else 0.0)


def _drawn(fiber: _Fiber, depth: int, left: float, last: int, references: bool) -> Iterator[Markup]:
    y = TOP + depth * ROW
    kind = "values" if depth == last else "scan"
    if not fiber.cells:
        yield tag("text", "empty", x=left + fiber.x, y=y + 16, class_="quiet")
    boxes = [(cell, max(CELL, width_of(cell.text) + 10)) for cell in fiber.cells]
    for cell, wide in boxes:
        x = left + cell.x
        yield tag("g",
            tag("rect", x=x, y=y, width=wide, height=HIGH, rx=3, class_="box"),
            tag("text", cell.text, x=x + wide / 2, y=y + 16, text_anchor="middle"),
            class_=kind,
        )  # fmt: skip
        if references and depth < last:
            yield tag("text", f"@{cell.position}", x=x + wide / 2 + 3, y=y - 4, class_="quiet")
        if cell.below is not None:
            end = left + cell.below.x + CELL / 2
            yield tag("path", d=f"M{x + wide / 2:.1f} {y + HIGH:.1f}L{end:.1f} {y + ROW:.1f}",
                      class_="edge")  # fmt: skip
            yield from _drawn(cell.below, depth + 1, left, last, references)
    for (one, wide), (other, _) in pairwise(boxes):  # what belongs to one fiber is joined
        start, end = left + one.x + wide, left + other.x
        yield tag("path", d=f"M{start:.1f} {y + HIGH / 2:.1f}H{end:.1f}", class_="edge")
    if fiber.left_out:
        x = left + fiber.x + fiber.width - CELL + 4
        yield tag("text", f"+{fiber.left_out:,}", x=x, y=y + 16, class_="quiet")


def _text(name: str, heads: Sequence[str], root: _Fiber) -> str:
    """The same in letters, each box above what is below it."""
    rows: list[list[tuple[float, str]]] = [[] for _ in heads]

    def walk(fiber: _Fiber, depth: int) -> None:
        for cell in fiber.cells:
            rows[depth].append((cell.x, cell.text))
            if cell.below is not None:
                walk(cell.below, depth + 1)
        if fiber.left_out:
            rows[depth].append((fiber.x + fiber.width - CELL, f"+{fiber.left_out}"))

    walk(root, 0)
    margin = max(map(len, heads)) + 2
    lines = [name]
    for head, cells in zip(heads, rows, strict=True):
        line = head.ljust(margin)
        for x, text in cells:
            line = line.ljust(margin + round(x / 5)) + text
        lines.append(line)
    return "\n".join(lines)
