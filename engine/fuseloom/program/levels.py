"""Storage levels: what they keep, and how they are built from coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.limits import MAX_STORED_BYTES
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

Ints: TypeAlias = npt.NDArray[np.int64]
WORD_BYTES = 4
"""Bytes of one coordinate, segment entry or value on the machine."""


@dataclass(frozen=True)
class DenseLevel:
    """Every coordinate below ``size`` is stored under every position above."""

    size: int


@dataclass(frozen=True, eq=False)
class CompressedLevel:
    """Coordinates ``crd[seg[p]:seg[p+1]]`` are stored under position ``p`` of the level above.

    Above a singleton level a coordinate may come several times in a row, once per element.
    """

    seg: Ints
    crd: Ints


@dataclass(frozen=True, eq=False)
class SingletonLevel:
    """Exactly one coordinate, ``crd[p]``, is stored under position ``p`` of the level above."""

    crd: Ints


Level: TypeAlias = DenseLevel | CompressedLevel | SingletonLevel


def run_end(formats: Sequence[LevelFormat], depth: int) -> int:
    """The last of the singleton levels that follow a level; ``depth`` itself if none does.

    A level and the singletons under it are a *run*: together they keep one list of coordinate
    tuples per position above, sorted and unique, as COO does for a whole tensor.
    """
    while depth + 1 < len(formats) and formats[depth + 1] is LevelFormat.SINGLETON:
        depth += 1
    return depth


def build_levels(tensor: Tensor, stored: Ints) -> tuple[tuple[Level, ...], Ints, int]:
    """Levels of sorted coordinates; position of each element, and number of positions.

    Raises
    ------
    DataError
        If a singleton level under a dense one would not get one element per position, or the
        tensor is too large.
    """
    formats, shape = tensor.format.levels, stored_shape(tensor)
    levels: list[Level] = []
    positions = np.zeros(len(stored), dtype=np.int64)
    count, words, depth = 1, 0, 0
    while depth < len(formats):
        end = run_end(formats, depth)
        dense = formats[depth] is LevelFormat.DENSE
        if dense:
            count *= shape[depth]
            check_size(tensor, words + count)  # each position needs a word further in
            positions = positions * shape[depth] + stored[:, depth]
            levels.append(DenseLevel(shape[depth]))
        if not dense or end > depth:
            tuples = stored[:, depth + dense : end + 1]
            new = np.ones(len(stored), dtype=bool)
            new[1:] = (positions[1:] != positions[:-1]) | (tuples[1:] != tuples[:-1]).any(axis=1)
            made = int(np.count_nonzero(new))
            words += (end - depth) * made + (0 if dense else count + 1 + made)
            check_size(tensor, words)
            held = np.bincount(positions[new], minlength=count)
            if dense:
                _check_one_each(tensor, depth + 1, held)
            else:
                seg = np.zeros(count + 1, dtype=np.int64)
                np.cumsum(held, out=seg[1:])
                levels.append(CompressedLevel(seg, stored[new, depth]))
            levels += [SingletonLevel(stored[new, d]) for d in range(depth + 1, end + 1)]
            positions = np.cumsum(new) - 1
            count = made
        depth = end + 1
    check_size(tensor, words + count * prod(tensor.format.tile))
    return tuple(levels), positions, count


def _check_one_each(tensor: Tensor, depth: int, held: Ints) -> None:
    bad = np.flatnonzero(held != 1)
    if len(bad):
        raise DataError(
            f"{level_text(tensor, depth)}: position {bad[0]} of the dense level above has "
            f"{counted(held[bad[0]], 'element')}, a singleton level keeps exactly one",
            hint="declare the level compressed, or store explicit zeros with from_coo",
        )


def grouped(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The same elements without singletons: every level with unique coordinates per fiber.

    What a scanner walks.  Positions of the last level of a run, and so everything inside it,
    stay as they are.

    Examples
    --------
    >>> crd = np.array([0, 0, 2])
    >>> coo = (CompressedLevel(np.array([0, 3]), crd), SingletonLevel(np.array([1, 3, 0])))
    >>> [(level.seg.tolist(), level.crd.tolist()) for level in grouped(coo)]
    [([0, 2], [0, 2]), ([0, 2, 3], [1, 3, 0])]
    """
    result: list[Level] = []
    depth = 0
    while depth < len(levels):
        head, end = levels[depth], depth + 1
        run: list[Ints] = []
        while end < len(levels) and isinstance(level := levels[end], SingletonLevel):
            run.append(level.crd)
            end += 1
        depth = end
        if not run or isinstance(head, SingletonLevel):
            result.append(head)
            continue
        if isinstance(head, DenseLevel):
            result.append(head)
            count = len(run[0])
            parents = np.arange(count, dtype=np.int64)
        else:
            count = len(head.seg) - 1
            parents = np.repeat(np.arange(count, dtype=np.int64), np.diff(head.seg))
            run.insert(0, head.crd)
        for crd in run:
            new = np.ones(len(crd), dtype=bool)
            new[1:] = (parents[1:] != parents[:-1]) | (crd[1:] != crd[:-1])
            seg = np.zeros(count + 1, dtype=np.int64)
            np.cumsum(np.bincount(parents[new], minlength=count), out=seg[1:])
            result.append(CompressedLevel(seg, crd[new]))
            parents = np.cumsum(new) - 1
            count = int(np.count_nonzero(new))
    return tuple(result)


def arrays_of(level: Level) -> tuple[Ints, ...]:
    """Return the arrays that a level stores in memory."""
    match level:
        case CompressedLevel(seg, crd):
            return (seg, crd)
        case SingletonLevel(crd):
            return (crd,)
        case DenseLevel():
            return ()


def coordinates(tensor: Tensor, levels: Sequence[Level]) -> Ints:
    """Logical coordinates, of blocks where there are any, of each stored position."""
    columns: list[Ints] = []
    count = 1
    for level in levels:
        match level:
            case DenseLevel(size):
                columns = [np.repeat(column, size) for column in columns]
                columns.append(np.tile(np.arange(size, dtype=np.int64), count))
                count *= size
            case CompressedLevel(seg, crd):
                lengths = np.diff(seg)
                columns = [np.repeat(column, lengths) for column in columns]
                columns.append(crd)
                count = len(crd)
            case SingletonLevel(crd):
                columns.append(crd)
    coords = np.empty((count, len(columns)), dtype=np.int64)
    for axis, column in zip(tensor.format.mode_order, columns, strict=True):
        coords[:, axis] = column
    return coords


def sorting(stored: Ints, shape: tuple[int, ...]) -> Ints:
    """The permutation that sorts coordinates, outermost level first."""
    if prod(shape) < 2**63:
        # One key is several times faster than a lexicographic sort.
        return np.argsort(np.ravel_multi_index(tuple(stored.T), shape), kind="stable")
    return np.lexsort(stored.T[::-1])


def stored_shape(tensor: Tensor) -> tuple[int, ...]:
    """Extent of each level, in blocks where its dimension is blocked."""
    grid = grid_shape(tensor)
    return tuple(grid[axis] for axis in tensor.format.mode_order)


def shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def level_text(tensor: Tensor, depth: int) -> str:
    return f"tensor {tensor.name}, level {depth} (dimension {tensor.format.mode_order[depth]})"


def check_size(tensor: Tensor, words: int) -> None:
    if words * WORD_BYTES > MAX_STORED_BYTES:
        raise DataError(
            f"storing {tensor.name} takes at least {counted(words * WORD_BYTES, 'byte')}, "
            f"the limit is {MAX_STORED_BYTES:,} bytes",
            hint="declare its large levels compressed, or use a smaller tensor",
        )
