"""Positions that elements are moved from by slices, broadcasts, transpositions and the like."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.operand_schedules import Dims
from fuseloom.stitch.positions import PositionSum, row_strides, strided


def _same(_: DenseOperation, __: Dims, at: PositionSum) -> PositionSum:
    return at


def _broadcast(operation: DenseOperation, dims: Dims, at: PositionSum) -> PositionSum:
    own = [0] * operation.array.rank
    places = operation.attributes.get("dimensions", ())
    for place, extent, stride in zip(places, dims, row_strides(dims), strict=True):
        own[place] = stride if extent == operation.array.dims[place] else 0
    return strided(at, operation.array.dims, own)


def _transpose(operation: DenseOperation, dims: Dims, at: PositionSum) -> PositionSum:
    strides = row_strides(dims)
    order = operation.attributes["dimensions"]
    return strided(at, operation.array.dims, [strides[old] for old in order])


def _slice(operation: DenseOperation, dims: Dims, at: PositionSum) -> PositionSum:
    bounds, strides = operation.attributes["slice"], row_strides(dims)
    steps = [stride * step for stride, (_, _, step) in zip(strides, bounds, strict=True)]
    first = sum(stride * start for stride, (start, _, _) in zip(strides, bounds, strict=True))
    return strided(at, operation.array.dims, steps).plus(first)


def _reverse(operation: DenseOperation, dims: Dims, at: PositionSum) -> PositionSum:
    turned = operation.attributes["dimensions"]
    strides = row_strides(dims)
    first = sum(strides[dim] * (dims[dim] - 1) for dim in turned)
    steps = [-stride if dim in turned else stride for dim, stride in enumerate(strides)]
    return strided(at, dims, steps).plus(first)


MOVES: Mapping[str, Callable[[DenseOperation, Dims, PositionSum], PositionSum]] = {
    "bitcast": _same,
    "broadcast": _broadcast,
    "reshape": _same,
    "reverse": _reverse,
    "slice": _slice,
    "transpose": _transpose,
}
"""By opcode: the position of the operand's element that an element is."""
