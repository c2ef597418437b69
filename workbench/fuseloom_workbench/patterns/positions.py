"""The elements that each position of an access pattern computes on.

A part of a term is evaluated with the numbers of elements in place of their values: what then
stands at a position are the elements that it sees.  A Cartesian product and a pairing are never
built: each of their operands is a *side* with positions of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.constructs.transformers import CONSTRUCTS as TRANSFORMERS
from fuseloom.access.meaning import evaluate, shapes_of
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import TENSOR, Term, subterms
from fuseloom.errors import LimitError

MOST_ELEMENTS = 4_000_000
"""Of a side that is drawn."""
MOST_POSITIONS = 96
"""Positions that are told at once."""
MOST_RUNS = 400
"""Runs of neighbouring elements that are told of one position."""

_VIEWS = frozenset(construct.name for construct in TRANSFORMERS)


@dataclass(frozen=True)
class SourceTensor:
    """A tensor of which a side shows elements.

    Attributes
    ----------
    name : str
    dims : tuple of int
    part : Term
        The tensor, or the part of the term whose result it is.
    first : int
        The number of its first element.
    """

    name: str
    dims: Dims
    part: Term
    first: int


@dataclass(frozen=True)
class Side:
    """An access pattern of which positions are looked at.

    Attributes
    ----------
    shape : AccessShape
    every : int
        How many positions of the whole follow each other before this side moves on.
    sources : tuple of SourceTensor
    elements : array of int
        Per position the numbers of its elements from 1 on; 0 for what pads.
    """

    shape: AccessShape
    every: int
    sources: tuple[SourceTensor, ...]
    elements: npt.NDArray[np.int64]

    def at(self, position: int) -> npt.NDArray[np.int64]:
        """The elements of a position of the whole."""
        return self.elements[(position // self.every) % len(self.elements)]


@dataclass(frozen=True)
class Positions:
    """A part of a term, position by position.

    Attributes
    ----------
    shape : AccessShape
        Of the pattern that is computed on.
    operator : str
        What is computed of each position; empty if nothing is.
    sides : tuple of Side
    """

    shape: AccessShape
    operator: str
    sides: tuple[Side, ...]

    @property
    def count(self) -> int:
        """The number of positions."""
        return prod(self.shape.access)

    def told(self, start: int) -> list[list[dict[str, Any]]]:
        """Per position from one on, per side the runs of elements of each source tensor.

        A run is the number of its first element within the tensor, and how many there are.
        """
        stop = min(self.count, start + MOST_POSITIONS)
        return [[_runs(side, side.at(n)) for side in self.sides] for n in range(start, stop)]


def positions_of(part: Term) -> Positions:
    """The positions of a part of a term, and what each computes on.

    Raises
    ------
    LimitError
        If there are more elements than are drawn.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> made = positions_of(matmul(4, 3, 2))
    >>> made.operator, made.count, made.sides[0].at(2).tolist(), made.sides[1].at(2).tolist()
    ('dotProd', 8, [4, 5, 6], [1, 3, 5])
    """
    operator = ""
    if part.construct == "compute":
        operator, part = str(part.attributes[0]), part.operands[0]
    elif part.construct == SYSTOLIC_ARRAY:
        operator, part = SYSTOLIC_ARRAY, _as_product(part)
    shapes = shapes_of(part)
    shape = shapes[part]
    if part.construct == "cartProd":
        left, right = part.operands
        every = prod(shapes[right].access)
        return Positions(shape, operator, (_side(left, every), _side(right, 1)))
    if part.construct == "pair":
        return Positions(shape, operator, tuple(_side(x, 1) for x in part.operands))
    return Positions(shape, operator, (_side(part, 1),))


def _as_product(call: Term) -> Term:
    """The Cartesian product whose dot products a call of the array computes."""
    vectors, weights = call.operands
    held = Term("access", (1,), (Term("transpose", ((1, 0),), (weights,)),))
    return Term("cartProd", (), (vectors, held))


def _side(pattern: Term, every: int) -> Side:
    shapes = shapes_of(pattern)
    leaves: dict[Term, SourceTensor] = {}
    cut = _cut(pattern, shapes, leaves, {})
    largest = max(shapes_of(cut)[x].elements for x in subterms(cut))
    if largest > MOST_ELEMENTS:
        raise LimitError(
            f"{largest:,} elements are more than are drawn",
            hint=f"look at a part with at most {MOST_ELEMENTS:,}",
        )
    numbers = {
        source.name: source.first + np.arange(prod(source.dims)).reshape(source.dims)
        for source in leaves.values()
    }
    found = evaluate(cut, numbers)
    shape = shapes[pattern]
    elements = np.where(np.isfinite(found), found, 0).astype(np.int64)
    rows = elements.reshape(prod(shape.access), prod(shape.compute))
    return Side(shape, every, tuple(leaves.values()), rows)


def _cut(
    part: Term, shapes: Any, leaves: dict[Term, SourceTensor], known: dict[Term, Term]
) -> Term:
    """A part with tensors in place of what is computed."""
    if part not in known:
        if part.construct in _VIEWS:
            operands = tuple(_cut(x, shapes, leaves, known) for x in part.operands)
            known[part] = Term(part.construct, part.attributes, operands)
        else:
            known[part] = _leaf(part, shapes[part], leaves)
    return known[part]


def _leaf(part: Term, shape: AccessShape, leaves: dict[Term, SourceTensor]) -> Term:
    first = 1 + sum(prod(source.dims) for source in leaves.values())
    if part.construct == TENSOR:
        name = str(part.attributes[0])
    else:
        computed = sum(source.part.construct != TENSOR for source in leaves.values())
        name = f"result {computed + 1}"
    leaves[part] = SourceTensor(name, shape.dims, part, first)
    return Term("access", (len(shape.access),), (Term(TENSOR, (name, shape.dims), ()),))


def _runs(side: Side, elements: npt.NDArray[np.int64]) -> dict[str, Any]:
    """The elements of a position as runs, per source tensor."""
    runs: dict[str, list[list[int]]] = {}
    ordered = np.unique(elements[elements > 0])
    for source in side.sources:
        own = ordered[(ordered >= source.first) & (ordered < source.first + prod(source.dims))]
        if not own.size:
            continue
        breaks = np.flatnonzero(np.diff(own) != 1) + 1
        runs[source.name] = [
            [int(run[0]) - source.first, len(run)] for run in np.split(own, breaks)[:MOST_RUNS]
        ]
    padded = int((elements == 0).sum())
    return {"runs": runs, "padded": padded}
