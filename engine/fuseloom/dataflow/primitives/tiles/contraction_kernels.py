"""Arithmetic inside tiles: plans made beforehand from their axes, and the loops that follow them.

A plan lies in the integers.  That of a *move* says where each row of a tile goes; a contraction
packs both operands into matrices in double precision, multiplies them, and rounds once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fuseloom.dataflow.samml.tile_values import TileSpec
from fuseloom.dataflow.sim.compiled import functions, layout
from fuseloom.dataflow.sim.compiled.inlining import inline, inline_fused
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, view

if TYPE_CHECKING:
    from fuseloom.dataflow.sim.compiled.pools import Pool

# ---------------------------------------------------------------------------- plans


def _strides(order: str, edge: int) -> dict[str, int]:
    """Stride of each axis in a tile with its axes in that order."""
    return {axis: edge ** (len(order) - 1 - k) for k, axis in enumerate(order)}


def _walk(axes: str, edge: int, *targets: dict[str, int]) -> list[int]:
    """Rows, their length, then per axis, innermost first, its stride in each target.

    Where all targets lie like the source there is one row.
    """
    own = _strides(axes, edge)
    if all({x: target.get(x, 0) for x in axes} == own for target in targets):
        return [1, edge ** len(axes), *(1 for _ in targets)]
    strides = [target.get(axis, 0) for axis in reversed(axes) for target in targets]
    return [edge ** (len(axes) - 1), edge, *strides]


def elementwise_plan(spec: TileSpec) -> list[int]:
    """Return the plan for walking two operands along the result, in the result's order."""
    left, right = (_strides(axes, spec.edge) for axes in spec.operands)
    both = [left, right]
    if not all(spec.operands) and spec.result:  # a number meets a tile
        tile = next((s for s in both if s), {})
        if tile == _strides(spec.result, spec.edge):
            flat = [int(bool(s)) for s in both]
            return [spec.edge, 1, spec.elements, *flat]
    return [spec.edge, *_walk(spec.result, spec.edge, left, right)]


FOLDED, SPREAD = 1, 2
"""Moves that fold axes, and moves that repeat numbers along axes that the tile lacks."""


def move_plan(source: str, target: str, edge: int) -> list[int]:
    """Return the plan that moves a tile's numbers to the target, folding axes that it lacks."""
    kept = "".join(x for x in target if x in source)
    gone = any(x not in target for x in source)
    return [edge, FOLDED * gone, *_walk(source, edge, _strides(kept, edge))]


def spread_plan(source: str, target: str, edge: int) -> list[int]:
    """Return the plan that fills a target, which may have axes that the source lacks."""
    if all(x in source for x in target):
        return move_plan(source, target, edge)
    return [edge, SPREAD, *_walk(target, edge, _strides(source, edge))]


MOVE = 16
"""Numbers kept for one move plan, and so the most axes a tile may have: 12."""


def contraction_plan(spec: TileSpec, ints: Pool) -> int:
    """Return the position of a contraction's plan, which includes its scratch.

    It holds: batches, rows, terms, columns, three scratch offsets, then three move plans (into
    both matrices, out of the product).
    """
    (a, b), result, edge = spec.operands, spec.result, spec.edge
    batch = "".join(x for x in result if x in a and x in b)
    rows = "".join(x for x in result if x in a and x not in b)
    columns = "".join(x for x in result if x in b and x not in a)
    # What one of them lacks is summed after it is multiplied: infinities do not distribute.
    terms = "".join(dict.fromkeys(x for x in a + b if x not in result))
    sizes = [edge ** len(axes) for axes in (batch, rows, terms, columns)]
    count, m, k, n = sizes
    scratch = [ints.reserve(size) for size in (count * m * k, count * k * n, count * m * n)]
    moves = [
        spread_plan(a, batch + rows + terms, edge),
        spread_plan(b, batch + terms + columns, edge),
        move_plan(batch + rows + columns, result, edge),
    ]
    padded = [plan + [0] * (MOVE - len(plan)) for plan in moves]
    return ints.add([*sizes, *scratch, *(x for plan in padded for x in plan)])


# ---------------------------------------------------------------------------- loops


@inline
def _offset(s: SimulationState, strides: Int, step: Int, row: Int, edge: Int) -> Int:
    """Return the offset of a row: its outer axes' strides are ``step`` apart, innermost first."""
    at = 0
    while row > 0:
        at += (row % edge) * s.ints[strides]
        row //= edge
        strides += step
    return at


