"""Which elements are not zero: by values where there are any, else by a given share."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.exact.nonzeros import Nonzeros
from fuseloom.dataflow.cost.statistics import ExpectedStatistics
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

PROGRAM = parse("A: 40x50 dense\nH[i,j] = nonzero(relu(A[i,j]))\nK[i,j] = nonzero(H[i,j])")
PLACES = np.unravel_index(np.arange(2_000), (40, 50))


def values() -> np.ndarray:
    return np.random.default_rng(5).integers(-2, 3, (40, 50)) * 1.0


def test_elements_are_those_of_the_values() -> None:
    nonzeros = Nonzeros(PROGRAM, check_data(PROGRAM, {"A": values()}))
    positive = np.flatnonzero(values() > 0)
    assert (nonzeros.elements("H") == positive).all()
    assert (np.flatnonzero(nonzeros.among("H", PLACES)) == positive).all()
    assert nonzeros.share("H") == len(positive) / 2_000
    assert nonzeros.share("K") == 1.0


def test_nothing_is_left_of_zeros() -> None:
    nonzeros = Nonzeros(PROGRAM, check_data(PROGRAM, {"A": -np.abs(values())}))
    assert nonzeros.share("H") == 0.0
    assert not nonzeros.among("H", PLACES).any()


def test_without_values_a_share_is_drawn_the_same_every_time() -> None:
    nonzeros = Nonzeros(PROGRAM, {})
    assert nonzeros.elements("H") is None
    assert nonzeros.among("H", PLACES).all()
    nonzeros.given["H"] = 0.1
    drawn = nonzeros.among("H", PLACES)
    assert 120 <= drawn.sum() <= 280
    assert (drawn == Nonzeros.among(nonzeros, "H", PLACES)).all()


def test_blocks_count_as_one() -> None:
    program = parse("A: 4x4 dense block 2\nH[i,j] = nonzero(A[i,j])")
    matrix = np.zeros((4, 4))
    matrix[3, 0] = 1.0
    nonzeros = Nonzeros(program, check_data(program, {"A": matrix}))
    assert np.array_equal(nonzeros.elements("H"), [2])
    assert nonzeros.share("H") == 0.25


@pytest.mark.parametrize("mode", ["exact", "metadata"])
def test_statistics_of_a_result_stand_for_its_values(mode: str) -> None:
    """Without data of A, the estimate is about that of values with as many nonzeros."""
    program = parse(
        "A: 40x50 dense\nW: 50x8 dense\nH[i,j] = nonzero(relu(A[i,j]))\nY[i,k] = H[i,j] * W[j,k]"
    )
    weights = np.ones((50, 8))
    a = np.where(np.random.default_rng(3).random((40, 50)) < 0.2, 1.0, -1.0)
    compiled = compile_program(program, "fuse H..Y; order H..Y: i,j,k")
    tensors = program.by_name
    known = estimate(compiled, {"A": a, "W": weights}, mode=mode)
    everything = ExpectedStatistics.uniform(tensors["A"], 2_000)
    assumed = {"A": everything, "W": weights, "H": ExpectedStatistics.uniform(tensors["H"], 400)}
    guessed = estimate(compiled, assumed, mode=mode)
    assert guessed.cycles == pytest.approx(known.cycles, rel=0.15)
    unknown = estimate(compiled, {"A": everything, "W": weights}, mode=mode)
    assert unknown.flops > 3 * known.flops  # nothing is left out then
