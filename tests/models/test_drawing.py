"""Numbers drawn piece by piece are those drawn at once, and take little more than themselves."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.models import drawing
from fuseloom.models.datasets import pruned
from fuseloom.program import StoredTensor, parse


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "PIECE", 100)


def test_numbers_are_those_of_one_draw() -> None:
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    made = drawing.normal((23, 17), one)
    whole = other.standard_normal((23, 17)).astype(np.float32)
    np.testing.assert_array_equal(made, whole)
    drawing.thin(made, 0.3, one)
    np.testing.assert_array_equal(made, whole * (other.random((23, 17)) < 0.3))
    assert drawing.normal((), one).shape == ()
    assert drawing.normal((0, 4), one).shape == (0, 4)


@pytest.mark.parametrize("count", [0, 1, 57, 200, 390, 391, 1000])
def test_the_largest_stay(count: int) -> None:
    whole = np.random.default_rng(1).standard_normal((23, 17)).astype(np.float32)
    made = whole.copy()
    drawing.largest(made, count)
    assert np.count_nonzero(made) == min(count, 391)
    kept = made != 0
    np.testing.assert_array_equal(made[kept], whole[kept])
    if 0 < count < 391:
        assert np.abs(whole[kept]).min() >= np.abs(whole[~kept]).max()


def test_of_equal_magnitudes_as_many_stay() -> None:
    for count in range(0, 260, 7):
        made = np.repeat(np.float32([1, -1, 2, 1, -2]), 50)
        drawing.largest(made, count)
        assert np.count_nonzero(made) == min(count, 250)


@pytest.mark.parametrize("fmt", ["dcsr", "csr", "csc", "dense", "dcsr block 2"])
def test_tensors_are_stored_as_ever(fmt: str) -> None:
    tensor = parse(f"A: 46x34 {fmt}\ny[i] = A[i,j]").tensor("A")
    array = drawing.normal((46, 34), np.random.default_rng(3))
    drawing.thin(array, 0.2, np.random.default_rng(4))
    array[5:9] = 0
    made, plain = drawing.stored(tensor, array), StoredTensor.from_dense(tensor, array)
    assert made.content_hash() == plain.content_hash()


def test_large_weights_are_pruned_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    few = pruned((40, 30), 0.3, 7)
    monkeypatch.setattr("fuseloom.models.datasets.patterns.PIECE", 100)
    made: Any = pruned((40, 30), 0.3, 7)
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, few.astype(np.float32))


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Peak bytes over the bytes of the array: itself, its magnitudes, and a few pieces."""
    monkeypatch.setattr(drawing, "PIECE", 2**14)
    monkeypatch.setattr("fuseloom.models.datasets.patterns.PIECE", 2**14)
    tensor = parse("A: 2048x512 dcsr\ny[i] = A[i,j]").tensor("A")
    tracemalloc.start()
    weights = pruned(tensor.shape, 0.5, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    drawing.stored(tensor, weights)
    whole = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * weights.nbytes
    assert whole < 4 * weights.nbytes


def test_too_many_are_refused() -> None:
    program = parse("A: 16384x16384 dense\nB: 16384x16384 dense\nC: 1 dense\n"
                    "y[i] = A[i,j]\nz[i] = B[i,j]\nw[i] = C[i]")  # fmt: skip
    tensors = [program.tensor(name) for name in "ABC"]
    drawing.check_made_up(tensors[:2])
    with pytest.raises(DataError, match="536,870,913 elements"):
        drawing.check_made_up(tensors)
    wide = parse("A: 100000x100000 dcsr\ny[i] = A[i,j]").tensor("A")
    with pytest.raises(DataError, match="A has 10,000,000,000 elements"):
        drawing.check_made_up([wide])
