"""Formats of inputs chosen by the estimate: which, and that none other is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.formats import FormatChoice, choose_formats
from fuseloom.errors import DataError
from fuseloom.program import Format, LevelFormat, StoredTensor, Tensor
from fuseloom.program.formats import MATRIX_FORMATS, format_text

LAYER = fl.parse("X: 40x30 dense\nW: 8x30 dense\nY[i,j] = X[i,k] * W[j,k]")


def random(shape: tuple[int, ...], density: float = 1.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random(shape) + 0.1) * (rng.random(shape) < density)


def stored_as(program: fl.Program, formats: Mapping[str, Format]) -> fl.Program:
    for name, fmt in formats.items():
        program = program.with_tensor(replace(program.tensor(name), format=fmt))
    return program


def cycles(program: fl.Program, data: Mapping[str, Any], schedule: str = "") -> int:
    run = fl.simulate(fl.compile(program, schedule, data), data)
    assert run.check().ok
    return run.cycles


def formats(found: tuple[FormatChoice, ...]) -> dict[str, Format]:
    return {choice.tensor.name: choice.format for choice in found}


@pytest.mark.parametrize("dense", ["X", "W", ""])
def test_no_format_of_a_matrix_is_better_than_the_one_chosen(dense: str) -> None:
    shapes = {"X": (40, 30), "W": (8, 30)}
    data = {n: random(s, 1.0 if n == dense else 0.15, seed=3) for n, s in shapes.items()}
    chosen = formats(choose_formats(LAYER, data))
    assert chosen.keys() == shapes.keys() - {dense}
    found = cycles(stored_as(LAYER, chosen), data)
    assert found < cycles(LAYER, data) / 3
    for name in chosen:
        for fmt in MATRIX_FORMATS.values():
            other = stored_as(LAYER, {**chosen, name: fmt})
            assert found <= 1.05 * cycles(other, data), f"{name}: {format_text(fmt)}"


def test_a_choice_says_what_it_saves() -> None:
    x = np.zeros((40, 30))
    x[::3, ::7] = 1
    data = {"X": x, "W": random((8, 30))}
    (choice,) = choose_formats(LAYER, data)
    dense, sparse = (cycles(p, data) for p in (LAYER, stored_as(LAYER, formats((choice,)))))
    assert choice.density == pytest.approx(70 / 1200)
    assert choice.readers == ("Y",)
    assert choice.dense_cycles == pytest.approx(dense, rel=0.05)
    assert choice.cycles == pytest.approx(sparse, rel=0.05)
    assert str(choice) == (
        "X is stored dcsr: 5.83% of 40 x 30 are not 0; by the estimate what reads it (Y) takes "
        f"{choice.cycles:,.0f} cycles so, {choice.dense_cycles:,.0f} dense"
    )


def test_weights_by_column_where_rows_would_be_walked_through_again() -> None:
    """Stored by rows, all of W would be scanned for each row of X."""
    program = fl.parse(
        "X: 60x40 dense\nW: 50x40 dense\nY[i,j] = X[i,k] * W[j,k]\nZ[i,j] = relu(Y[i,j])"
    )
    data = {"X": random((60, 40), 0.1), "W": random((50, 40), 0.1, seed=1)}
    chosen = formats(choose_formats(program, data))
    assert chosen["W"].mode_order == (1, 0)


def test_weights_that_one_region_reads_are_chosen_together() -> None:
    """One of three alone gains little: the region walks through all the rows for the others."""
    program = fl.parse(
        "x: 16x24 dense\nA: 24x24 dense\nB: 24x24 dense\nC: 24x24 dense\n"
        "Q[i,j] = x[i,k] * A[j,k]\nK[i,j] = x[i,k] * B[j,k]\nV[i,j] = x[i,k] * C[j,k]\n"
        "S[i,j] = Q[i,j] + K[i,j]\nY[i,j] = S[i,j] * V[i,j]"
    )
    data = {"x": random((16, 24))} | {
        name: random((24, 24), 0.1, seed) for seed, name in enumerate("ABC", 1)
    }
    found = choose_formats(program, data, schedule="fuse Q..Y")
    assert {choice.tensor.name for choice in found} == {"A", "B", "C"}
    together = cycles(stored_as(program, formats(found)), data, "fuse Q..Y")
    for name in "ABC":
        alone = stored_as(program, {name: formats(found)[name]})
        assert together < cycles(alone, data, "fuse Q..Y") / 4


def test_what_is_full_small_a_vector_or_not_asked_about_stays() -> None:
    program = fl.parse(
        "A: 30x30 dense\nB: 2x30 dense\nc: 100 dense\nD: 30x30 csr\nE: 32x32 dense block 4\n"
        "S[i,j] = A[i,k] * D[k,j]\nT[i,j] = B[i,k] * D[k,j]\nu[i] = 2 * c[i]\n"
        "V[i,j] = relu(E[i,j])\noutput S, T, u, V"
    )
    sparse = {n: random(program.tensor(n).shape, 0.05) for n in program.given}
    assert formats(choose_formats(program, sparse)).keys() == {"A"}
    assert not choose_formats(program, sparse, density=0.01)
    assert not choose_formats(program, sparse, ["B", "c", "D"])
    assert not choose_formats(program, {**sparse, "A": random((30, 30))}, ["A"])


def test_inputs_of_what_is_computed_and_of_several_statements() -> None:
    program = fl.parse(
        "A: 30x30 csr\nW: 30x30 dense\nH[i,j] = A[i,k] * W[k,j]\n"
        "R[i,j] = relu(H[i,j])\nY[i,j] = R[i,k] * W[k,j]\noutput Y"
    )
    data = {"A": random((30, 30), 0.1), "W": random((30, 30), 0.08, seed=2)}
    (choice,) = choose_formats(program, data)
    assert choice.readers == ("H", "Y")
    assert cycles(stored_as(program, formats((choice,))), data) < cycles(program, data) / 2


@pytest.mark.parametrize("rank", [3, 4])
def test_tensors_of_more_dimensions(rank: int) -> None:
    names = "abcd"[:rank]
    shape = tuple(range(4, 4 + rank))
    dims = "x".join(map(str, shape))
    program = fl.parse(
        f"T: {dims} dense\nv: {shape[-1]} dense\n"
        f"Y[{','.join(names[:-1])}] = T[{','.join(names)}] * v[{names[-1]}]"
    )
    data = {"T": random(shape, 0.08), "v": random(shape[-1:])}
    (choice,) = choose_formats(program, data)
    assert set(choice.format.levels) == {LevelFormat.COMPRESSED}
    assert choice.cycles < choice.dense_cycles
    assert cycles(stored_as(program, formats((choice,))), data) < cycles(program, data)


def test_a_reshape_is_of_no_interest_and_windows_are_read() -> None:
    program = fl.parse(
        "x: 4x25 dense\nR: 10x10 csf\nR[a,b] = reshape(x[i,j])\nw: 3x3 dense\ni2: 20x20 dense\n"
        "Y[a,b] = i2[a + p, b + q] * w[p,q]\noutput R, Y"
    )
    data = {"x": random((4, 25), 0.1), "w": random((3, 3)), "i2": random((20, 20), 0.03)}
    found = choose_formats(program, data)
    assert "x" not in formats(found)
    assert all(choice.cycles < choice.dense_cycles for choice in found)


def test_wrong_data_are_refused() -> None:
    with pytest.raises(DataError, match="data of input W"):
        choose_formats(LAYER, {"X": random((40, 30))})


def test_every_order_of_three_dimensions_is_considered() -> None:
    """The one chosen takes as few cycles as any."""
    program = fl.parse("T: 12x10x8 dense\nv: 12 dense\nY[b,c] = T[a,b,c] * v[a]")
    data = {"T": random((12, 10, 8), 0.05), "v": random((12,))}
    (choice,) = choose_formats(program, data)
    best = cycles(stored_as(program, formats((choice,))), data)
    for order in permutations(range(3)):
        fmt = Format((LevelFormat.COMPRESSED,) * 3, order)
        assert best <= 1.05 * cycles(stored_as(program, {"T": fmt}), data), order


def test_stored_tensors_are_taken_as_they_are() -> None:
    held = StoredTensor.from_dense(Tensor("X", (40, 30), Format.dense(2)), random((40, 30), 0.1))
    assert formats(choose_formats(LAYER, {"X": held, "W": random((8, 30))})).keys() == {"X"}
