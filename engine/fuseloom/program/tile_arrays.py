"""Arrays of elements and arrays of square blocks, one into the other.

A blocked tensor's levels hold block coordinates; each stored position holds a whole block, the
*tile*, whose axes are the blocked dimensions in logical order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.program.limits import MAX_BLOCK
from fuseloom.program.types import Tensor
from fuseloom.wording import counted


def block_problem(tensor: Tensor) -> tuple[str, str] | None:
    """Return the fault of a tensor's blocks, and the remedy; None if there is none."""
    fmt = tensor.format
    if not 1 <= fmt.block <= MAX_BLOCK:
        return (
            f"the block edge of {tensor.name} is {fmt.block}",
            f"a block edge is 1 to {MAX_BLOCK:,}",
        )
    if len(fmt.blocked) > 2:
        return (
            f"{tensor.name} is blocked over {counted(len(fmt.blocked), 'dimension')}",
            "a block is a square or, over one dimension, a vector",
        )
    bad = [axis for axis in fmt.blocked if not 0 <= axis < tensor.rank]
    if bad or len(set(fmt.blocked)) < len(fmt.blocked):
        names = ",".join(map(str, fmt.blocked))
        return (
            f"{tensor.name} cannot be blocked over {names}",
            f"name each of the dimensions 0 to {tensor.rank - 1} at most once",
        )
    for axis in fmt.blocked:
        size = tensor.shape[axis]
        if size % fmt.block:
            return (
                f"block {fmt.block} does not divide dimension {axis} of {tensor.name}, "
                f"which is {size}",
                f"its divisors are {_divisors(size)}",
            )
    return None


def _divisors(size: int) -> str:
    found = [d for d in range(1, min(size, MAX_BLOCK) + 1) if size % d == 0]
    return ", ".join(map(str, found[:12])) + (", ..." if len(found) > 12 else "")


def grid_shape(tensor: Tensor) -> tuple[int, ...]:
    """Extents in logical order, counted in blocks where a dimension is blocked."""
    return tuple(
        size // tensor.format.block if axis in tensor.format.blocked else size
        for axis, size in enumerate(tensor.shape)
    )


def to_tiles(tensor: Tensor, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of ``tensor.shape`` as one of ``(*grid, *tile)``."""
    fmt = tensor.format
    split: list[int] = []
    inner: list[int] = []
    for axis, size in enumerate(grid_shape(tensor)):
        split.append(size)
        if axis in fmt.blocked:
            inner.append(len(split))
            split.append(fmt.block)
    outer = [k for k in range(len(split)) if k not in inner]
    return np.transpose(array.reshape(split), outer + inner)


def from_tiles(tensor: Tensor, tiles: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of ``(*grid, *tile)`` as one of ``tensor.shape``."""
    axes: list[int] = []
    for axis in range(tensor.rank):
        axes.append(axis)
        if axis in tensor.format.blocked:
            axes.append(tensor.rank + tensor.format.blocked.index(axis))
    return np.transpose(tiles, axes).reshape(tensor.shape)


def block_coordinates(
    tensor: Tensor, coords: npt.NDArray[np.int64], values: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Blocks, each once and sorted, that hold the given elements; their tiles, 0 elsewhere.

    Parameters
    ----------
    coords : (n, rank) array of int
        Logical coordinates of elements, each once.
    """
    fmt = tensor.format
    if not fmt.blocked:
        return coords, values
    axes = list(fmt.blocked)
    blocks = coords.copy()
    blocks[:, axes] //= fmt.block
    unique, number = np.unique(blocks, axis=0, return_inverse=True)
    tiles = np.zeros((len(unique), *fmt.tile), dtype=np.float32)
    tiles[(number.reshape(-1), *(coords[:, axes] % fmt.block).T)] = values
    return unique, tiles


def element_coordinates(tensor: Tensor, blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Logical coordinates of all elements of the given blocks, block after block."""
    fmt = tensor.format
    if not fmt.blocked:
        return blocks
    corners = blocks.copy()
    corners[:, list(fmt.blocked)] *= fmt.block
    within = np.zeros((fmt.block ** len(fmt.blocked), tensor.rank), dtype=np.int64)
    within[:, list(fmt.blocked)] = np.indices(fmt.tile).reshape(len(fmt.blocked), -1).T
    return (corners[:, None, :] + within).reshape(-1, tensor.rank)
