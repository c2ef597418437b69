"""Notebook 7: attention under a mask, element by element and in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.models import Model, load
from fuseloom.program import StoredTensor, parse
from fuseloom_workbench.notebook.exercises import Exercise, names, number

EDGES = (2, 4, 8, 16)
"""Edges of blocks that are tried."""
SEQUENCE, FEATURES = 64, 16
NEAR = 1e-5
"""Largest difference that rounding explains."""


@cache
def attention(edge: int) -> tuple[Model, Mapping[str, Any]]:
    """One head under a BigBird mask that is made of blocks of this edge, and its data."""
    return load("heads", sequence=SEQUENCE, heads=1, features=FEATURES, block=edge)


def in_blocks(mask: npt.ArrayLike, edge: int) -> StoredTensor:
    """A square mask stored in blocks of this edge; 1 for element by element.

    Examples
    --------
    >>> in_blocks(np.eye(4), 2).nnz
    8
    """
    given = np.asarray(mask, dtype=np.float64)
    blocks = f" block {edge}" if edge > 1 else ""
    size = given.shape[0]
    program = parse(f"M: {size}x{size} dcsr{blocks}\nY[i,j] = 2 * M[i,j]")
    return StoredTensor.from_dense(program.tensor("M"), given)


def scattered() -> npt.NDArray[np.float64]:
    """A mask of 16 x 16 whose elements are anywhere."""
    mask: npt.NDArray[np.float64] = load("attention", sequence=16)[1]["M"].to_dense()
    return mask


@cache
def run(mask: int, edge: int = 1) -> Run:
    """The fused head under a mask of blocks, computed in blocks of an edge, in the best order."""
    model, data = attention(mask)
    text = model.presets["full"] + (f"; block {edge}" if edge > 1 else "")
    made = best_orders(compile_program(model.program, text), data).compilation
    return simulate(made, data)


def _mask() -> StoredTensor:
    stored: StoredTensor = attention(4)[1]["M"]
    return stored


@cache
def _fastest() -> int:
    return min(EDGES, key=lambda edge: run(edge, edge).cycles)


def _multiplications(edge: int) -> float:
    """Of a product of tiles, for each cycle after which the next one may begin."""
    return edge**3 / edge


@cache
def _harmless() -> set[str]:
    want = run(4).outputs["O"].to_dense()
    found = {edge: run(4, edge).outputs["O"].to_dense() for edge in EDGES}
    return {str(edge) for edge, got in found.items() if np.abs(got - want).max() < NEAR}


def _zeros(edge: int) -> int:
    stored = in_blocks(scattered(), edge)
    return int((stored.pattern() & (stored.to_dense() == 0)).sum())


EXERCISES = {
    "7.1": Exercise(
        "What percentage of the mask's elements are stored?",
        number(lambda: 100 * _mask().nnz / SEQUENCE**2, "%", 0.01),
        "the line above the picture, or data['M'].nnz",
    ),
    "7.2": Exercise(
        "How many blocks of 4 by 4 does the mask have?",
        number(lambda: _mask().nnz / 16, "blocks"),
        "each of them holds 16 of the stored elements",
    ),
    "7.3": Exercise(
        "How many times fewer tokens pass in blocks of 4 than element by element?",
        number(lambda: run(4).tokens / run(4, 4).tokens, "times", 0.02),
        "single.tokens / blocked.tokens",
    ),
    "7.4": Exercise(
        "How many multiplications does a unit for blocks of 8 by 8 do in each cycle?",
        number(lambda: _multiplications(8), "multiplications"),
        "those of a product of two such matrices, over the 8 cycles that it takes",
    ),
    "7.5": Exercise(
        "With which edge of blocks does the head take the fewest cycles?",
        number(lambda: _fastest(), "rows"),
        "sweep[edge].cycles",
    ),
    "7.6": Exercise(
        "Which of the edges 2, 4, 8 and 16 leave the result under the mask of 4 as it is?",
        names(_harmless),
        "difference(edge), one after the other; what is below 1e-6 is rounding",
    ),
    "7.7": Exercise(
        "How many zeros are stored if the scattered mask is kept in blocks of 2 by 2?",
        number(lambda: _zeros(2), "zeros"),
        "pattern(in_blocks(mask, 2)) says it",
    ),
}
