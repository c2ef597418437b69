"""Tensors read in another mode order."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import DataError
from engine.program import (
    Format,
    StoredTensor,
    resolve_view,
    view_key,
)
from tests.program.matrices import ARRAY, CSR, C, D


def test_views() -> None:
    a = StoredTensor.from_dense(CSR, ARRAY)
    assert view_key(CSR, (0, 1)) == "A"
    assert view_key(CSR, (1, 0)) == "A@1,0"
    assert resolve_view({"A": a}, "A") is a
    turned = resolve_view({"A": a}, "A@1,0")
    assert turned.tensor.format == Format((D, C), (1, 0))
    np.testing.assert_array_equal(turned.to_dense(), ARRAY)
    for key in ("B", "A@0,0", "A@x", "A@-1,0"):
        with pytest.raises(DataError):
            resolve_view({"A": a}, key)
