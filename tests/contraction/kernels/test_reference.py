"""The reference of kernels: pair by pair it gives what NumPy does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.contraction.kernels import reference
from fuseloom.contraction.kernels.run import Data
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.errors import LimitError
from tests.contraction.drawn import data_of, drawn, wanted


@pytest.mark.parametrize("seed", range(40))
def test_pairs_of_sparse_tensors_and_dense_arrays_agree(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = drawn(random.Random(seed), tied=seed % 3 == 0)
    for density in (0.5, 0.1, 0.0):
        given = data_of(tree, seed, density)
        sizes = wanted(tree, {name: abs(a) for name, a in given.items()})
        for most in (2**22, 0):
            monkeypatch.setattr(reference, "DENSE", most)
            data = Data(tree, given)
            np.testing.assert_allclose(data.wanted, wanted(tree, given), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(data.sizes, sizes, rtol=1e-9, atol=1e-12)


def test_extents_beyond_one_number() -> None:
    far = 2**31 - 1
    tree = binary(from_einsum("ijkl,ijkl->", dict.fromkeys("ijkl", far)))
    coords = [[far - 1] * 4, [0, 0, 0, 1], [5, 6, 7, 8]]
    data = Data(tree, {"A": (coords, [1.0, 2.0, 3.0]), "B": (coords[::-1], [10.0, 20.0, 30.0])})
    assert data.wanted == 1 * 30 + 2 * 20 + 3 * 10


def test_what_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "DENSE", 0)
    monkeypatch.setattr(reference, "MOST_PRODUCTS", 7)
    tree = binary(from_einsum("ij,jk->ik", {"i": 2, "j": 2, "k": 2}))
    with pytest.raises(LimitError, match="takes 8 products"):
        _ = Data(tree, {"A": np.ones((2, 2)), "B": np.ones((2, 2))}).wanted
