"""Meanings of operations between types of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import Array, Meaning, Regions, attribute, fault
from fuseloom.stitch.shapes import BF16_BYTES, TensorShape


def converted(value: Array, dtype: np.dtype[Any]) -> Array:
    """Convert elements; floats beyond the range of integers become its ends, and NaN becomes 0.

    Examples
    --------
    >>> converted(np.float32([-1.7, 300, np.nan]), np.dtype("int8"))
    array([ -1, 127,   0], dtype=int8)
    """
    if value.dtype.kind == "c" and dtype.kind != "c" and dtype.kind != "b":
        value = value.real
    if dtype.kind == "b":
        return np.asarray(value != 0)
    if value.dtype.kind != "f" or dtype.kind not in "iu":
        return value.astype(dtype)
    limits = np.iinfo(dtype)
    exact = np.trunc(value.astype(np.float64))
    above = exact >= float(limits.max)
    below = exact <= float(limits.min)
    inside = np.where(above | below | np.isnan(exact), 0, exact).astype(dtype)
    return np.where(above, limits.max, np.where(below, limits.min, inside)).astype(dtype)


def _convert(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    return converted(value, operation.array.dtype)


def reinterpreted(value: Array, shape: TensorShape, *, flat: bool = False) -> Array:
    """The bits of elements as elements of another type; two-byte floats are known by their number.

    Parameters
    ----------
    value : array
    shape : TensorShape
        Of the result.
    flat : bool
        Keep only the order of elements, not the dimensions.
    """
    raw = np.ascontiguousarray(value)
    if raw.dtype == np.float32 and shape.byte_size == BF16_BYTES * raw.size and raw.size:
        raw = (raw.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if shape.element == "bf16":
        halves = raw.reshape(-1).view(np.uint16).astype(np.uint32)
        return (halves << np.uint32(16)).view(np.float32).reshape(shape.dims)
    if not flat and raw.dtype.itemsize == shape.dtype.itemsize and raw.shape != shape.dims:
        raise ValueError(shape)
    return raw.reshape(-1).view(shape.dtype).reshape(shape.dims)


def _bitcast_convert(
    operation: DenseOperation, operands: Sequence[Array], regions: Regions
) -> Array:
    (value,) = operands
    return reinterpreted(value, operation.array)


def _bitcast(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    """Elements in the order in which they are in memory."""
    (value,) = operands
    shape = operation.array
    before = attribute(operation, "operand_layout", tuple(range(value.ndim - 1, -1, -1)))
    after = attribute(operation, "layout", tuple(range(shape.rank - 1, -1, -1)))
    slowest_first = tuple(reversed(after))
    stored = TensorShape(shape.element, tuple(shape.dims[k] for k in slowest_first))
    made = reinterpreted(value.transpose(tuple(reversed(before))), stored, flat=True)
    return np.transpose(made, np.argsort(slowest_first).tolist())


def _reduce_precision(
    operation: DenseOperation, operands: Sequence[Array], regions: Regions
) -> Array:
    """Round to fewer bits of the significand, then to infinity or zero beyond the exponents."""
    (value,) = operands
    exponent_bits, mantissa_bits = (
        attribute(operation, name) for name in ("exponent_bits", "mantissa_bits")
    )
    dtype = value.dtype
    if dtype.kind != "f" or exponent_bits < 1 or mantissa_bits < 0:
        raise fault(
            operation, f"does not round {dtype} to {exponent_bits} and {mantissa_bits} bits"
        )
    word = np.dtype(f"u{dtype.itemsize}")
    digits = np.finfo(dtype).nmant
    bits = np.ascontiguousarray(value).view(word)
    dropped = digits - mantissa_bits
    if dropped > 0:
        last = (bits >> word.type(dropped)) & word.type(1)
        half = word.type((1 << (dropped - 1)) - 1)
        mask = word.type(np.iinfo(word).max ^ ((1 << dropped) - 1))
        bits = (bits + half + last) & mask
    rounded = bits.view(dtype).reshape(value.shape)
    if exponent_bits < np.finfo(dtype).nexp:
        bias = 2 ** (exponent_bits - 1) - 1
        size = np.abs(rounded.astype(np.float64))
        rounded = np.where(size >= 2.0 ** (bias + 1), np.copysign(np.inf, value), rounded)
        rounded = np.where(size < 2.0 ** (1 - bias), np.copysign(0.0, value), rounded)
    return np.where(np.isnan(value), value, rounded).astype(dtype)


MEANINGS: Mapping[str, Meaning] = {
    "convert": _convert,
    "bitcast-convert": _bitcast_convert,
    "bitcast": _bitcast,
    "reduce-precision": _reduce_precision,
}
