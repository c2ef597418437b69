"""A weight-stationary systolic array: what a call costs, and the array itself, cycle by cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuseloom.access.constructs.construct import Array
from fuseloom.errors import DataError, ProgramError

MOST_ROWS = 4096
"""The most rows, and the most columns, of an array."""


@dataclass(frozen=True)
class SystolicArray:
    """An array of multipliers that holds weights and streams activations.

    Attributes
    ----------
    rows : int
        The longest vectors whose dot products it computes.
    columns : int
        The most vectors of weights that it holds.

    Examples
    --------
    >>> SystolicArray(16, 16).parameters
    {'rows': 16, 'columns': 16}
    """

    rows: int = 64
    columns: int = 64

    def __post_init__(self) -> None:
        for name, count in (("rows", self.rows), ("columns", self.columns)):
            if not 1 <= count <= MOST_ROWS:
                raise ProgramError(
                    f"an array of {count} {name} is none", hint=f"give 1 to {MOST_ROWS} {name}"
                )

    @property
    def parameters(self) -> dict[str, int]:
        """Its size, as the conditions of rules read it."""
        return {"rows": self.rows, "columns": self.columns}


@dataclass(frozen=True)
class Call:
    """A call of the array.

    Rows and columns that it does not use are bypassed: they take no cycle.

    Attributes
    ----------
    rows, columns : int
        That it uses.
    batch : int
        Vectors that are streamed.

    Examples
    --------
    >>> call = Call(rows=16, columns=16, batch=32)
    >>> call.load, call.stream, call.drain, call.cycles
    (16, 32, 30, 78)
    """

    rows: int
    columns: int
    batch: int

    @property
    def load(self) -> int:
        """Cycles until the weights are in place: they are shifted in, one row per cycle."""
        return self.rows

    @property
    def stream(self) -> int:
        """Cycles in which a vector enters."""
        return self.batch

    @property
    def drain(self) -> int:
        """Cycles from the last vector's entry to the last result."""
        return self.rows + self.columns - 2

    @property
    def cycles(self) -> int:
        """Cycles of the whole call."""
        return self.load + self.stream + self.drain

    @property
    def multiplications(self) -> int:
        """Multiplications, each with an addition."""
        return self.rows * self.columns * self.batch


def run_call(activations: Array, weights: Array) -> tuple[Array, int]:
    """Run a call of the array, cycle by cycle.

    Parameters
    ----------
    activations : array of shape (batch, rows)
    weights : array of shape (rows, columns)

    Returns
    -------
    array of shape (batch, columns)
        The products.
    int
        Cycles until the last of them leaves.

    Raises
    ------
    DataError
        If the shapes do not fit.

    Notes
    -----
    Weights enter at the top and move down, one row per cycle.  Then the i-th element of a vector
    enters row i, i cycles after the first; it moves right, partial sums move down.

    Examples
    --------
    >>> product, cycles = run_call(np.ones((4, 2)), np.eye(2))
    >>> product[0].tolist(), cycles == Call(2, 2, 4).cycles
    ([1.0, 1.0], True)
    """
    if activations.ndim != 2 or weights.ndim != 2 or activations.shape[1] != weights.shape[0]:
        raise DataError(f"an array does not multiply {activations.shape} by {weights.shape}")
    (batch, rows), columns = activations.shape, weights.shape[1]
    held = np.zeros((rows, columns))
    cycles = 0
    for row in reversed(range(rows)):
        held[1:] = held[:-1]
        held[0] = weights[row]
        cycles += 1
    moving, sums = np.zeros((rows, columns)), np.zeros((rows, columns))
    product = np.empty((batch, columns))
    left = batch * columns
    lines, time = np.arange(rows), 0
    while left:
        moving[:, 1:] = moving[:, :-1]
        vectors = time - lines
        entering = (vectors >= 0) & (vectors < batch)
        moving[:, 0] = np.where(entering, activations[np.clip(vectors, 0, batch - 1), lines], 0.0)
        sums[1:] = sums[:-1]
        sums[0] = 0.0
        sums += moving * held
        for column in range(columns):
            vector = time - (rows - 1) - column
            if 0 <= vector < batch:
                product[vector, column] = sums[-1, column]
                left -= 1
        time += 1
    return product, cycles + time
