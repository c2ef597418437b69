"""Random elements of a network's tensors."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.shipped import shipped
from fuseloom.errors import DataError


@pytest.mark.parametrize("density", [0.001, 0.1, 0.9, 1.0])
def test_elements_are_different_inside_and_as_many_as_asked(density: float) -> None:
    tree = shipped("running example")
    for name, (coords, values) in scattered(tree, density, seed=3).items():
        shape = tree.program.tensor(name).shape
        assert len(values) == max(1, round(density * np.prod(shape)))
        assert len({tuple(c) for c in coords.tolist()}) == len(values)
        assert (coords >= 0).all()
        assert (coords < shape).all()


def test_the_seed_decides() -> None:
    tree = shipped("MTTKRP")
    one, same, other = (scattered(tree, 0.05, seed)["A"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0], same[0])
    np.testing.assert_array_equal(one[1], same[1])
    assert not np.array_equal(one[0], other[0])


def test_few_elements_of_very_many() -> None:
    tree = binary(from_einsum("ij,j->i", {"i": 2_000_000, "j": 3_000_000}))
    coords, values = scattered(tree, 1e-9)["A"]
    assert len(values) == len({tuple(c) for c in coords.tolist()}) == 6_000


@pytest.mark.parametrize("density", [0.0, -1.0, 1.5, float("nan")])
def test_densities_that_are_none(density: float) -> None:
    with pytest.raises(DataError, match="a density is above 0"):
        scattered(shipped("MTTKRP"), density)


def test_too_many_elements_are_refused_first() -> None:
    tree = binary(from_einsum("ij,j->i", {"i": 900_000_000, "j": 900_000_000}))
    with pytest.raises(DataError, match=r"would have .* elements"):
        scattered(tree, 0.5)
