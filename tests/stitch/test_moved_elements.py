"""Positions that elements are moved from, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.stitch.meaning.evaluation import value_of
from fuseloom.stitch.moved_elements import MOVES
from fuseloom.stitch.positions import LoopDivisionError, PositionSum, substituted, variable

from .stitched_modules import GraphMaker

CASES: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("reshape", (2, 6), (4, 3), {}),
    ("bitcast", (2, 6), (12,), {}),
    ("broadcast", (3,), (2, 3, 4), {"dimensions": (1,)}),
    ("broadcast", (2, 4), (2, 3, 4), {"dimensions": (0, 2)}),
    ("broadcast", (), (2, 3), {"dimensions": ()}),
    ("transpose", (2, 3, 4), (4, 2, 3), {"dimensions": (2, 0, 1)}),
    ("slice", (6, 5), (3, 2), {"slice": ((0, 6, 2), (1, 5, 3))}),
    ("reverse", (2, 3, 4), (2, 3, 4), {"dimensions": (0, 2)}),
]


@pytest.mark.parametrize(("opcode", "given", "dims", "attributes"), CASES)
def test_elements_come_from_where_the_interpreter_takes_them(
    opcode: str, given: tuple[int, ...], dims: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    graph = GraphMaker("s32")
    graph.add(opcode, dims, graph.parameter(*given), **attributes)
    operation = graph.operations[-1]
    size = operation.array.elements
    x = np.arange(int(np.prod(given)), dtype=np.int32).reshape(given)
    wanted = value_of(graph.module(), operation, [x]).reshape(-1)
    sizes = [size]
    while True:
        at, stride = PositionSum(), size
        for number, extent in enumerate(sizes):
            stride //= extent
            at = at.plus(variable(f"{number}", extent).times(stride))
        try:
            moved = MOVES[opcode](operation, given, at)
            break
        except LoopDivisionError as asked:
            number = int(asked.loop)
            sizes[number : number + 1] = [sizes[number] // asked.inner, asked.inner]
    for place, indices in enumerate(np.ndindex(*sizes)):
        values = {str(number): index for number, index in enumerate(indices)}
        assert substituted(moved, values) == wanted[place]
