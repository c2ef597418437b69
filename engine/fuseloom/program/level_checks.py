"""The rules that data and storage levels keep; each refusal says where and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.levels import (
    CompressedLevel,
    DenseLevel,
    Ints,
    Level,
    SingletonLevel,
    level_text,
    run_end,
    shape_text,
    stored_shape,
)
from fuseloom.program.tile_arrays import block_problem
from fuseloom.program.types import Tensor
from fuseloom.wording import counted


def as_float32(tensor: Tensor, array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """A float32 copy; booleans and integers convert, anything else is refused."""
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"the values of {tensor.name} have dtype {array.dtype}, which is not a real number",
            hint="convert them, e.g. array.astype('float32')",
        )
    with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is refused below
        result: npt.NDArray[np.float32] = array.astype(np.float32)
        if np.isfinite(result.sum()):  # then all are
            return result
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


def check_format(tensor: Tensor) -> None:
    """Refuse a singleton level with no level above it, and blocks that do not fit."""
    problem = block_problem(tensor)
    if problem:
        raise DataError(problem[0], hint=problem[1])
    if tensor.format.levels[:1] == (LevelFormat.SINGLETON,):
        raise DataError(
            f"tensor {tensor.name} has a singleton level outermost",
            hint="a singleton level keeps one coordinate per position of the level above; "
            "start with a compressed level, e.g. coo",
        )


def check_coordinates(tensor: Tensor, stored: Ints) -> None:
    """Refuse coordinates of elements, in storage order, that are outside the tensor."""
    for depth, axis in enumerate(tensor.format.mode_order):
        size = tensor.shape[axis]
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
    tensor: Tensor, depth: int, level: CompressedLevel, count: int, run: Sequence[SingletonLevel]
) -> None:
    """Rules of one compressed level under ``count`` positions, and of its singletons ``run``."""
    seg, crd, where = level.seg, level.crd, level_text(tensor, depth)
    if seg.shape != (count + 1,) or crd.ndim != 1:
        raise DataError(
            f"{where}: seg has shape {shape_text(seg.shape)}, "
            f"the level above has {counted(count, 'position')}",
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
            f"{where}: seg ends at {seg[-1]}, crd has {counted(len(crd), 'entry', 'entries')}",
            hint="the last entry of seg is the length of crd",
        )
    _check_range(tensor, depth, crd)
    check_singletons(tensor, depth + 1, len(crd), run)
    follows = np.ones(len(crd), dtype=bool)  # has a predecessor in its own fiber
    follows[seg[:-1][seg[:-1] < len(crd)]] = False
    rising = np.zeros(max(len(crd) - 1, 0), dtype=bool)
    equal = ~rising
    for column in (crd, *(single.crd for single in run)):
        rising |= equal & (column[1:] > column[:-1])
        equal &= column[1:] == column[:-1]
    bad = np.flatnonzero(follows[1:] & ~rising) + 1
    if len(bad):
        at, before = (
            ",".join(str(column[k]) for column in (crd, *(single.crd for single in run)))
            for k in (bad[0], bad[0] - 1)
        )
        raise DataError(
            f"{where}: coordinate {at} at position {bad[0]} "
            + ("is given twice" if equal[bad[0] - 1] else f"follows {before}"),
            hint="sort each fiber's coordinates and give each one once, or use from_coo",
        )


def check_singletons(tensor: Tensor, depth: int, count: int, run: Sequence[SingletonLevel]) -> None:
    """Rules of singleton levels from ``depth`` on, under ``count`` positions."""
    for at, level in enumerate(run, depth):
        if level.crd.shape != (count,):
            raise DataError(
                f"{level_text(tensor, at)}: crd has shape {shape_text(level.crd.shape)}, "
                f"the level above has {counted(count, 'position')}",
                hint="a singleton level keeps exactly one coordinate per position above",
            )
        _check_range(tensor, at, level.crd)


def _check_range(tensor: Tensor, depth: int, crd: Ints) -> None:
    size = stored_shape(tensor)[depth]
    bad = np.flatnonzero((crd < 0) | (crd >= size))
    if len(bad):
        raise DataError(
            f"{level_text(tensor, depth)}: coordinate {crd[bad[0]]} at position {bad[0]} is "
            f"outside 0..{size - 1}",
            hint="coordinates count from 0",
        )


def check_storage(tensor: Tensor, levels: Sequence[Level], values: npt.NDArray[np.float32]) -> None:
    """Refuse levels and values that break a rule of the tensor's format."""
    check_format(tensor)
    shape = stored_shape(tensor)
    count = 1
    for depth, (level, size) in enumerate(zip(levels, shape, strict=True)):
        end = run_end(tensor.format.levels, depth)
        run = [s for s in levels[depth + 1 : end + 1] if isinstance(s, SingletonLevel)]
        match level:
            case DenseLevel():
                count *= size
                check_singletons(tensor, depth + 1, count, run)
            case CompressedLevel():
                check_segments(tensor, depth, level, count, run)
                count = len(level.crd)
            case SingletonLevel():
                pass  # checked with the level that heads its run
    tile = tensor.format.tile
    if values.shape[1:] != tile:
        keeps = f"blocks of {shape_text(tile)}" if tile else "single values"
        raise DataError(
            f"tensor {tensor.name} has {keeps}, but its values have shape "
            f"{shape_text(values.shape)}",
            hint=f"give values of shape {shape_text((count, *tile))}",
        )
    if values.shape != (count, *tile):
        raise DataError(
            f"tensor {tensor.name} stores {counted(count, 'position')}, but "
            f"{counted(values.shape[0], 'value')}",
            hint="give one value per position of the last level",
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise DataError(
            f"tensor {tensor.name}: value {values[tuple(bad[0])]} at position "
            f"{bad[0][0]} is not finite",
            hint="remove NaN and infinite values, and those too large for float32",
        )
