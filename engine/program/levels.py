"""Storage levels: how they are built from coordinates, and the rules they keep."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.errors import DataError
from engine.program.limits import MAX_STORED_BYTES
from engine.program.types import LevelFormat, Tensor

Ints: TypeAlias = npt.NDArray[np.int64]
WORD_BYTES = 4
"""Bytes of one coordinate, segment entry or value on the machine."""


@dataclass(frozen=True)
class DenseLevel:
    """Every coordinate below ``size`` is stored under every position above."""

    size: int


@dataclass(frozen=True, eq=False)
class CompressedLevel:
    """Coordinates ``crd[seg[p]:seg[p+1]]`` are stored under position ``p`` of the level above."""

    seg: Ints
    crd: Ints


Level: TypeAlias = DenseLevel | CompressedLevel


def build_levels(tensor: Tensor, stored: Ints) -> tuple[tuple[Level, ...], Ints, int]:
    """Levels of sorted coordinates; position of each element, and number of positions."""
    levels: list[Level] = []
    positions = np.zeros(len(stored), dtype=np.int64)
    count, words = 1, 0
    for depth, (fmt, size) in enumerate(
        zip(tensor.format.levels, stored_shape(tensor), strict=True)
    ):
        crd = stored[:, depth]
        if fmt is LevelFormat.DENSE:
            count *= size
            check_size(tensor, words + count)  # each position needs a word further in
            positions = positions * size + crd
            levels.append(DenseLevel(size))
            continue
        new = np.ones(len(stored), dtype=bool)
        new[1:] = (positions[1:] != positions[:-1]) | (crd[1:] != crd[:-1])
        words += count + 1 + int(np.count_nonzero(new))
        check_size(tensor, words)
        seg = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(positions[new], minlength=count), out=seg[1:])
        levels.append(CompressedLevel(seg, crd[new]))
        positions = np.cumsum(new) - 1
        count = int(np.count_nonzero(new))
    check_size(tensor, words + count)
    return tuple(levels), positions, count


def sorting(stored: Ints, shape: tuple[int, ...]) -> Ints:
    """The permutation that sorts coordinates, outermost level first."""
    if prod(shape) < 2**63:
        # One key is several times faster than a lexicographic sort.
        return np.argsort(np.ravel_multi_index(tuple(stored.T), shape), kind="stable")
    return np.lexsort(stored.T[::-1])


def stored_shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape[axis] for axis in tensor.format.mode_order)


def as_float32(tensor: Tensor, array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """A float32 copy; booleans and integers convert, anything else is refused."""
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"the values of {tensor.name} have dtype {array.dtype}, which is not a real number",
            hint="convert them, e.g. array.astype('float32')",
        )
    with np.errstate(over="ignore"):  # too large becomes infinite and is refused by verify
        result: npt.NDArray[np.float32] = array.astype(np.float32)
    bad = np.argwhere(~np.isfinite(result))
    if len(bad):
        where = ",".join(map(str, bad[0].tolist()))
        raise DataError(
            f"tensor {tensor.name}: value {array[tuple(bad[0])]} at [{where}] is not finite "
            "in float32",
            hint="remove NaN and infinite values, and those too large for float32",
        )
    return result


def as_integers(tensor: Tensor, what: str, array: npt.NDArray[Any]) -> Ints:
    if array.size and array.dtype.kind not in "iu":
        raise DataError(
            f"{what} of {tensor.name} have dtype {array.dtype}, not integer",
            hint="convert them, e.g. array.astype('int64')",
        )
    return array.astype(np.int64)


def shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def level_text(tensor: Tensor, depth: int) -> str:
    return f"tensor {tensor.name}, level {depth} (dimension {tensor.format.mode_order[depth]})"


def refuse_singleton(tensor: Tensor) -> None:
    if LevelFormat.SINGLETON in tensor.format.levels:
        raise DataError(
            f"tensor {tensor.name} has a singleton level, which is not supported yet",
            hint="use compressed levels",
        )


def check_size(tensor: Tensor, words: int) -> None:
    if words * WORD_BYTES > MAX_STORED_BYTES:
        raise DataError(
            f"storing {tensor.name} takes at least {words * WORD_BYTES:,} bytes, "
            f"the limit is {MAX_STORED_BYTES:,} bytes",
            hint="declare its large levels compressed, or use a smaller tensor",
        )


def check_coordinates(tensor: Tensor, stored: Ints) -> None:
    for depth, size in enumerate(stored_shape(tensor)):
        bad = np.flatnonzero((stored[:, depth] < 0) | (stored[:, depth] >= size))
        if len(bad):
            raise DataError(
                f"{level_text(tensor, depth)}: coordinate {stored[bad[0], depth]} of element "
                f"{bad[0]} is outside 0..{size - 1}",
                hint="coordinates count from 0",
            )


def check_duplicates(tensor: Tensor, stored: Ints) -> None:
    same = np.flatnonzero((stored[1:] == stored[:-1]).all(axis=1))
    if len(same):
        logical = stored[same[0]][np.argsort(tensor.format.mode_order)]
        raise DataError(
            f"tensor {tensor.name}: element [{','.join(map(str, logical.tolist()))}] "
            "is given twice",
            hint="add or drop duplicates first",
        )


def check_segments(
    tensor: Tensor, depth: int, level: CompressedLevel, count: int, size: int
) -> None:
    """Rules of one compressed level under ``count`` positions."""
    seg, crd, where = level.seg, level.crd, level_text(tensor, depth)
    if seg.shape != (count + 1,) or crd.ndim != 1:
        raise DataError(
            f"{where}: seg has shape {shape_text(seg.shape)}, "
            f"the level above has {count:,} positions",
            hint=f"seg has one entry more, {count + 1:,}; crd has one axis",
        )
    if seg[0] != 0:
        raise DataError(f"{where}: seg starts at {seg[0]}", hint="seg starts at 0")
    falls = np.flatnonzero(np.diff(seg) < 0)
    if len(falls):
        raise DataError(
            f"{where}: seg falls from {seg[falls[0]]} to {seg[falls[0] + 1]} "
            f"at position {falls[0] + 1}",
            hint="seg never decreases",
        )
    if seg[-1] != len(crd):
        raise DataError(
            f"{where}: seg ends at {seg[-1]}, crd has {len(crd)} entries",
            hint="the last entry of seg is the length of crd",
        )
    bad = np.flatnonzero((crd < 0) | (crd >= size))
    if len(bad):
        raise DataError(
            f"{where}: coordinate {crd[bad[0]]} at position {bad[0]} is outside 0..{size - 1}",
            hint="coordinates count from 0",
        )
    follows = np.ones(len(crd), dtype=bool)  # has a predecessor in its own fiber
    follows[seg[:-1][seg[:-1] < len(crd)]] = False
    bad = np.flatnonzero(follows[1:] & (crd[1:] <= crd[:-1])) + 1
    if len(bad):
        twice = crd[bad[0]] == crd[bad[0] - 1]
        raise DataError(
            f"{where}: coordinate {crd[bad[0]]} at position {bad[0]} "
            + ("is given twice" if twice else f"follows {crd[bad[0] - 1]}"),
            hint="sort each fiber's coordinates and give each one once, or use from_coo",
        )
