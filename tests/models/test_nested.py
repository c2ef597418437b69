"""A product of three matrices, stored as an order traverses it."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.models import load
from fuseloom.models.nested import nested, nested_program


@pytest.mark.parametrize("wrong", ["ikj", "ikjj", "abcd", ""])
def test_an_order_names_each_index_once(wrong: str) -> None:
    with pytest.raises(ProgramError, match="no order"):
        nested_program(wrong, 4, 2)


def test_features_are_dense_if_all_are_there() -> None:
    assert nested().program.tensor("X").format.all_dense
    assert not nested(filled=0.5).program.tensor("X").format.all_dense


def test_the_karate_club() -> None:
    model, data = load("nested", "karate", filled=0.5, density=0.25)
    assert data["A"].nnz == 156
    assert data["X"].nnz == 34 * 34 // 2
    assert data["W"].nnz == 34 * 16 // 4
    for text in model.presets.values():
        run = fl.simulate(fl.compile(model.program, text), data)
        made = run.outputs["D"].to_dense()
        product = data["A"].to_dense() @ data["X"].to_dense() @ data["W"].to_dense()
        np.testing.assert_allclose(made, product, rtol=1e-4, atol=1e-5)
