"""Which elements are not zero, of results that have no others (``docs/spec/estimate.md`` §3)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fuseloom.dataflow.cost.exact.fiber_levels import Bools, Ints
from fuseloom.dataflow.samml.graph import Node
from fuseloom.errors import LoweringError
from fuseloom.program.distinct import distinct
from fuseloom.program.rounded import EvaluationBudget, TooMuchError, evaluate_rounded
from fuseloom.program.rounded.rounding import Rounding
from fuseloom.program.storage import StoredTensor
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Program

PRODUCTS = 2e8
"""The limit on the products that the values of one tensor may take."""
BYTES = 2**30


class Nonzeros:
    """The elements of a program's results without zeros, by the values of its inputs.

    Where these are not known, or computing them would take too much, a given share of the elements
    is taken to be there; of a tensor of which nothing is given, all.

    Parameters
    ----------
    data : mapping
        The inputs of which there are values.
    """

    def __init__(self, program: Program, data: Mapping[str, StoredTensor]) -> None:
        self.program = program
        self.data = dict(data)
        self.given: dict[str, float] = {}
        self._found: dict[str, tuple[Ints, int] | None] = {}

    def elements(self, name: str) -> Ints | None:
        """Numbers of the elements (or blocks) in row-major order, sorted; None if nobody knows."""
        if name not in self._found:
            self._found[name] = self._evaluated(name)
        found = self._found[name]
        return None if found is None else found[0]

    def share(self, name: str) -> float:
        """The share of the elements that are not zero."""
        if self.elements(name) is None:
            return self.given.get(name, 1.0)
        found = self._found[name]
        assert found is not None
        return len(found[0]) / max(found[1], 1)

    def among(self, name: str, coords: Sequence[Ints]) -> Bools:
        """Which of some elements are not zero, by their coordinates."""
        numbers = np.ravel_multi_index(tuple(coords), self._grid(name))
        elements = self.elements(name)
        if elements is None:  # the same ones every time
            mixed = (numbers.astype(np.uint64) + zlib.crc32(name.encode())) * _ODD
            return np.asarray((mixed >> np.uint64(32)) < self.share(name) * 2.0**32)
        if not len(elements):
            return np.zeros(len(numbers), dtype=bool)
        at = np.minimum(np.searchsorted(elements, numbers), len(elements) - 1)
        return np.asarray(elements[at] == numbers)

    def _grid(self, name: str) -> tuple[int, ...]:
        return grid_shape(self.program.tensor(name))

    def _evaluated(self, name: str) -> tuple[Ints, int] | None:
        """The elements, and how many there are with those that are zero."""
        needed = replace(self.program, outputs=(name,)).live
        read = {access.tensor for s in needed for access in s.operands}
        stored = {n: self.data[n] for n in read if n in self.data}
        if read - stored.keys() - {s.out.tensor for s in needed}:
            return None
        statements = (*needed[:-1], replace(needed[-1], nonzero=False))
        whole = {name: (None,) * self.program.tensor(name).rank}
        budget, rounding = EvaluationBudget(BYTES, PRODUCTS), Rounding(doubts=False)
        try:
            made = evaluate_rounded(self.program, statements, stored, whole, budget, rounding)
        except (TooMuchError, OverflowError, MemoryError):
            return None
        every = made[name].listed()
        left = self._numbered(name, every.coords[:, every.values != 0])
        return left, len(self._numbered(name, every.coords))

    def _numbered(self, name: str, coords: Ints) -> Ints:
        fmt, coords = self.program.tensor(name).format, coords.copy()
        coords[list(fmt.blocked)] //= fmt.block
        return distinct(np.ravel_multi_index(tuple(coords), self._grid(name)))


_ODD = np.uint64(0x9E3779B97F4A7C15)
"""A multiplier that mixes numbers well."""


def tensor_without_zeros(node: Node) -> str:
    """The tensor whose zeros a node leaves out.

    Raises
    ------
    LoweringError
        In an imported graph, which does not say.
    """
    if "of" not in node.params:
        raise LoweringError("it is not known which values of an imported graph are zero")
    return str(node.params["of"])
