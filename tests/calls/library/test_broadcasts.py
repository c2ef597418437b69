"""A matrix with a vector, row by row and column by column."""

from __future__ import annotations

import operator

import pytest

from fuseloom.calls.library.broadcasts import ROWS
from tests.calls.library.computed import SEEDS, computed

OPERATORS = {
    "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "add": operator.add,
}  # fmt: skip


@pytest.mark.parametrize("name", [row.name for row in ROWS])
@pytest.mark.parametrize("seed", SEEDS)
def test_elements(name: str, seed: int) -> None:
    out, arguments = computed(name, seed)
    a, v, operation = arguments["a"], arguments["v"], OPERATORS[name.split("_")[0]]
    for (i, j), value in zip(((i, j) for i in range(len(a)) for j in range(len(a[0]))), out.flat,
                             strict=True):  # fmt: skip
        assert value == operation(a[i, j], v[i if name.endswith("row") else j])
