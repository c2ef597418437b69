"""Meanings of products, convolutions and Fourier transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.meaning.conversions import converted
from fuseloom.stitch.meaning.values import (
    MOST_BYTES,
    Array,
    Meaning,
    Regions,
    attribute,
    fault,
    wide,
)
from fuseloom.stitch.meaning.windows import windowed


def _working_type(operation: DenseOperation, operands: Sequence[Array]) -> np.dtype[Any]:
    """The type that a product is computed in, and rounded from once."""
    dtype = operation.array.dtype
    if dtype.kind != "c" and any(one.dtype.kind == "c" for one in operands):
        raise fault(operation, f"makes complex numbers, and is said to be {operation.shape}")
    return np.dtype(np.int64) if dtype.kind == "b" else wide(dtype)


def _dot(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    """Dimensions of the result: those of batches, those left, those right."""
    left, right = operands
    sides = []
    for side, value in (("lhs", left), ("rhs", right)):
        batch = attribute(operation, f"{side}_batch_dims", ())
        summed = attribute(operation, f"{side}_contracting_dims", ())
        free = tuple(k for k in range(value.ndim) if k not in (*batch, *summed))
        if len(set(batch) | set(summed)) != len(batch) + len(summed):
            raise fault(operation, "has a dimension that is in a batch and summed, or twice")
        sides.append((batch, free, summed))
    (lb, lf, ls), (rb, rf, rs) = sides
    dims = [tuple(left.shape[k] for k in part) for part in (lb, lf, ls)]
    others = [tuple(right.shape[k] for k in part) for part in (rb, rf, rs)]
    if dims[0] != others[0] or dims[2] != others[2]:
        raise fault(operation, "pairs dimensions of different extents")
    if operation.array.dims != (*dims[0], *dims[1], *others[1]):
        raise fault(operation, f"is said to be {operation.shape}, and its operands are not")
    sizes = [prod(part) for part in dims]
    dtype = _working_type(operation, operands)
    a = left.transpose(*lb, *lf, *ls).reshape(sizes).astype(dtype)
    b = right.transpose(*rb, *rs, *rf).reshape(sizes[0], sizes[2], prod(others[1])).astype(dtype)
    made = np.matmul(a, b).reshape((*dims[0], *dims[1], *others[1]))
    return converted(made, operation.array.dtype)


def _labels(operation: DenseOperation) -> tuple[list[int], list[int], list[int]]:
    """Places of batches, features and spatial dimensions in both operands and the result."""
    inputs, _, outputs = attribute(operation, "dim_labels").partition("->")
    left, _, right = inputs.partition("_")
    spatial = "".join(str(k) for k in range(len(left) - 2))
    places = []
    for labels, names in ((left, "bf"), (right, "oi"), (outputs, "bf")):
        if sorted(labels) != sorted(names + spatial):
            raise fault(operation, "has other labels than dimensions")
        places.append([labels.index(one) for one in names + spatial])
    return places[0], places[1], places[2]


def _convolution(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    """Products of windows, group by group: of features, or of the batch."""
    left, right = operands
    at_left, at_right, at_result = _labels(operation)
    if (left.ndim, right.ndim) != (len(at_left), len(at_right)):
        raise fault(operation, "has other labels than dimensions")
    window: tuple[WindowDimension, ...] = attribute(operation, "window", ())
    groups = attribute(operation, "feature_group_count", 1)
    batches = attribute(operation, "batch_group_count", 1)
    image, kernel = left.transpose(at_left), right.transpose(at_right)
    if (
        groups < 1
        or batches < 1
        or image.shape[0] % batches
        or image.shape[1] != kernel.shape[1] * groups
        or kernel.shape[0] % (groups * batches)
        or tuple(one.size for one in window) != kernel.shape[2:]
    ):
        raise fault(operation, "has operands of which one does not fit the other")
    dtype = _working_type(operation, operands)
    places = prod(n.outputs(k) for n, k in zip(window, image.shape[2:], strict=True))
    rows = image.shape[0] * image.shape[1] * places
    if rows * prod(kernel.shape[2:]) * dtype.itemsize > MOST_BYTES:
        raise fault(operation, f"takes more than {MOST_BYTES:,} bytes of windows")
    kernel = kernel.astype(dtype)
    views = windowed(image, window, 0)
    rank, count = len(window), groups * batches
    parts = []
    for k in range(count):
        here = views
        if groups > 1:
            width = image.shape[1] // groups
            here = views[:, k * width : (k + 1) * width]
        elif batches > 1:
            width = image.shape[0] // batches
            here = views[k * width : (k + 1) * width]
        width = kernel.shape[0] // count
        axes = [1, *range(2 + rank, 2 + 2 * rank)]
        weights = kernel[k * width : (k + 1) * width]
        sums = np.tensordot(here.astype(dtype), weights, (axes, range(1, 2 + rank)))
        parts.append(np.moveaxis(sums, -1, 1))
    made = np.concatenate(parts, 1) if count > 1 else parts[0]
    return converted(made, operation.array.dtype).transpose(np.argsort(at_result).tolist())


_TRANSFORMS: Mapping[str, Any] = {
    "FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn,
}  # fmt: skip


def _fft(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    (value,) = operands
    kind, lengths = attribute(operation, "fft_type"), attribute(operation, "fft_length")
    if kind not in _TRANSFORMS or not lengths:
        raise fault(operation, "is no transform", f"there are {', '.join(_TRANSFORMS)}")
    if operation.array.dtype.kind != ("f" if kind == "IRFFT" else "c"):
        raise fault(operation, f"is said to be {operation.shape}, and {kind} makes other numbers")
    last = operation.array.dims if kind == "IRFFT" else value.shape
    if last[-len(lengths) :] != lengths:
        raise fault(operation, "transforms other extents than there are")
    axes = range(value.ndim - len(lengths), value.ndim)
    made = _TRANSFORMS[kind](value.astype(wide(value.dtype)), s=lengths, axes=axes)
    return np.asarray(made).astype(operation.array.dtype)


MEANINGS: Mapping[str, Meaning] = {"dot": _dot, "convolution": _convolution, "fft": _fft}
