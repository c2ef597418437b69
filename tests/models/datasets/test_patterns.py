"""Patterns of sparsity, exact."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.models.datasets import pattern, pruned


@pytest.mark.parametrize("kind", ["uniform", "power-law", "block-diagonal"])
@pytest.mark.parametrize("sparsity", [0.0, 0.5, 0.7, 0.95, 1.0])
def test_patterns_have_exactly_their_sparsity(kind: str, sparsity: float) -> None:
    made = pattern(kind, 60, sparsity, seed=3)
    assert made.shape == (60, 60)
    assert made.sum() == round((1 - sparsity) * 3_600)
    np.testing.assert_array_equal(made, pattern(kind, 60, sparsity, seed=3))


def test_patterns_have_their_shapes() -> None:
    rows = {k: np.sort(pattern(k, 400, 0.95).sum(axis=1)) for k in ("uniform", "power-law")}
    top = {kind: degrees[-40:].sum() / degrees.sum() for kind, degrees in rows.items()}
    assert top["uniform"] < 0.17
    assert top["power-law"] > 0.27  # a share of about sqrt(0.1) for weights k ** -0.5
    blocks = pattern("block-diagonal", 400, 0.95)
    member = np.arange(400) // 20
    assert not blocks[np.not_equal.outer(member, member)].any()
    for arguments, message in [(("spiral",), "no pattern"), (("uniform", 5, 2.0), "sparsity 2"),
                               (("uniform", 10**6), "nodes")]:  # fmt: skip
        with pytest.raises(DataError, match=message):
            pattern(*arguments)


def test_pruned_weights_keep_the_largest() -> None:
    weights = pruned((30, 20), 0.25, seed=1)
    whole = np.random.default_rng(1).standard_normal((30, 20))
    kept = weights != 0
    assert kept.sum() == 150
    np.testing.assert_array_equal(weights[kept], whole[kept])
    assert np.abs(whole[~kept]).max() < np.abs(whole[kept]).min()
    assert not pruned((3, 3), 0.0).any()
    with pytest.raises(DataError):
        pruned((3,), 1.5)
