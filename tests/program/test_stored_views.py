"""Tensors read in another mode order."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.program import (
    Format,
    LevelFormat,
    StoredTensor,
    parse,
    resolve_view,
    view_key,
)
from fuseloom.program.stored_views import view_format
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


def test_a_copy_has_no_dense_level_of_a_dimension_far_larger() -> None:
    """Of two rows of ten million columns there are columns where an element is."""
    program = parse("A: 2x10000000 csr\nX: 30x20 csr\ny[] = A[i,j] * X[l,k]")
    a, x = program.tensor("A"), program.tensor("X")
    compressed, dense = LevelFormat.COMPRESSED, LevelFormat.DENSE
    assert view_format(a, (0, 1)).levels == (dense, compressed)
    assert view_format(a, (1, 0)).levels == (compressed, compressed)
    assert view_format(x, (1, 0)).levels == (dense, compressed)
    stored = StoredTensor.from_coo(a, [[0, 7], [1, 9_999_999]], [1.0, 2.0])
    copy = resolve_view({"A": stored}, "A@1,0")
    assert copy.bytes < 100
    assert copy.to_coo()[0].tolist() == [[0, 7], [1, 9_999_999]]
