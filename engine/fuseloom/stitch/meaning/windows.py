"""Arrays with padding, and windows over them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.meaning.values import MOST_BYTES, Array


def padded(value: Array, pads: Sequence[tuple[int, int, int]], fill: Any) -> Array:
    """Put elements before, behind and between those of an array.

    Parameters
    ----------
    value : array
    pads : sequence of tuples
        Elements before, behind (negative ones cut off) and between, dimension by dimension.
    fill : scalar

    Raises
    ------
    MemoryError
        If it would take more than one value may.

    Examples
    --------
    >>> padded(np.array([1, 2, 3]), [(1, -2, 1)], 0)
    array([0, 1, 0, 2])
    """
    extents, places, parts = [], [], []
    for extent, (low, high, interior) in zip(value.shape, pads, strict=True):
        step = interior + 1
        inner = (extent - 1) * step + 1 if extent else 0
        total = low + inner + high
        first = max(0, -(low // step))  # the first element that is not cut off
        last = min(extent, -((low - total) // step))
        extents.append(total)
        last = max(last, first)
        start = low + first * step
        places.append(slice(start, start + (last - first) * step, step))
        parts.append(slice(first, last))
    if prod(extents) * value.itemsize > MOST_BYTES:
        raise MemoryError
    made = np.full(extents, fill, value.dtype)
    room = [
        slice(place.start, min(place.stop, extent), place.step)
        for place, extent in zip(places, extents, strict=True)
    ]
    if all(part.stop > part.start for part in parts):
        made[tuple(room)] = value[tuple(parts)]
    return made


def windowed(value: Array, window: Sequence[WindowDimension], fill: Any) -> Array:
    """The windows over the last dimensions of an array.

    They are a view of the array with its padding: the dimensions before those of the window, then
    places of the window, then places in the window.

    Raises
    ------
    MemoryError
        If there are too many elements.

    Examples
    --------
    >>> windowed(np.array([1, 2, 3]), [WindowDimension(size=2)], 0)
    array([[1, 2],
           [2, 3]])
    """
    before = value.ndim - len(window)
    outer = value.shape[:before]
    pads = [(0, 0, 0)] * before + [(one.low, one.high, one.base_dilation - 1) for one in window]
    outputs = tuple(
        one.outputs(extent) for one, extent in zip(window, value.shape[before:], strict=True)
    )
    sizes = tuple(one.size for one in window)
    if 0 in (*outer, *outputs, *sizes):
        return np.empty((*outer, *outputs, *sizes), value.dtype)
    if prod((*outer, *outputs, *sizes)) > MOST_BYTES:
        raise MemoryError
    source = padded(value, pads, fill)
    steps = source.strides
    view = np.lib.stride_tricks.as_strided(
        source,
        (*outer, *outputs, *sizes),
        (
            *steps[:before],
            *(step * one.stride for step, one in zip(steps[before:], window, strict=True)),
            *(step * one.window_dilation for step, one in zip(steps[before:], window, strict=True)),
        ),
        writeable=False,
    )
    backwards = tuple(k - len(window) for k, one in enumerate(window) if one.reversed)
    return np.flip(view, backwards)
