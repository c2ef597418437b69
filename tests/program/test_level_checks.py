"""Levels that break a rule are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.program import (
    Format,
    StoredTensor,
    Tensor,
)
from tests.program.matrices import ARRAY, COO, CSR, C, D, S, coo, levels


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: StoredTensor.from_dense(CSR, ARRAY.T), "has shape 3x4, the array 4x3"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY + np.nan), r"value nan at \[0,0\]"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY * 1e300), r"at \[0,1\] is not finite"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY.astype(str)), "not a real number"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY * 1j), "not a real number"),
        (lambda: StoredTensor.from_coo(CSR, [[0, 4]], [1]), "coordinate 4 of element 0"),
        (lambda: StoredTensor.from_coo(CSR, [[-1, 0]], [1]), "coordinate -1 of element 0"),
        (lambda: StoredTensor.from_coo(CSR, [[2, 1], [2, 1]], [1, 2]), r"\[2,1\] is given twice"),
        (lambda: StoredTensor.from_coo(CSR, [[0, 1]], [1, 2]), "coordinates of shape 2x2"),
        (lambda: StoredTensor.from_coo(CSR, [[0.5, 1]], [1]), "not integer"),
        (lambda: StoredTensor.from_scipy(CSR, scipy.sparse.eye_array(3)), "the matrix 3x3"),
        (
            levels([0, 2, 2, 3], [3, 1, 0], [1, 2, 3]),
            "level 1 .*coordinate 1 at position 1 follows 3",
        ),
        (levels([0, 2, 2, 3], [1, 1, 0], [1, 2, 3]), "coordinate 1 at position 1 is given twice"),
        (
            levels([0, 2, 2, 3], [1, 4, 0], [1, 2, 3]),
            r"coordinate 4 at position 1 is outside 0\.\.3",
        ),
        (levels([0, 2, 2, 3], [1, -3, 0], [1, 2, 3]), "coordinate -3 at position 1"),
        (levels([1, 2, 2, 3], [1, 3, 0], [1, 2, 3]), "seg starts at 1"),
        (levels([0, 2, 1, 3], [1, 3, 0], [1, 2, 3]), "seg falls from 2 to 1 at position 2"),
        (levels([0, 2, 2, 4], [1, 3, 0], [1, 2, 3]), "seg ends at 4, crd has 3"),
        (levels([0, 3], [1, 3, 0], [1, 2, 3]), "seg has shape 2, the level above has 3"),
        (levels([], [], []), "seg has shape 0"),
        (levels([0, 2, 2, 3], [[1, 3, 0]], [1, 2, 3]), "crd has one axis"),
        (levels([0, 2, 2, 3], [1, 3, 0], [1, 2]), "stores 3 positions, but 2 values"),
        (levels([0, 2, 2, 3], [1, 3, 0], [1, 2, np.inf]), "not finite"),
        (levels([0.0, 2, 2, 3], [1, 3, 0], [1, 2, 3]), "not integer"),
        (lambda: StoredTensor.from_levels(CSR, [None], []), "has 2 levels, found 1"),
        (lambda: StoredTensor.from_levels(CSR, [None, None], []), "is compressed, but the data"),
        (lambda: StoredTensor.from_dense(CSR, ARRAY).with_mode_order((0, 0)), "not a permutation"),
        (coo([0, 2], [0, 2], [1], [1, 2]), "level 1 .*crd has shape 1, the level above has 2"),
        (coo([0, 2], [0, 2], [1, 4], [1, 2]), r"level 1 .*coordinate 4 at position 1 is outside"),
        (coo([0, 2], [0, 3], [1, 2], [1, 2]), r"level 0 .*coordinate 3 at position 1 is outside"),
        (coo([0, 2], [2, 2], [1, 1], [1, 2]), "coordinate 2,1 at position 1 is given twice"),
        (coo([0, 2], [2, 2], [1, 0], [1, 2]), "coordinate 2,0 at position 1 follows 2,1"),
        (coo([0, 2], [2, 1], [1, 2], [1, 2]), "coordinate 1,2 at position 1 follows 2,1"),
        (lambda: StoredTensor.from_levels(COO, [([0, 0], []), None], []), "is singleton, but the"),
        (
            lambda: StoredTensor.from_dense(Tensor("A", (3, 4), Format((D, S), (0, 1))), ARRAY),
            r"level 1 \(dimension 1\): position 0 of the dense level above has 2 elements",
        ),
        (
            lambda: StoredTensor.from_dense(Tensor("A", (3, 4), Format((S, C), (0, 1))), ARRAY),
            "has a singleton level outermost",
        ),
    ],
)
def test_refused(build: Callable[[], StoredTensor], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        build()
    assert "A" in str(caught.value)
    assert caught.value.hint
    assert "\n" not in str(caught.value)
