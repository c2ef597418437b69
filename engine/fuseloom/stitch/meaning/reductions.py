"""Meanings of operations that combine many elements: reductions, over windows too, and maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import (
    Array,
    DenseValue,
    Meaning,
    Regions,
    attribute,
    fault,
    same_types,
    wide,
)
from fuseloom.stitch.meaning.windows import windowed
from fuseloom.stitch.shapes import TupleShape

UFUNCS: Mapping[str, np.ufunc] = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
"""Functions that NumPy reduces with."""
MOST_OFFSETS = 100_000
"""Elements of a window that another one is selected from."""


def folded(
    name: str, arrays: Sequence[Array], starts: Sequence[Any], axes: Sequence[int], regions: Regions
) -> tuple[Array, ...]:
    """Combine all elements along axes.

    One array is reduced by NumPy if the computation is one of :data:`UFUNCS`; sums and products
    of floats are computed with float64, and rounded once.  Else elements are combined one after
    the other, in order, so that the computation need not be associative.

    Parameters
    ----------
    name : str
        The computation, whose parameters are what was combined and elements.
    arrays : sequence of array
        Of one shape.
    starts : sequence of scalar
    axes : sequence of int
    regions : Regions
    """
    ufunc = UFUNCS.get(regions.combiner(name) or "")
    if ufunc is not None and len(arrays) == 1:
        (array,), (start,) = arrays, starts
        dtype = wide(array.dtype) if ufunc in (np.add, np.multiply) else array.dtype
        total = ufunc.reduce(array, axis=tuple(axes), dtype=dtype, initial=start.astype(dtype))
        return (np.asarray(total).astype(array.dtype),)
    axes = sorted(axes)
    rest = [n for k, n in enumerate(arrays[0].shape) if k not in axes]
    count = prod(arrays[0].shape[k] for k in axes)
    rows = [np.moveaxis(array, axes, range(len(axes))).reshape(count, *rest) for array in arrays]
    made: tuple[Array, ...] = tuple(
        np.full(rest, start, array.dtype) for start, array in zip(starts, arrays, strict=True)
    )
    for k in range(count):
        made = regions.run_elementwise(name, [*made, *(row[k] for row in rows)])
    return made


def _halves(
    operation: DenseOperation, operands: Sequence[Array]
) -> tuple[Sequence[Array], Sequence[Array]]:
    half = len(operands) // 2
    arrays, starts = operands[:half], operands[half:]
    if (
        len(operands) != 2 * half
        or not half
        or any(one.shape != arrays[0].shape for one in arrays)
        or any(one.shape for one in starts)
        or any(a.dtype != s.dtype for a, s in zip(arrays, starts, strict=True))
    ):
        raise fault(operation, "takes arrays of one shape, and a scalar for each of them")
    return arrays, starts


def _result(operation: DenseOperation, made: tuple[Array, ...]) -> DenseValue:
    return made if isinstance(operation.shape, TupleShape) else made[0]


def _reduce(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    arrays, starts = _halves(operation, operands)
    axes = attribute(operation, "dimensions")
    return _result(
        operation, folded(attribute(operation, "to_apply"), arrays, starts, axes, regions)
    )


def _reduce_window(
    operation: DenseOperation, operands: Sequence[Array], regions: Regions
) -> DenseValue:
    arrays, starts = _halves(operation, operands)
    window = attribute(operation, "window")
    views = [windowed(array, window, start) for array, start in zip(arrays, starts, strict=True)]
    rank = arrays[0].ndim
    axes = range(rank, 2 * rank)
    return _result(
        operation, folded(attribute(operation, "to_apply"), views, starts, axes, regions)
    )


def _map(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    return regions.run_elementwise(attribute(operation, "to_apply"), operands)[0]


def _select_and_scatter(
    operation: DenseOperation, operands: Sequence[Array], regions: Regions
) -> Array:
    """Add each element of the source to where its window's selected element is."""
    array, source, start = operands
    same_types(operation, operands)
    window, select = attribute(operation, "window"), attribute(operation, "select")
    scatter = attribute(operation, "scatter")
    if any(one.base_dilation != 1 or one.reversed for one in window):
        raise fault(operation, "has windows that are dilated or go backwards")
    if prod(one.size for one in window) > MOST_OFFSETS:
        raise fault(operation, f"has windows of more than {MOST_OFFSETS:,} elements")
    grids: Sequence[Array] = np.indices(source.shape, sparse=True)
    best: Array | None = None
    there = np.zeros(source.shape, bool)
    place = np.zeros(source.shape, np.int64)
    for offset in product(*(range(one.size) for one in window)):
        at = [
            grid * one.stride - one.low + k * one.window_dilation
            for grid, one, k in zip(grids, window, offset, strict=True)
        ]
        valid = np.ones(source.shape, bool)
        flat = np.zeros(source.shape, np.int64)
        for index, extent in zip(at, array.shape, strict=True):
            valid &= (index >= 0) & (index < extent)
            flat = flat * extent + index
        candidate = array.reshape(-1)[np.where(valid, flat, 0)]
        if best is None:
            taken = valid
            best = candidate
        else:
            (kept,) = regions.run_elementwise(select, [best, candidate])
            taken = valid & ~(there & kept)
        best = np.where(taken, candidate, best)
        place = np.where(taken, flat, place)
        there |= valid
    combine = UFUNCS.get(regions.combiner(scatter) or "")
    if combine is np.add and array.dtype.kind in "fc":
        sums = np.zeros(array.size, wide(array.dtype))
        np.add.at(sums, place[there], source[there])
        return (start + sums).astype(array.dtype).reshape(array.shape)
    made = np.full(array.size, start, array.dtype)
    if combine is not None:
        combine.at(made, place[there], source[there])
    else:
        for k, value in zip(place[there], source[there], strict=True):
            (made[k],) = regions.run_elementwise(scatter, [made[k], value])
    return made.reshape(array.shape)


MEANINGS: Mapping[str, Meaning] = {
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "map": _map,
    "select-and-scatter": _select_and_scatter,
}
