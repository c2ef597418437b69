"""Sums, differences and maxima of two operands, with bounds, where either has an element.

Source of the meaning: ``docs/spec/program.md`` §4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from fuseloom.program.functions import Op
from fuseloom.program.rounded.budget import EvaluationBudget
from fuseloom.program.rounded.rounding import Rounding, settled, with_either_zero
from fuseloom.program.rounded.tensors import (
    Elements,
    Floats,
    Grid,
    Ints,
    Listed,
    expanded,
    keys,
    same_axis,
)
from fuseloom.program.types import BroadcastAdd

Operand = tuple[tuple[str, ...], Elements]
"""Indices, one per dimension, and elements."""


def union(
    space: tuple[str, ...],
    operands: Sequence[Operand],
    op: Op,
    mode: BroadcastAdd,
    extents: Mapping[str, Ints | int],
    rounding: Rounding,
    budget: EvaluationBudget,
) -> Elements:
    """A sum, a difference or the larger of two operands over the space, where there are elements.

    Parameters
    ----------
    extents : mapping
        Per index its size, or the coordinates that are wanted.
    """
    first, second = (_aligned(space, operand) for operand in operands)
    if (grid := _on_grids(space, first, second, op, mode, extents, rounding)) is not None:
        return grid
    a, b = ((names, elements.listed()) for names, elements in (first, second))
    if set(a[0]) == set(b[0]):
        coords, places = _merged([a[1].coords, b[1].coords], budget)
    elif mode is BroadcastAdd.DENSE:
        a, b = (_spread(space, o, extents, budget) for o in (a, b))
        coords, places = _merged([a[1].coords, b[1].coords], budget)
    else:
        coords, places = _walked(space, (a, b), budget)
    absent = -np.inf if op is Op.MAXIMUM else 0.0
    values, bounds = zip(
        *(_taken(o[1], at, absent) for o, at in zip((a, b), places, strict=True)), strict=True
    )
    made = _sum(values, bounds, op, rounding)
    return Listed(coords, *made)


def _sum(
    values: Sequence[Floats], bounds: Sequence[Floats | None], op: Op, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    known = [b for b in bounds if b is not None]
    if op is Op.MAXIMUM:  # which is exact
        larger = np.maximum(values[0], values[1])
        if not rounding.bounded:
            return larger, None
        other_sign = np.signbit(values[0]) != np.signbit(values[1])
        doubtful = other_sign & (values[0] == values[1])
        wider = reduce(np.maximum, known) if known else None
        return larger, with_either_zero(wider, larger, doubtful)
    total = values[0] - values[1] if op is Op.SUB else values[0] + values[1]
    inherited = sum(known[1:], known[0]) if known else None
    upper = np.abs(total) if inherited is None else np.abs(total) + inherited
    return settled(total, inherited, rounding.unit * upper, rounding)


def _aligned(space: tuple[str, ...], operand: Operand) -> Operand:
    """An operand with its dimensions in the order of the space."""
    indices, elements = operand
    names = tuple(x for x in space if x in indices)
    if names == indices:
        return operand
    return names, elements.transposed([indices.index(x) for x in names])


def _on_grids(
    space: tuple[str, ...],
    first: Operand,
    second: Operand,
    op: Op,
    mode: BroadcastAdd,
    extents: Mapping[str, Ints | int],
    rounding: Rounding,
) -> Grid | None:
    """The sum where one grid holds all indices, and the other the same coordinates of its own."""
    (names, a), (others, b) = first, second
    if not isinstance(a, Grid) or not isinstance(b, Grid):
        return None
    whole = a if names == space else b if others == space else None
    if whole is None:
        return None
    axes = dict(zip(space, whole.axes, strict=True))
    for labels, grid in (first, second):
        assert isinstance(grid, Grid)
        own = dict(zip(labels, grid.axes, strict=True))
        if not all(same_axis(axes[x], axis) for x, axis in own.items()):
            return None
        if mode is BroadcastAdd.DENSE:
            for x in space:
                given = extents[x]
                size = given if isinstance(given, int) else len(given)
                if x not in own and len(axes[x]) != size:
                    return None

    def shaped(labels: tuple[str, ...], values: Floats | None) -> Floats | None:
        if values is None:
            return None
        return np.expand_dims(values, tuple(k for k, x in enumerate(space) if x not in labels))

    values = [
        np.broadcast_to(_some(shaped(n, g.values)), whole.values.shape) for n, g in (first, second)
    ]
    bounds = [shaped(n, g.bounds) for n, g in (first, second)]
    made, bound = _sum(values, bounds, op, rounding)
    return Grid(whole.axes, made, None if bound is None else np.broadcast_to(bound, made.shape))


def _some(values: Floats | None) -> Floats:
    assert values is not None
    return values


def _merged(several: Sequence[Ints], budget: EvaluationBudget) -> tuple[Ints, list[Ints]]:
    """All coordinates of two operands, and where each operand has them (-1: nowhere)."""
    budget.take(sum(c.shape[1] for c in several), 12)
    made = keys(*several)
    joined = np.concatenate(made)
    names, first = np.unique(joined, return_index=True)
    coords = np.concatenate(several, axis=1)[:, first]
    places = []
    for key in made:
        at = np.full(len(names), -1, dtype=np.int64)
        at[np.searchsorted(names, key)] = np.arange(len(key))
        places.append(at)
    return coords, places


def _taken(elements: Listed, at: Ints, absent: float) -> tuple[Floats, Floats | None]:
    """Values and bounds in those places; where there is none, what an absent element is, and 0."""

    def take(values: Floats | None, none: float) -> Floats | None:
        if values is None:
            return None
        return np.where(at >= 0, np.append(values, none)[at], none)

    return _some(take(elements.values, absent)), take(elements.bounds, 0.0)


def _spread(
    space: tuple[str, ...],
    operand: tuple[tuple[str, ...], Listed],
    extents: Mapping[str, Ints | int],
    budget: EvaluationBudget,
) -> tuple[tuple[str, ...], Listed]:
    """An operand at every coordinate of the indices that it lacks."""
    names, elements = operand
    for depth, x in enumerate(space):
        if x in names:
            continue
        given = extents[x]
        budget.take(elements.size * (given if isinstance(given, int) else len(given)), 4)
        every = np.arange(given) if isinstance(given, int) else given
        n = elements.size
        coords = np.insert(
            np.repeat(elements.coords, len(every), axis=1), depth, np.tile(every, n), axis=0
        )
        bounds = elements.bounds
        elements = Listed(
            coords,
            np.repeat(elements.values, len(every)),
            None if bounds is None else np.repeat(bounds, len(every)),
        )
        names = tuple(y for y in space if y in names or y == x)
    return space, elements


@dataclass(frozen=True, eq=False)
class _Tree:
    """An operand as a tree of coordinates, a level per dimension.

    Attributes
    ----------
    first : list of (n + 1,) arrays
        Per level and node above it, where its children begin.
    coords : list of (m,) arrays
        Per level the coordinate of each node.
    leaves : (n,) array
        Which element each node of the last level is.
    """

    first: list[Ints]
    coords: list[Ints]
    leaves: Ints

    @classmethod
    def of(cls, elements: Listed) -> _Tree:
        rank, n = elements.coords.shape
        if not rank:
            return cls([], [], np.arange(n))
        (key,) = keys(elements.coords)
        order = np.argsort(key, kind="stable")
        sorted_coords = elements.coords[:, order]
        new = np.zeros(n, dtype=bool)
        new[:1] = True
        parent, parents = np.zeros(n, dtype=np.int64), 1
        first, coords = [], []
        for column in sorted_coords:
            new[1:] |= column[1:] != column[:-1]
            heads = np.flatnonzero(new)
            first.append(np.searchsorted(parent[heads], np.arange(parents + 1)))
            coords.append(column[heads])
            parent = np.cumsum(new) - 1
            parents = len(heads)
        return cls(first, coords, order)


def _walked(
    space: tuple[str, ...],
    operands: Sequence[tuple[tuple[str, ...], Listed]],
    budget: EvaluationBudget,
) -> tuple[Ints, list[Ints]]:
    """Walk the union index by index: coordinates, and which element each operand has there.

    An operand that has an index is followed where it has the coordinate; one that lacks it stays.
    A coordinate exists where a followed operand that has the index has it.
    """
    trees = [_Tree.of(elements) for _, elements in operands]
    depth = [0] * len(trees)
    nodes = [np.zeros(1, dtype=np.int64) for _ in trees]  # -1: no longer followed
    for k, (names, elements) in enumerate(operands):
        if not names and not elements.size:
            nodes[k][:] = -1
    coords = np.zeros((0, 1), dtype=np.int64)
    for x in space:
        found: dict[int, tuple[Ints, Ints, Ints]] = {}
        for k, (names, _) in enumerate(operands):
            if x in names:
                found[k] = _children(trees[k], depth[k], nodes[k])
                depth[k] += 1
        points = np.concatenate([f[0] for f in found.values()])
        along = np.concatenate([f[1] for f in found.values()])
        budget.take(len(points), 8 + len(space))
        (key,) = keys(np.stack([points, along]))
        names_of, first = np.unique(key, return_index=True)
        point = points[first]
        begin = 0
        for k in range(len(trees)):
            if k not in found:
                nodes[k] = nodes[k][point]
                continue
            child = found[k][2]
            at = np.full(len(names_of), -1, dtype=np.int64)
            at[np.searchsorted(names_of, key[begin : begin + len(child)])] = child
            begin += len(child)
            nodes[k] = at
        coords = np.concatenate([coords[:, point], along[first][None]])
    places = []
    for tree, at in zip(trees, nodes, strict=True):
        leaves = np.append(tree.leaves, -1)
        places.append(np.where(at >= 0, leaves[at], -1))
    return coords, places


def _children(tree: _Tree, depth: int, nodes: Ints) -> tuple[Ints, Ints, Ints]:
    """Of every point followed: the point, the coordinate and the node of each child."""
    alive = np.flatnonzero(nodes >= 0)
    first = tree.first[depth]
    begin = first[nodes[alive]]
    point, child = expanded(begin, first[nodes[alive] + 1] - begin)
    return alive[point], tree.coords[depth][child], child
