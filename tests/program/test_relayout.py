"""Reshapes: the same elements in another shape, whatever they hold."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import DataError
from fuseloom.program import StoredTensor, parse, print_program
from fuseloom.program.relayout import reshaped

TEXT = "A: 2x3 dense\nR: 3x2 [compressed, compressed] order 1,0\nT[i,j] = rsqrt(A[i,j])\n"
RESHAPED = TEXT + "R[a,b] = reshape(T[i,j])\nS[a,b] = relu(R[a,b])"


def test_a_region_may_hand_on_infinities() -> None:
    program = parse(RESHAPED)
    run = simulate(compile_program(program), {"A": np.array([[0.0, 1, 4], [9, 16, 25]])})
    assert np.isinf(run.outputs["R"].to_dense()[0, 0])
    assert run.check().ok
    assert parse(print_program(program)) == program


def test_elements_are_counted_in_row_major_order() -> None:
    program = parse(RESHAPED)
    given = StoredTensor.from_dense(program.tensor("A"), np.arange(6).reshape(2, 3))
    moved = reshaped(given, program.tensor("R"))
    assert moved.to_dense().tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(DataError, match="A has 6 places, which do not fill v"):
        reshaped(given, parse("v: 5 dense\nw[i] = relu(v[i])").tensor("v"))


def test_more_places_than_64_bits_count() -> None:
    """Three dimensions of 2**31 - 1 change places; both ends of them stay in order."""
    n = 2**31 - 1
    program = parse(f"A: {n}x{n}x1000000 csf\nR: {n}x1000000x{n} csf\nR[i,k,j] = reshape(A[i,j,k])")
    at = np.array([[0, 0, 0], [1, 2, 3], [n - 1, n - 1, 999_999]])
    given = StoredTensor.from_coo(program.tensor("A"), at, [1.0, 2.0, 3.0])
    run = simulate(compile_program(program), {"A": given})
    coords, values = run.outputs["R"].to_coo()
    places = [(i * n + j) * 1_000_000 + k for i, j, k in at.tolist()]
    assert [(i * 1_000_000 + k) * n + j for i, k, j in coords.tolist()] == places
    assert values.tolist() == [1.0, 2.0, 3.0]
    check = run.check()
    assert check.ok
    assert not check.unchecked
