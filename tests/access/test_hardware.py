"""The array, cycle by cycle, and the formula of its cycles."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.access.hardware import Call, SystolicArray, run_call
from fuseloom.errors import DataError, ProgramError


def test_the_formula_is_exact_on_random_calls() -> None:
    random = np.random.default_rng(11)
    for _ in range(200):
        rows, columns, batch = (int(x) for x in random.integers(1, 13, size=3))
        activations = random.integers(-4, 5, size=(batch, rows)).astype(float)
        weights = random.integers(-4, 5, size=(rows, columns)).astype(float)
        product, cycles = run_call(activations, weights)
        assert np.array_equal(product, activations @ weights)
        call = Call(rows, columns, batch)
        assert cycles == call.cycles == call.load + call.stream + call.drain


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DataError):
        run_call(np.ones((2, 3)), np.ones((2, 2)))
    for rows, columns in ((0, 4), (4, 0), (10**6, 4)):
        with pytest.raises(ProgramError, match="1 to"):
            SystolicArray(rows, columns)
