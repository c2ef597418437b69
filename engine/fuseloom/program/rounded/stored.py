"""Reading the elements of stored tensors that lie in a box."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fuseloom.program.levels import CompressedLevel, DenseLevel, SingletonLevel
from fuseloom.program.rounded.budget import EvaluationBudget
from fuseloom.program.rounded.tensors import (
    Box,
    Elements,
    Grid,
    Ints,
    Listed,
    expanded,
    inside,
    member,
)
from fuseloom.program.storage import StoredTensor

AT_A_TIME = 2**20
"""Elements of which those outside a box are left behind at once."""
_ARRAYS = 5
"""Arrays as long as a level has elements, at most, while it is walked."""


def is_grid(stored: StoredTensor) -> bool:
    """Return whether a tensor's format alone makes it a grid."""
    return stored.tensor.format.all_dense and not stored.tensor.format.blocked


def from_stored(
    stored: StoredTensor, box: Box | None = None, budget: EvaluationBudget | None = None
) -> Elements:
    """The elements of a stored tensor that lie in a box; exact, as float32 holds them.

    Raises
    ------
    TooMuchError
        If they take more memory than the budget.
    """
    box = box or (None,) * stored.tensor.rank
    axes = _axes(stored)
    return listed_from(stored, box, budget) if axes is None else _grid(stored, axes, box)


def _axes(stored: StoredTensor) -> list[Ints] | None:
    """Coordinates per level, if all fibers of each level have the same ones."""
    if stored.tensor.format.blocked:
        return None
    axes: list[Ints] = []
    for level in stored.levels:
        match level:
            case DenseLevel(size):
                axes.append(np.arange(size))
            case CompressedLevel(seg, crd) if len(crd):
                length = int(seg[1])
                if length * (len(seg) - 1) != len(crd) or (np.diff(seg) != length).any():
                    return None
                if (crd.reshape(-1, length) != crd[:length]).any():
                    return None
                axes.append(crd[:length])
            case _:
                return None
    return axes


def _grid(stored: StoredTensor, axes: list[Ints], box: Box) -> Grid:
    order = stored.tensor.format.mode_order
    back = [order.index(d) for d in range(len(order))]
    grid = stored.values.reshape([len(axis) for axis in axes]).transpose(back)
    made = [axes[k] for k in back]
    if any(only is not None for only in box):
        chosen = [inside(axis, only) for axis, only in zip(made, box, strict=True)]
        at = [np.arange(len(x)) if c is None else c for x, c in zip(made, chosen, strict=True)]
        grid = grid[np.ix_(*at)]
        made = [axis[c] for axis, c in zip(made, at, strict=True)]
    return Grid(tuple(made), grid.astype(np.float64))


def listed_from(stored: StoredTensor, box: Box, budget: EvaluationBudget | None = None) -> Listed:
    """The elements of a stored tensor that lie in a box, one by one.

    Levels are walked from the outermost one, some fibers at a time, and what lies outside is left
    behind at each: what it takes goes by what lies inside.

    Raises
    ------
    TooMuchError
        If that takes more memory than the budget.
    """
    tensor = stored.tensor
    if tensor.format.blocked:
        coords, values = stored.to_coo()
        chosen = Listed(coords.T, values.astype(np.float64)).restricted(box)
        return Listed(np.ascontiguousarray(chosen.coords), chosen.values)
    positions: Ints | None = None  # None: every position of the level above, in order
    count = 1
    columns: list[Ints] = []
    parent: Ints | None
    for level, dimension in zip(stored.levels, tensor.format.mode_order, strict=True):
        only = box[dimension]
        match level:
            case CompressedLevel(_, crd):
                parent, positions = _children(level, positions, only, budget)
                column = crd if positions is None else crd[positions]
                only = None
            case DenseLevel(size):
                above = np.arange(count) if positions is None else positions
                inner = np.arange(size) if only is None else only
                if budget is not None:
                    budget.take(float(len(above)) * len(inner), _ARRAYS)
                parent = np.repeat(np.arange(len(above)), len(inner))
                column = np.tile(inner, len(above))
                positions = np.repeat(above * size, len(inner)) + column
                only = None
            case SingletonLevel(crd):
                parent = None
                column = crd if positions is None else crd[positions]
        if only is not None:
            keep = member(column, only)
            column = column[keep]
            positions = np.flatnonzero(keep) if positions is None else positions[keep]
            parent = np.flatnonzero(keep) if parent is None else parent[keep]
        if parent is not None:
            columns = [above_column[parent] for above_column in columns]
        columns.append(column)
        count = len(column)
    coords = np.empty((tensor.rank, count), dtype=np.int64)
    for dimension, column in zip(tensor.format.mode_order, columns, strict=True):
        coords[dimension] = column
    values = stored.values if positions is None else stored.values[positions]
    return Listed(coords, values.astype(np.float64))


def _children(
    level: CompressedLevel,
    positions: Ints | None,
    only: Ints | None,
    budget: EvaluationBudget | None,
) -> tuple[Ints, Ints | None]:
    """Of the positions chosen: which of them each child is below, and the children's positions."""
    seg = level.seg
    begin, end = (seg[:-1], seg[1:]) if positions is None else (seg[positions], seg[positions + 1])
    counts = end - begin
    total = int(counts.sum())
    if only is None or total <= AT_A_TIME:
        if budget is not None and only is None:
            budget.take(float(total), _ARRAYS)
        if positions is None and only is None:
            return np.repeat(np.arange(len(counts)), counts), None
        return _chosen(level, *expanded(begin, counts), only)
    # Some fibers at a time: most of what they hold lies outside.
    last = np.cumsum(counts)
    cuts = np.searchsorted(last, np.arange(AT_A_TIME, total, AT_A_TIME))
    parts, made = [], 0.0
    for first, stop in pairwise([0, *cuts.tolist(), len(counts)]):
        parent, child = expanded(begin[first:stop], counts[first:stop])
        parts.append(_chosen(level, parent + first, child, only))
        made += len(parts[-1][0])
        if budget is not None:
            budget.take(made, _ARRAYS)
    return np.concatenate([p for p, _ in parts]), np.concatenate([c for _, c in parts])


def _chosen(
    level: CompressedLevel, parent: Ints, child: Ints, only: Ints | None
) -> tuple[Ints, Ints]:
    if only is None:
        return parent, child
    keep = member(level.crd[child], only)
    return parent[keep], child[keep]
