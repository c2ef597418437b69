"""The coordinates of a tensor from its definition, whatever order or schedule computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from fuseloom.dataflow.cost.exact.fiber_levels import Ints
from fuseloom.dataflow.cost.exact.patterns import (
    FullLevel,
    Levels,
    Patterns,
    UnknownError,
    all_of,
    columns_of,
    elements_in,
    levels_of,
)
from fuseloom.program.completeness import ElementPresence, presence_of
from fuseloom.program.distinct import distinct
from fuseloom.program.functions import Op
from fuseloom.program.levels import coordinates
from fuseloom.program.rounded import EvaluationBudget, TooMuchError, evaluate_rounded
from fuseloom.program.storage import StoredTensor
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Access, Program, Statement, Tensor

_FACTORS = (Op.MUL, Op.DIV)
PRODUCTS = 5e6
BYTES = 2**29
"""The limit on the products, and on the bytes, of computing the coordinates of one tensor."""


def defined(patterns: Patterns, name: str, known: Callable[[str], None]) -> Levels:
    """Levels, in storage order, of what a tensor's statement stores.

    Parameters
    ----------
    known : callable
        Makes the coordinates of an operand known to ``patterns``.

    Raises
    ------
    UnknownError
        If that would take too much.
    """
    program = patterns.program
    statement = program.producers.get(name)
    if statement is None:
        raise UnknownError(name)
    for access in statement.operands:
        known(access.tensor)
    if statement.nonzero:
        return _without_zeros(patterns, statement)
    return _of_statement(patterns, statement)


def _of_statement(patterns: Patterns, statement: Statement) -> Levels:
    """Levels of what a statement computes, zeros included."""
    program, name = patterns.program, statement.out.tensor
    told = _by_completeness(patterns, statement)
    if told is not None:
        return told
    for access in statement.operands:
        levels = patterns.made(access.tensor)
        if levels is not None and elements_in(levels) > PRODUCTS:
            raise UnknownError(name)
    stored = {access.tensor: patterns.elements_of(access.tensor) for access in statement.operands}
    if _products(program, statement, stored) > PRODUCTS:
        raise UnknownError(name)
    tensor = program.tensor(name)
    try:
        whole = {name: (None,) * tensor.rank}
        with np.errstate(all="ignore"):
            made = evaluate_rounded(
                program, (statement,), stored, whole, EvaluationBudget(BYTES, PRODUCTS)
            )
    except (TooMuchError, OverflowError, MemoryError):
        raise UnknownError(name) from None
    coords = made[name].listed().coords.copy()
    if tensor.format.blocked:
        coords[list(tensor.format.blocked)] //= tensor.format.block
    return _in_storage_order(tensor, coords) if tensor.rank else ()


def _without_zeros(patterns: Patterns, statement: Statement) -> Levels:
    """Levels of the elements of a result that are not zero."""
    name, tensor = statement.out.tensor, patterns.program.tensor(statement.out.tensor)
    elements = patterns.nonzeros.elements(name)
    if elements is not None:
        return _in_storage_order(tensor, np.stack(np.unravel_index(elements, grid_shape(tensor))))
    columns = columns_of(_of_statement(patterns, replace(statement, nonzero=False)))
    coords = np.stack(columns)[np.argsort(tensor.format.mode_order)]
    return _in_storage_order(tensor, coords[:, patterns.nonzero(name, list(coords))])


def _in_storage_order(tensor: Tensor, coords: Ints) -> Levels:
    """Levels of elements, given the coordinates of each dimension (of blocks, where blocked)."""
    order = list(tensor.format.mode_order)
    sizes = tuple(grid_shape(tensor)[axis] for axis in order)
    keys = distinct(np.ravel_multi_index(tuple(coords[order]), sizes))
    return levels_of([np.asarray(column) for column in np.unravel_index(keys, sizes)])


def _by_completeness(patterns: Patterns, statement: Statement) -> Levels | None:
    """Levels that follow from operands that have every element; None where they do not suffice.

    What has one other operand has coordinates of that one, under or above all of the indices that
    are free (:func:`~fuseloom.program.completeness.presence_of`).
    """
    program, accesses = patterns.program, statement.operands
    tensors = [program.tensor(access.tensor) for access in (*accesses, statement.out)]
    if not all(prod(tensor.shape) for tensor in tensors):
        return None
    order = tensors[-1].format.mode_order
    sizes = [grid_shape(tensors[-1])[axis] for axis in order]
    found = presence_of(program, statement, {a.tensor: _presence(patterns, a) for a in accesses})
    if found.whole:
        return all_of(sizes)
    rest = [access for access in accesses if not patterns.complete(access.tensor)]
    odd = statement.op in (Op.CONCAT, Op.RESHAPE) or any(t.format.blocked for t in tensors)
    if odd or len(rest) > 1 or len(set(rest[0].indices)) < len(rest[0].indices):
        return None
    told = {x for axis, x in enumerate(statement.out.indices) if axis not in found.free}
    indices = [statement.out.indices[axis] for axis in order]
    kept = sum(x in told for x in indices)
    if set(indices[:kept]) - told:
        return None
    outside = _outside(patterns, rest[0], indices[:kept], sizes[:kept])
    if outside is None:
        return None
    count, inside = elements_in(outside), []
    for size in sizes[kept:]:
        inside.append(FullLevel(count, size))
        count *= size
    return (*outside, *inside)


def _presence(patterns: Patterns, access: Access) -> ElementPresence:
    """The presence of an operand's elements, as far as it is simple to say: all, or some."""
    whole = patterns.complete(access.tensor)
    return ElementPresence(frozenset(range(len(access.indices)) if whole else ()), whole)


def _outside(
    patterns: Patterns, access: Access, indices: Sequence[str], sizes: Sequence[int]
) -> Levels | None:
    """The coordinates of some indices that a tensor has; None if it has none, or too many."""
    tensor = patterns.program.tensor(access.tensor)
    levels = patterns.made(access.tensor)
    if levels is not None:
        stored_as = [access.indices[axis] for axis in tensor.format.mode_order]
        if elements_in(levels) and list(indices) == stored_as[: len(indices)]:
            return levels[: len(indices)]
        if elements_in(levels) > PRODUCTS:
            return None
    stored = patterns.elements_of(access.tensor)
    if not stored.nnz or stored.nnz > PRODUCTS:
        return None
    if not indices:
        return ()
    coords = coordinates(stored.tensor, stored.levels)
    columns = tuple(coords[:, access.indices.index(x)] for x in indices)
    keys = distinct(np.ravel_multi_index(columns, tuple(sizes)))
    return levels_of([np.asarray(c) for c in np.unravel_index(keys, sizes)])


def _products(program: Program, statement: Statement, stored: Mapping[str, StoredTensor]) -> float:
    """Elements that a statement goes through at least: those of an operand, for each coordinate of
    the indices that only dense operands have."""
    extents = {
        x: size
        for access in statement.operands
        for x, size in zip(access.indices, program.tensor(access.tensor).shape, strict=True)
    }
    least = 0.0
    for access in statement.operands:
        others = [a for a in statement.operands if a is not access]
        dense = all(program.tensor(a.tensor).format.all_dense for a in others)
        free = set(extents) - set(access.indices) if dense and statement.op in _FACTORS else ()
        least = max(least, float(stored[access.tensor].nnz) * prod(extents[x] for x in free))
    return least
