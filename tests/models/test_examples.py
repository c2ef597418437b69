"""The small examples to learn with, against plain numpy."""

from __future__ import annotations

import numpy as np

from fuseloom.models import (
    attention,
    random_data,
)
from fuseloom.program import evaluate


def test_attention_equals_a_plain_masked_softmax() -> None:
    model = attention(tokens=6, features=3)
    data = random_data(model, seed=1, density=0.5)
    q, k, m, v = (data[name].to_dense() for name in "QKMV")
    assert set(np.unique(m)) <= {0.0, 1.0}
    scores = np.where(m > 0, q @ k.T / np.sqrt(3), -np.inf)
    rows = m.any(axis=1)
    weights = np.zeros((6, 6))
    weights[rows] = np.exp(scores[rows]) / np.exp(scores[rows]).sum(axis=1, keepdims=True)
    result = evaluate(model.program, data)["O"]
    np.testing.assert_array_equal(result.present.any(axis=1), rows)
    np.testing.assert_allclose(result.dense(), weights @ v, rtol=1e-9)
