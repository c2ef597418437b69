"""Selections of the entries of an index."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.algebra.selections import check_entries, selection_of
from fuseloom.program import Format, Tensor


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)], ids=str)
def test_selections(shape: tuple[int, ...]) -> None:
    entries = np.random.default_rng(3).integers(0, 5, shape)
    tensor = Tensor("S", (*shape, 5), Format.compressed(len(shape) + 1))
    found = selection_of(tensor, entries)
    np.testing.assert_array_equal(found.to_dense(), np.eye(5)[entries])
    assert found.nnz == entries.size


@pytest.mark.parametrize("lowest", [0, -3])
def test_entries(lowest: int) -> None:
    check_entries(np.arange(lowest, 3), 3, "I", lowest)
    for outside in (lowest - 1, 3):
        with pytest.raises(DataError, match=rf"I has entries .* size 3, such as {outside}"):
            check_entries(np.array([0, outside]), 3, "I", lowest)
