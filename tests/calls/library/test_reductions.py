"""Reductions: each against Python's own of a row or a column."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.calls.library.reductions import ROWS
from tests.calls.library.computed import SEEDS, close, computed

OF_ONE: dict[str, Callable[[list[float]], float]] = {
    "max_rows": max, "min_rows": min, "argmax_rows": lambda row: row.index(max(row)),
    "sum_rows": math.fsum, "mean_rows": statistics.fmean, "variance_rows": statistics.pvariance,
    "norm_rows": lambda row: math.hypot(*row),
    "max_columns": max, "sum_columns": math.fsum, "mean_columns": statistics.fmean,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("seed", SEEDS)
def test_reductions(name: str, seed: int) -> None:
    out, arguments = computed(name, seed)
    lines: Any = arguments["a"].T if name.endswith("columns") else arguments["a"]
    assert close(out, [OF_ONE[name](line.tolist()) for line in lines])


def test_dot_products_of_rows() -> None:
    out, arguments = computed("dot_rows", 1)
    assert close(out, np.diag(arguments["a"] @ arguments["b"].T))


def test_extents_are_arguments() -> None:
    """So that a reduction may read an intermediate, whose whole is not there."""
    assert {row.name for row in ROWS} == {*OF_ONE, "dot_rows"}
    for row in ROWS:
        (extent,) = {"width", "height"} & set(row.parameters)
        arguments = row.example()
        assert arguments[extent] == arguments["a"].shape[extent == "width"]
