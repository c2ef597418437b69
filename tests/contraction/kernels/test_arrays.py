"""Arrays of routines: lists of elements that find room as they come."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.codegen.compile import Backend
from fuseloom.contraction.kernels import arrays
from fuseloom.contraction.kernels.run import Data, kernels, measure
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.errors import LimitError
from tests.contraction.drawn import data_of, drawn, wanted
from tests.contraction.kernels.nests import QUICK, solved


@pytest.mark.parametrize(
    ("seed", "room"),
    [
        pytest.param(seed, room, marks=[pytest.mark.fuzz] * (seed % 2 == (room > 0)))
        for seed in range(200, 210)
        for room in (0, 4096)
    ],
)
def test_elements_of_sparse_results(seed: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "FIRST_ROOM", room)
    tree = drawn(random.Random(seed), tied=seed % 2 == 0)
    made = kernels(solved(tree, 3, seed), tree, backend=Backend.C, flags=QUICK, listed=True)
    for density in (0.5, 0.2, 0.0):
        given = data_of(tree, seed, density)
        expected, data = wanted(tree, given), Data(tree, given)
        for kernel in made:
            coords, values = kernel.run_listed(data)
            assert coords.shape == (len(values), expected.ndim)
            assert (values != 0).all()
            assert len({tuple(row) for row in coords.tolist()}) == len(values)
            result = kernel.run(data)
            assert np.count_nonzero(result) == len(values)
            np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
    assert all(m.right for m in measure({str(k.number): k for k in made}, data, runs=1).values())


def test_a_list_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = binary(from_einsum("i,i->i", {"i": 100}))
    nest = parse_nest("forall(i, R(i) += A(i) * B(i))")
    (kernel,) = kernels([nest], tree, flags=QUICK, listed=True)
    data = {"A": np.ones(100), "B": np.ones(100)}
    assert len(kernel.run_listed(data)[1]) == 100
    monkeypatch.setattr(arrays, "FIRST_ROOM", 10)
    monkeypatch.setattr(arrays, "MOST_BYTES", 1599)
    with pytest.raises(LimitError, match="has 100 elements, which take 1,600 bytes"):
        kernel.run_listed(data)
