"""The autoencoder, against plain numpy."""

from __future__ import annotations

import numpy as np

from fuseloom.models import (
    autoencoder,
    random_data,
)
from fuseloom.program import evaluate
from tests.models.small import dense


def test_the_autoencoder_equals_a_plain_forward_pass() -> None:
    model = autoencoder(batch=4, inputs=9, hidden=5)
    data = random_data(model, 3, density=0.9)
    t = dense(data)
    expected = np.maximum(t["X"] @ t["We"] + t["be"], 0) @ t["Wd"] + t["bd"]
    np.testing.assert_allclose(evaluate(model.program, data)["O"].dense(), expected, rtol=1e-9)
