"""Meanings of operations whose places are values: slices, gathers and scatters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.reductions import UFUNCS
from fuseloom.stitch.meaning.values import (
    Array,
    DenseValue,
    Meaning,
    Regions,
    attribute,
    fault,
    same_types,
)
from fuseloom.stitch.shapes import TupleShape


def _starts(
    operation: DenseOperation, extents: Sequence[int], sizes: Sequence[int], starts: Sequence[Array]
) -> tuple[slice, ...]:
    """Slices that are moved into an array where they would reach beyond it."""
    if len(starts) == 1 and starts[0].ndim == 1:  # one vector, as old texts have it
        starts = list(starts[0])
    if not len(extents) == len(sizes) == len(starts):
        raise fault(operation, "takes a size and a start for each dimension")
    if any(size > extent for size, extent in zip(sizes, extents, strict=True)):
        raise fault(operation, "takes more of a dimension than there is")
    at = [
        min(max(int(start), 0), extent - size)
        for start, extent, size in zip(starts, extents, sizes, strict=True)
    ]
    return tuple(slice(start, start + size) for start, size in zip(at, sizes, strict=True))


def _dynamic_slice(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    value, *starts = operands
    sizes = attribute(operation, "dynamic_slice_sizes")
    return value[_starts(operation, value.shape, sizes, starts)].copy()


def _dynamic_update_slice(
    operation: DenseOperation, operands: Sequence[Array], regions: Regions
) -> Array:
    value, update, *starts = operands
    same_types(operation, [value, update])
    made = value.copy()
    made[_starts(operation, value.shape, update.shape, starts)] = update
    return made


class _Places(NamedTuple):
    """Places of windows in an array: one for each place of a batch."""

    batch: tuple[int, ...]
    starts: list[Array]
    """Dimension by dimension of the array, each with the dimensions of the batch."""
    window: list[int]
    """Dimensions of the array that windows have, too."""

    def full(self, sizes: Sequence[int]) -> list[Array]:
        """Places of all elements of windows, with the dimensions of the batch and of windows."""
        indices = []
        for k, start in enumerate(self.starts):
            lines = [1] * len(self.window)
            if k in self.window:
                lines[self.window.index(k)] = -1
            steps = np.arange(sizes[k]).reshape(lines)
            indices.append(start.reshape(start.shape + (1,) * len(lines)) + steps)
        return indices


def _places(
    operation: DenseOperation,
    rank: int,
    indices: Array,
    into: Sequence[int],
    without: Sequence[int],
    batching: tuple[Sequence[int], Sequence[int]],
) -> _Places:
    """Read places from an array of indices.

    Parameters
    ----------
    operation : DenseOperation
    rank : int
        Of the array that places are in.
    indices : array
    into : sequence of int
        Dimensions of that array which the elements of a vector of indices belong to.
    without : sequence of int
        Its dimensions that windows do not have.
    batching : tuple
        Its dimensions, and those of the indices, which go together.
    """
    along = attribute(operation, "index_vector_dim")
    vectors = indices[..., None] if along == indices.ndim else np.moveaxis(indices, along, -1)
    vectors = vectors.astype(np.int64)
    batch = vectors.shape[:-1]
    if len(into) != vectors.shape[-1]:
        raise fault(operation, f"has {len(into)} dimensions for {vectors.shape[-1]} indices")
    starts: list[Array] = [np.zeros((1,) * len(batch), np.int64)] * rank
    for k, dim in enumerate(into):
        starts[dim] = vectors[..., k]
    for dim, other in zip(*batching, strict=True):
        lines = [1] * len(batch)
        lines[other - (other > along)] = -1
        starts[dim] = np.arange(indices.shape[other]).reshape(lines)
    window = [k for k in range(rank) if k not in without and k not in batching[0]]
    return _Places(batch, starts, window)


def _gather(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    value, indices = operands
    sizes = attribute(operation, "slice_sizes")
    batching = (
        attribute(operation, "operand_batching_dims", ()),
        attribute(operation, "start_indices_batching_dims", ()),
    )
    into = attribute(operation, "start_index_map")
    without = attribute(operation, "collapsed_slice_dims", ())
    places = _places(operation, value.ndim, indices, into, without, batching)
    offsets = attribute(operation, "offset_dims")
    if len(sizes) != value.ndim or len(offsets) != len(places.window):
        raise fault(operation, "has slices of other dimensions than its operand")
    if any(size > extent for size, extent in zip(sizes, value.shape, strict=True)):
        raise fault(operation, "takes more of a dimension than there is")
    for k in into:
        places.starts[k] = np.clip(places.starts[k], 0, value.shape[k] - sizes[k])
    shape = (*places.batch, *(sizes[k] for k in places.window))
    if prod(shape) != operation.array.elements:
        raise fault(operation, f"is said to be {operation.shape}, and its slices are not")
    if value.ndim == 0:
        slices = np.broadcast_to(value, shape)
    else:
        slices = value[tuple(np.broadcast_arrays(*places.full(sizes)))]
        slices = np.broadcast_to(slices, shape)
    rank = slices.ndim
    to = [k for k in range(rank) if k not in offsets]
    return np.moveaxis(slices, range(rank), [*to, *offsets])


def _scatter(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    """Combine elements with updates, in order; windows that reach beyond are left out."""
    half = len(operands) // 2
    arrays, indices, updates = operands[:half], operands[half], operands[half + 1 :]
    for pair in zip(arrays, updates, strict=True):
        same_types(operation, pair)
    batching = (
        attribute(operation, "input_batching_dims", ()),
        attribute(operation, "scatter_indices_batching_dims", ()),
    )
    without = attribute(operation, "inserted_window_dims", ())
    into = attribute(operation, "scatter_dims_to_operand_dims")
    places = _places(operation, arrays[0].ndim, indices, into, without, batching)
    windows = attribute(operation, "update_window_dims")
    outer = [k for k in range(updates[0].ndim) if k not in windows]
    if len(windows) != len(places.window) or (
        places.batch != tuple(updates[0].shape[k] for k in outer)
    ):
        raise fault(operation, "has updates that do not fit its indices")
    sizes = [1] * arrays[0].ndim
    for k, dim in zip(places.window, windows, strict=True):
        sizes[k] = updates[0].shape[dim]
    valid = np.ones(places.batch, bool)
    flat = np.zeros((1,) * updates[0].ndim, np.int64)
    for extent, size, start, index in zip(
        arrays[0].shape, sizes, places.starts, places.full(sizes), strict=True
    ):
        valid &= (start >= 0) & (start <= extent - size)
        flat = flat * extent + index
    inner = [sizes[k] for k in places.window]
    flat = np.broadcast_to(flat, (*places.batch, *inner)).reshape(-1, prod(inner))
    used = np.nonzero(valid.reshape(-1))[0]
    rows = [update.transpose(*outer, *windows).reshape(-1, prod(inner))[used] for update in updates]
    made = [array.copy().reshape(-1) for array in arrays]
    _combined(attribute(operation, "to_apply"), made, flat[used], rows, regions)
    results = tuple(one.reshape(array.shape) for one, array in zip(made, arrays, strict=True))
    return results if isinstance(operation.shape, TupleShape) else results[0]


def _combined(
    name: str, made: list[Array], places: Array, rows: list[Array], regions: Regions
) -> None:
    """Combine elements at places with updates, one row of them after the other."""
    combiner = regions.combiner(name) or ""
    if len(made) == 1 and combiner == "parameter":
        made[0][places.reshape(-1)] = rows[0].reshape(-1)
    elif len(made) == 1 and combiner in UFUNCS:
        UFUNCS[combiner].at(made[0], places.reshape(-1), rows[0].reshape(-1))
    else:
        for k, place in enumerate(places):
            values = regions.run_elementwise(
                name, [*(one[place] for one in made), *(row[k] for row in rows)]
            )
            for one, value in zip(made, values, strict=True):
                one[place] = value


MEANINGS: Mapping[str, Meaning] = {
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
}
