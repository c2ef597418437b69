"""Intersections of long fibers: kernels skip coordinates that golden models take one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import fuseloom as fl
from fuseloom.dataflow.machine import Machine

FORMATS = {"csr": "csc", "dcsr": "dcsc", "dense": "dense order 1,0"}
"""Of a matrix and, for the same storage, of its transpose."""
COUNTED = ("clocks", "stall_input", "stall_output", "first", "tokens", "values", "taken")


def made(rng: np.random.Generator, rows: int, columns: int, fmt: str) -> Any:
    """A matrix; in half of them a stretch is empty, so that one side lags far behind."""
    array = (rng.random((rows, columns)) < rng.choice([0.02, 0.3, 1.0])) * rng.integers(
        1, 5, (rows, columns)
    ).astype(np.float32)
    if rng.random() < 0.5:
        array[:, int(rng.integers(columns)) : int(rng.integers(columns)) + 1] = 0
    return array if fmt == "dense" else scipy.sparse.csr_array(array)


@pytest.mark.parametrize("seed", range(16))
def test_kernels_equal_golden_models(seed: int) -> None:
    rng = np.random.default_rng(seed)
    i, j, k = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(30, 300))
    left, right = (str(rng.choice([*FORMATS])) for _ in range(2))
    a, b = made(rng, i, k, left), made(rng, j, k, right)
    text = f"A: {i}x{k} {left}\nB: {k}x{j} {FORMATS[right]}\nT[i,j] = A[i,k] * B[k,j]"
    schedule = f"locate {rng.choice(['on', 'off'])}; order T: i,j,k"
    print(f"seed {seed}\n{text}\n{schedule}")
    compiled = fl.compile(fl.parse(text), schedule)
    machine = Machine.default([None, None, 64, 5][seed % 4])
    data = {"A": a, "B": b.T if right == "dense" else scipy.sparse.csr_array(b.T)}
    kernels, golden = (
        fl.simulate(compiled, data, machine, engine=engine)
        for engine in ("compiled", "interpreter")
    )
    for one, other in zip(kernels.regions, golden.regions, strict=True):
        for name in COUNTED:
            np.testing.assert_array_equal(getattr(one.result, name), getattr(other.result, name))
    assert kernels.outputs["T"].content_hash() == golden.outputs["T"].content_hash()
    assert kernels.check().ok