@inline
def pack(s: SimulationState, source: Int, into: Int, plan: Int, size: Int, top: Int) -> None:
    """Move a tile into ``size`` doubles; fold what falls together: add, or ``top`` the largest."""
    edge, folds = s.ints[plan], s.ints[plan + 1]
    rows, length, stride = s.ints[plan + 2], s.ints[plan + 3], s.ints[plan + 4]
    out = layout.doubles(s.ints, into, size)
    if folds == SPREAD:
        for row in range(rows):
            at = source + _offset(s, plan + 5, 1, row, edge)
            for e in range(length):
                out[row * length + e] = np.float64(s.floats[at + e * stride])
        return
    if folds:
        start = -np.inf if top else 0.0
        for e in range(size):
            out[e] = start
    for row in range(rows):
        at = _offset(s, plan + 5, 1, row, edge)
        given = view(s.floats, source + row * length, length)
        if folds and stride == 0:
            total = out[at]
            for e in range(length):
                x = np.float64(given[e])
                total = functions.larger(total, x) if top else total + x
            out[at] = total
        elif folds:
            for e in range(length):
                x = np.float64(given[e])
                w = at + e * stride
                out[w] = functions.larger(out[w], x) if top else out[w] + x
        elif stride == 1:
            inner = layout.doubles(s.ints, into + at, length)
            for e in range(length):
                inner[e] = np.float64(given[e])
        else:
            for e in range(length):
                out[at + e * stride] = np.float64(given[e])


@inline
def unpack(s: SimulationState, source: Int, into: Int, plan: Int) -> None:
    """Round doubles to a tile."""
    edge = s.ints[plan]
    rows, length, stride = s.ints[plan + 2], s.ints[plan + 3], s.ints[plan + 4]
    for row in range(rows):
        at = into + _offset(s, plan + 5, 1, row, edge)
        given = layout.doubles(s.ints, source + row * length, length)
        if stride == 1:
            out = view(s.floats, at, length)
            for e in range(length):
                out[e] = np.float32(given[e])
        else:
            for e in range(length):
                s.floats[at + e * stride] = np.float32(given[e])


@inline_fused
def _multiply(
    s: SimulationState, a: Int, b: Int, c: Int, rows: Int, terms: Int, columns: Int
) -> None:
    """A product of two matrices, in blocks that stay in registers; what is left, row by row.

    Products of two ``float32`` are exact in double precision, so that fusing changes no sum.
    """
    whole_rows, whole_columns = rows - rows % layout.ROWS, columns - columns % layout.COLUMNS
    for j in range(0, whole_columns, layout.COLUMNS):
        for i in range(0, whole_rows, layout.ROWS):
            layout.multiply_block(s.ints, a + i * terms, b + j, c + i * columns + j, terms, columns)
    for i in range(rows):
        first = whole_columns if i < whole_rows else 0
        width = columns - first
        if width > 0:
            left = layout.doubles(s.ints, a + i * terms, terms)
            out = layout.doubles(s.ints, c + i * columns + first, width)
            for e in range(width):
                out[e] = 0.0
            for k in range(terms):
                x, right = left[k], layout.doubles(s.ints, b + k * columns + first, width)
                for e in range(width):
                    out[e] += x * right[e]


@inline
def contract(s: SimulationState, plan: Int, a: Int, b: Int, out: Int) -> None:
    """The contraction of two tiles at those addresses, into a third."""
    count, m, k, n = s.ints[plan], s.ints[plan + 1], s.ints[plan + 2], s.ints[plan + 3]
    left, right, product = s.ints[plan + 4], s.ints[plan + 5], s.ints[plan + 6]
    moves = plan + 7
    for side in range(2):  # a loop, so that the code is there once
        if side == 0:
            source, into, size = a, left, count * m * k
        else:
            source, into, size = b, right, count * k * n
        pack(s, source, into, moves + side * MOVE, size, 0)
    for e in range(count):
        _multiply(s, left + e * m * k, right + e * k * n, product + e * m * n, m, k, n)
    unpack(s, product, out, moves + 2 * MOVE)


@inline
def elementwise(s: SimulationState, plan: Int, fn: Int, a: Int, b: Int, out: Int) -> None:
    """A function of two tiles with their axes aligned."""
    edge, rows, length = s.ints[plan], s.ints[plan + 1], s.ints[plan + 2]
    step_a, step_b = s.ints[plan + 3], s.ints[plan + 4]
    f = s.floats
    for row in range(rows):
        left = a + _offset(s, plan + 5, 2, row, edge)
        right = b + _offset(s, plan + 6, 2, row, edge)
        made = view(f, out + row * length, length)
        if step_a == 1 and step_b == 1:
            functions.slices(fn, made, view(f, left, length), view(f, right, length))
        elif step_a == 1 and step_b == 0:
            functions.slice_left(fn, made, view(f, left, length), f[right])
        elif step_a == 0 and step_b == 1:
            functions.slice_right(fn, made, f[left], view(f, right, length))
        else:
            for e in range(length):
                made[e] = functions.apply(fn, f[left + e * step_a], f[right + e * step_b])
