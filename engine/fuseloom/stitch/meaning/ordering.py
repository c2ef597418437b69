"""Meanings of operations that order elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.elementwise import total_order
from fuseloom.stitch.meaning.values import Array, DenseValue, Meaning, Regions, attribute, fault
from fuseloom.stitch.shapes import TupleShape


def merge_exchanges(count: int) -> list[tuple[Array, Array]]:
    """Places that Batcher's sorting network compares, step by step.

    Examples
    --------
    >>> [(low.tolist(), high.tolist()) for low, high in merge_exchanges(3)]
    [([0], [1]), ([0], [2]), ([1], [2])]
    """
    steps = []
    p = 1
    while p < count:
        k = p
        while k:
            starts = np.arange(k % p, count - k, 2 * k)
            low = (starts[:, None] + np.arange(k)).reshape(-1)
            low = low[low + k < count]
            low = low[low // (2 * p) == (low + k) // (2 * p)]
            if len(low):
                steps.append((low, low + k))
            k //= 2
        p *= 2
    return steps


def _sort(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    """Sort along a dimension, stably, with a network that compares many pairs at once."""
    (along,) = attribute(operation, "dimensions")
    less = attribute(operation, "to_apply")
    if any(one.shape != operands[0].shape for one in operands):
        raise fault(operation, "takes arrays of one shape")
    rows = [np.moveaxis(one, along, 0).copy() for one in operands]
    count = rows[0].shape[0]
    places = np.arange(count).reshape(-1, *[1] * (rows[0].ndim - 1))
    place = np.broadcast_to(places, rows[0].shape).copy()
    for low, high in merge_exchanges(count) if rows[0].size else []:
        pairs = [(row[low], row[high]) for row in rows]
        (behind,) = regions.run_elementwise(less, [x for a, b in pairs for x in (b, a)])
        (before,) = regions.run_elementwise(less, [x for pair in pairs for x in pair])
        exchange = behind | (~before & (place[low] > place[high]))
        for row in (*rows, place):
            first, second = row[low], row[high]
            row[low] = np.where(exchange, second, first)
            row[high] = np.where(exchange, first, second)
    made = tuple(np.moveaxis(row, 0, along) for row in rows)
    return made if isinstance(operation.shape, TupleShape) else made[0]


def _topk(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    """The largest elements of the last dimension and their places; NaN is larger than all."""
    (value,) = operands
    keys = total_order(value)
    if attribute(operation, "largest", True):
        keys = np.invert(keys)
    places = np.argsort(keys, axis=-1, kind="stable")[..., : attribute(operation, "k")]
    return np.take_along_axis(value, places, -1), places.astype(np.int32)


MEANINGS: Mapping[str, Meaning] = {"sort": _sort, "topk": _topk}
