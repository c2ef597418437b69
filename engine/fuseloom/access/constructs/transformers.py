"""Transformers: other views of access patterns, without arithmetic (Glenside, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from fuseloom.access.constructs.construct import (
    Array,
    Construct,
    TermPart,
    require,
    require_dimension,
    require_extents,
)
from fuseloom.access.shapes import AccessShape
from fuseloom.wording import counted

Shapes = Sequence[AccessShape]
Values = Sequence[Array]

FILLINGS = {"zero": 0.0, "minimum": -np.inf}
"""Values that ``pad`` may put around a pattern: 0, or minus infinity."""


def _access(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (number,) = shapes, attributes
    require(
        0 <= number <= len(shape.dims),
        f"access: {number} is not between 0 and {len(shape.dims)}, the dimensions of {shape}",
    )
    return AccessShape(shape.dims[:number], shape.dims[number:])


def _same(values: Values, shapes: Shapes, attributes: tuple[Any, ...]) -> Array:
    return values[0]


def _transpose(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (order,) = shapes, attributes
    require(
        sorted(order) == list(range(len(shape.dims))),
        f"transpose: ({' '.join(map(str, order))}) is no permutation of the dimensions of {shape}",
        f"it names each of 0 to {len(shape.dims) - 1} once" if shape.dims else None,
    )
    return shape.resplit(tuple(shape.dims[d] for d in order))


def _transposed(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    return values[0].transpose(attributes[0])


def _cart_prod(shapes: Shapes, _: tuple[Any, ...]) -> AccessShape:
    left, right = shapes
    require(
        left.compute == right.compute,
        f"cartProd: the compute dimensions of {left} and {right} differ",
        "both operands must be computed on alike",
    )
    return AccessShape((*left.access, *right.access), (2, *left.compute))


def _products(values: Values, shapes: Shapes, _: tuple[Any, ...]) -> Array:
    left, right = shapes
    shape = (*left.access, *right.access, *left.compute)
    first = values[0].reshape((*left.access, *(1 for _ in right.access), *left.compute))
    second = values[1].reshape((*(1 for _ in left.access), *right.access, *right.compute))
    axis = len(left.access) + len(right.access)
    return np.stack([np.broadcast_to(part, shape) for part in (first, second)], axis=axis)


def _windows(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (window, strides) = shapes, attributes
    require(
        len(window) == len(strides) == len(shape.compute),
        f"windows: a window of {counted(len(window), 'dimension')} and strides of "
        f"{counted(len(strides), 'dimension')} on {shape}",
        "windows cover all compute dimensions",
    )
    require_extents(window, "windows")
    require_extents(strides, "windows")
    for extent, size in zip(shape.compute, window, strict=True):
        require(size <= extent, f"windows: a window of {size} in a dimension of {extent}")
    places = (
        (extent - size) // stride + 1
        for extent, size, stride in zip(shape.compute, window, strides, strict=True)
    )
    return AccessShape((*shape.access, *places), window)


def _windowed(values: Values, shapes: Shapes, attributes: tuple[Any, ...]) -> Array:
    (shape,), (window, strides) = shapes, attributes
    first = len(shape.access)
    if not window:
        return values[0]
    axes = tuple(range(first, first + len(window)))
    windows = np.lib.stride_tricks.sliding_window_view(values[0], window, axis=axes)
    steps = tuple(slice(None, None, stride) for stride in strides)
    return np.asarray(windows[(slice(None),) * first + steps])


def _slice(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (number, low, high) = shapes, attributes
    require_dimension(shape, number, "slice")
    _require_range(shape.dims[number], low, high, "slice")
    return shape.resplit((*shape.dims[:number], high - low, *shape.dims[number + 1 :]))


def _require_range(extent: int, low: int, high: int, of: str) -> None:
    require(
        0 <= low < high <= extent,
        f"{of}: {low} to before {high} is empty or outside a dimension of {extent}",
    )


def _sliced(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    number, low, high = attributes
    return np.asarray(values[0][(slice(None),) * number + (slice(low, high),)])


def _box(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (lows, highs) = shapes, attributes
    require(
        len(lows) == len(highs) == len(shape.dims),
        f"box: it bounds {counted(len(lows), 'dimension')} below and {len(highs)} above, "
        f"and {shape} has {len(shape.dims)}",
    )
    for extent, low, high in zip(shape.dims, lows, highs, strict=True):
        _require_range(extent, low, high, "box")
    return shape.resplit(tuple(high - low for low, high in zip(lows, highs, strict=True)))


def _boxed(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    ranges = tuple(slice(low, high) for low, high in zip(*attributes, strict=True))
    return np.asarray(values[0][ranges])


def _squeeze(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (number,) = shapes, attributes
    require_dimension(shape, number, "squeeze")
    extent = shape.dims[number]
    require(extent == 1, f"squeeze: dimension {number} of {shape} has extent {extent}, not 1")
    split = len(shape.access) - (number < len(shape.access))
    dims = (*shape.dims[:number], *shape.dims[number + 1 :])
    return AccessShape(dims[:split], dims[split:])


def _squeezed(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    return np.squeeze(values[0], axis=attributes[0])


def _insert_axis(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (number,) = shapes, attributes
    count = len(shape.dims)
    require(
        0 <= number <= count,
        f"insert-axis: {number} is not among the {counted(count + 1, 'place')} in {shape}",
        f"a dimension can be inserted before numbers 0 to {count}",
    )
    split = len(shape.access) + (number <= len(shape.access))
    dims = (*shape.dims[:number], 1, *shape.dims[number:])
    return AccessShape(dims[:split], dims[split:])


def _inserted(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    return np.expand_dims(values[0], attributes[0])


def _broadcast(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (wanted,) = shapes, attributes
    require_extents(wanted.dims, "broadcast")
    fits = len(shape.access) == len(wanted.access) and len(shape.compute) == len(wanted.compute)
    require(
        fits and all(a in (1, b) for a, b in zip(shape.dims, wanted.dims, strict=True)),
        f"broadcast: {shape} does not become {wanted}",
        "dimensions of extent 1 are repeated, others must be equal; insert-axis adds them",
    )
    return AccessShape(wanted.access, wanted.compute)


def _repeated(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    return np.broadcast_to(values[0], attributes[0].dims)


def _flatten(shapes: Shapes, _: tuple[Any, ...]) -> AccessShape:
    return AccessShape((prod(shapes[0].access),), (prod(shapes[0].compute),))


def _flattened(values: Values, shapes: Shapes, attributes: tuple[Any, ...]) -> Array:
    return values[0].reshape(_flatten(shapes, attributes).dims)


def _reshape(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (wanted,) = shapes, attributes
    require_extents(wanted.dims, "reshape")
    for old, new, of in (
        (shape.access, wanted.access, "access"),
        (shape.compute, wanted.compute, "compute"),
    ):
        require(
            prod(old) == prod(new),
            f"reshape: the {of} dimensions of {shape} hold {prod(old)} positions, those of "
            f"{wanted} {prod(new)}",
        )
    return AccessShape(wanted.access, wanted.compute)


def _reshaped(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    return values[0].reshape(attributes[0].dims)


def _pair(shapes: Shapes, _: tuple[Any, ...]) -> AccessShape:
    left, right = shapes
    require(left == right, f"pair: {left} and {right} differ")
    return AccessShape(left.access, (2, *left.compute))


def _paired(values: Values, shapes: Shapes, _: tuple[Any, ...]) -> Array:
    return np.stack(values, axis=len(shapes[0].access))


def _concat(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (left, right), (number,) = shapes, attributes
    require_dimension(left, number, "concat")

    def others(shape: AccessShape) -> tuple[object, ...]:
        return len(shape.access), len(shape.dims), shape.dims[:number], shape.dims[number + 1 :]

    require(
        others(left) == others(right),
        f"concat: {left} and {right} differ in more than dimension {number}",
    )
    length = left.dims[number] + right.dims[number]
    return left.resplit((*left.dims[:number], length, *left.dims[number + 1 :]))


def _joined(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    return np.concatenate(values, axis=attributes[0])


def _pad(shapes: Shapes, attributes: tuple[Any, ...]) -> AccessShape:
    (shape,), (filling, number, before, after) = shapes, attributes
    require(filling in FILLINGS, f"pad: {filling} is none of {', '.join(FILLINGS)}")
    require_dimension(shape, number, "pad")
    require_extents((before, after), "pad", least=0)
    length = before + shape.dims[number] + after
    return shape.resplit((*shape.dims[:number], length, *shape.dims[number + 1 :]))


def _padded(values: Values, _: Shapes, attributes: tuple[Any, ...]) -> Array:
    filling, number, before, after = attributes
    width = [(0, 0)] * values[0].ndim
    width[number] = (before, after)
    return np.pad(values[0], width, constant_values=FILLINGS[filling])


_T, _I = TermPart.TERM, TermPart.INTEGER

CONSTRUCTS = (
    Construct("access", (_T, _I), "the first dimensions as access dimensions", _access, _same),
    Construct(
        "transpose", (_T, TermPart.LIST), "dimensions in another order", _transpose, _transposed
    ),
    Construct("cartProd", (_T, _T), "every access position with every one", _cart_prod, _products),
    Construct(
        "windows", (_T, TermPart.SHAPE, TermPart.SHAPE), "windows of a shape, by strides",
        _windows, _windowed,
    ),
    Construct("slice", (_T, _I, _I, _I), "a range of a dimension", _slice, _sliced),
    Construct(
        "box", (_T, TermPart.LIST, TermPart.LIST), "a range of every dimension: from, to before",
        _box, _boxed,
    ),
    Construct("squeeze", (_T, _I), "without a dimension of extent 1", _squeeze, _squeezed),
    Construct("flatten", (_T,), "one access and one compute dimension", _flatten, _flattened),
    Construct("reshape", (_T, TermPart.ACCESS_SHAPE), "other dimensions", _reshape, _reshaped),
    Construct("pair", (_T, _T), "tuples of two patterns' positions", _pair, _paired),
    Construct("concat", (_T, _T, _I), "one after the other along a dimension", _concat, _joined),
    Construct("pad", (_T, TermPart.WORD, _I, _I, _I), "zeros or minima around", _pad, _padded),
    Construct(
        "broadcast", (_T, TermPart.ACCESS_SHAPE), "repeated along dimensions of extent 1",
        _broadcast, _repeated,
    ),
    Construct(
        "insert-axis", (_T, _I), "one more dimension, of extent 1", _insert_axis, _inserted
    ),
)  # fmt: skip
