"""Digits, and what is said without scikit-learn."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import DataError
from fuseloom.models import load
from fuseloom.models.datasets import digits


@pytest.mark.deep  # takes seconds
def test_digits_are_images() -> None:
    from sklearn.datasets import load_digits

    images = digits(32, seed=5)
    known = {row.tobytes() for row in (load_digits().data / 16).astype(np.float32)}
    assert images.shape == (32, 64)
    assert {row.tobytes() for row in images} <= known
    model, data = load("autoencoder", "digits")
    np.testing.assert_array_equal(data["X"].to_dense(), digits(32))
    run = simulate(compile_program(model.program, model.presets["full"]), data)
    assert run.check().ok
    with pytest.raises(DataError, match="1,798 images"):
        digits(1_798)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match=r"not installed.*fuseloom\[data\]"):
        digits()
