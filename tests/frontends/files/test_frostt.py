"""FROSTT's text of tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from engine.frontends.files import (
    read_frostt,
    read_tensor,
)
from tests.frontends.files import dense
from tests.frontends.files.written import written


@pytest.mark.parametrize("rank", [1, 2, 3, 5])
def test_frostt(tmp_path: Path, rank: int) -> None:
    rng = np.random.default_rng(rank)
    given = np.where(rng.random((4,) * rank) < 0.4, rng.integers(1, 9, (4,) * rank), 0) / 2.0
    given[(3,) * rank] = 1.0
    lines = [" ".join(map(str, [*(at + 1), given[tuple(at)]])) for at in np.argwhere(given)]
    rng.shuffle(lines)
    path = written(tmp_path, "t.tns", "# a comment\n" + "\n".join(lines))
    np.testing.assert_array_equal(dense(read_tensor(path)), given)
    assert read_frostt(path, (9,) * rank).shape == (9,) * rank
    with pytest.raises(DataError, match=r"is 4, not a whole number in 1\.\.3"):
        read_frostt(path, (3,) * rank)
    with pytest.raises(DataError, match="has rank"):
        read_frostt(path, (3,) * (rank + 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no tensor of rank"),
        ("5\n", "no tensor of rank"),
        ("1 1 1\n1 2 1 1\n", "line 2.*4 fields, expected 3"),
        ("99999999999999999 1 1\n", "line 1.*field 1"),
        ("1 2 1\n1 2 3\n", "line 2.*given twice"),
        (" ".join(["1"] * 20), "no tensor of rank"),
    ],
)
def test_faults_of_frostt(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tensor(written(tmp_path, "t.tns", text))
