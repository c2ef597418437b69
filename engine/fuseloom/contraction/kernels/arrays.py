"""The arrays that a routine is given, and what it leaves in them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from fuseloom.codegen.compile import Call
from fuseloom.contraction.kernels.data import MOST_BYTES, WORD, Data
from fuseloom.contraction.kernels.operands import Floats, Ints, Operand
from fuseloom.contraction.kernels.parts import LISTS, PRODUCTS, Lowered
from fuseloom.errors import LimitError
from fuseloom.program import Access, CompressedLevel
from fuseloom.wording import counted

FIRST_ROOM = 4_096
"""Elements of a sparse result that there is room for at first."""


class Prepared:
    """A kernel with its arrays, in a part of memory that others may use as well between runs."""

    def __init__(self, lowered: Lowered, call: Call, data: Data, memory: Floats) -> None:
        tree = lowered.bound.tree
        self.call = call
        self.sizes: Ints = np.array([tree.extents[x] for x in lowered.sizes], dtype=np.int64)
        self.arrays: list[Any] = []
        made = {a.out.tensor: a.out for a in lowered.bound.assigns.values()}
        used = 0
        for slot in lowered.slots:
            if slot.part in (*LISTS, PRODUCTS):
                continue
            if slot.layout is not None:
                self.arrays.append(_part(data.operand(slot.layout), slot.part, slot.level))
                continue
            count = _held(lowered, made[slot.part])
            self.arrays.append(memory[used : used + count])
            used += count
        self.out, self.made = self.arrays[-1], len(self.arrays)
        access = lowered.bound.result
        self.shape = tuple(tree.extents[x] for x in access.indices)
        self.order = tuple(access.indices.index(x) for x in tree.result.indices)
        self.listed = lowered.listed is not None
        if self.listed:
            self._make_room(FIRST_ROOM)
        self.products: Ints = np.zeros(len(tree.contractions), dtype=np.int64)
        if any(slot.part == PRODUCTS for slot in lowered.slots):
            self.arrays.append(self.products)

    def execute(self) -> None:
        self.out.fill(0.0)
        self.products.fill(0)
        if self.listed:
            self._execute_listed()
        else:
            self.call(self.sizes, self.arrays)

    def _execute_listed(self) -> None:
        """Once more if there was no room for all elements: then there is."""
        count, positions, _ = self.arrays[-3:]
        count[:] = 0, len(positions)
        self.call(self.sizes, self.arrays)
        if count[0] > len(positions):
            self._make_room(int(count[0]))
            self._execute_listed()

    def _make_room(self, elements: int) -> None:
        if 2 * WORD * elements > MOST_BYTES:
            raise LimitError(
                f"the result has {counted(elements, 'element')}, which take "
                f"{counted(2 * WORD * elements, 'byte')}; "
                f"the limit is {MOST_BYTES:,}",
                hint="run the network on smaller data",
            )
        lists = np.empty(elements, dtype=np.int64), np.empty(elements)
        self.arrays = [*self.arrays[: self.made], np.zeros(2, dtype=np.int64), *lists]

    def elements(self) -> tuple[Ints, Floats]:
        """Copies of coordinates and values."""
        count, positions, values = self.arrays[-3:]
        found = positions[: count[0]]
        if not self.shape:
            return np.zeros((len(found), 0), dtype=np.int64), values[: count[0]].copy()
        places = np.unravel_index(found, self.shape)
        return np.stack([places[d] for d in self.order], axis=1), values[: count[0]].copy()

    def result(self) -> Floats:
        """A copy, dense."""
        if self.listed:
            coords, values = self.elements()
            array = np.zeros([self.shape[d] for d in self.order])
            np.add.at(array, tuple(coords.T), values if self.shape else values.sum())
            return array
        return np.array(self.out.reshape(self.shape).transpose(self.order), order="C")


def _part(found: Operand, part: str, level: int) -> Any:
    array: Any = found.values
    if part != "values":
        held = found.levels[level]
        assert isinstance(held, CompressedLevel)
        array = held.seg if part == "seg" else held.crd
    return np.require(array, requirements=["C", "A", "W"])


def held_elements(lowered: Lowered) -> list[int]:
    """Per workspace, and at last the result, its number of elements."""
    made: list[Access] = [a for a in lowered.bound.workspaces if a.indices]
    return [_held(lowered, a) for a in (*made, lowered.bound.result)]


def _held(lowered: Lowered, access: Access) -> int:
    """The elements of a dense array."""
    extents = lowered.bound.tree.extents
    listed = (lowered.listed or ()) if access is lowered.bound.result else ()
    return prod(extents[x] for x in access.indices if x not in listed)
