"""Meanings of operations that move elements, and of those without operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fuseloom.errors import ProgramError
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import Array, Meaning, Regions, attribute, fault
from fuseloom.stitch.meaning.windows import padded


def _constant(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    if operation.literal is None:
        raise fault(operation, "has no value")
    return np.asarray(operation.literal)


def _iota(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    shape, along = operation.array, attribute(operation, "iota_dimension")
    numbers = np.arange(shape.dims[along]).astype(shape.dtype)
    lines = [-1 if k == along else 1 for k in range(shape.rank)]
    return np.ascontiguousarray(np.broadcast_to(numbers.reshape(lines), shape.dims))


def _broadcast(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    dims, to = attribute(operation, "dimensions"), operation.array.dims
    if len(dims) != value.ndim or any(to[k] != n for k, n in zip(dims, value.shape, strict=True)):
        raise fault(operation, "maps dimensions to others of another extent")
    order = sorted(range(value.ndim), key=lambda k: dims[k])
    lines = [1] * len(to)
    for k in dims:
        lines[k] = to[k]
    return np.ascontiguousarray(np.broadcast_to(value.transpose(order).reshape(lines), to))


def _reshape(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    return value.reshape(operation.array.dims)


def _transpose(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    return np.ascontiguousarray(value.transpose(attribute(operation, "dimensions")))


def _reverse(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    return np.flip(value, attribute(operation, "dimensions"))


def _concatenate(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (along,) = attribute(operation, "dimensions")
    if sum(one.size for one in operands) != operation.array.elements:
        raise fault(operation, f"is said to be {operation.shape}, and its operands are not")
    return np.concatenate(operands, along)


def _slice(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    bounds = attribute(operation, "slice")
    if len(bounds) != value.ndim:
        raise fault(operation, f"bounds {len(bounds)} dimensions of {value.ndim}")
    if any(stop > extent for (_, stop, _), extent in zip(bounds, value.shape, strict=True)):
        raise fault(operation, "ends behind its operand")
    return value[tuple(slice(*one) for one in bounds)]


def _pad(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    value, fill = operands
    if fill.shape or fill.dtype != value.dtype:
        raise fault(operation, "takes a scalar of its operand's type")
    return padded(value, attribute(operation, "padding"), fill)


def _dimension_size(
    operation: DenseOperation, operands: Sequence[Array], regions: Regions
) -> Array:
    (value,) = operands
    (along,) = attribute(operation, "dimensions")
    return np.asarray(value.shape[along], np.int32)


def _parameter(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    raise ProgramError(f"the parameter {operation.name} has no value")


MEANINGS: Mapping[str, Meaning] = {
    "parameter": _parameter,
    "constant": _constant,
    "iota": _iota,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "reverse": _reverse,
    "concatenate": _concatenate,
    "slice": _slice,
    "pad": _pad,
    "get-dimension-size": _dimension_size,
}
