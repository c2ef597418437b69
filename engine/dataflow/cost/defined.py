"""The coordinates of a tensor from its definition, whatever order or schedule computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

import numpy as np

from engine.dataflow.cost.exact.patterns import Levels, Patterns, UnknownError, levels_of
from engine.program.distinct import distinct
from engine.program.rounded import Budget, TooMuchError, evaluate_rounded
from engine.program.storage import StoredTensor
from engine.program.tile_arrays import grid_shape
from engine.program.types import Op, Program, Statement

_FACTORS = (Op.MUL, Op.DIV)
PRODUCTS = 5e6
BYTES = 2**29
"""What computing the coordinates of one tensor may take: products, and bytes."""


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
    stored = {access.tensor: patterns.elements_of(access.tensor) for access in statement.operands}
    if _products(program, statement, stored) > PRODUCTS:
        raise UnknownError(name)
    tensor = program.tensor(name)
    try:
        whole = {name: (None,) * tensor.rank}
        with np.errstate(all="ignore"):
            made = evaluate_rounded(program, (statement,), stored, whole, Budget(BYTES, PRODUCTS))
    except (TooMuchError, OverflowError, MemoryError):
        raise UnknownError(name) from None
    coords = made[name].listed().coords.copy()
    if tensor.format.blocked:
        coords[list(tensor.format.blocked)] //= tensor.format.block
    if not tensor.rank:
        return ()
    order = list(tensor.format.mode_order)
    sizes = tuple(grid_shape(tensor)[axis] for axis in order)
    keys = distinct(np.ravel_multi_index(tuple(coords[order]), sizes))
    return levels_of([np.asarray(column) for column in np.unravel_index(keys, sizes)])


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
