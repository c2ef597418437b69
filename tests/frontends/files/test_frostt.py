"""FROSTT's text of tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
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
    with pytest.raises(DataError, match=r"is 4, not an integer in 1\.\.3"):
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
        ("0 2 1\n-1 2 3\n", "line 2.*field 1, a coordinate, is -1"),
        ("2\n2 2\n1 2 3\n3 1 1\n", r"line 4.*is 3, not an integer in 1\.\.2"),
        ("2\n2 2\n5\n1 2 3\n2 1 1\n", "has 2 elements, its heading says 5"),
        ("2 7\n2 2\n1 2 3\n2 1 1\n", "has 2 elements, its heading says 7"),
        ("2\n2 99999999999\n1 2 3\n", "shape 2x99999999999"),
        ("2\n0 2\n1 2 3\n", "shape 0x2"),
        ("1 1.0 1\n", "line 1.*'1.0', is not an integer"),
        (" ".join(["1"] * 20), "no tensor of rank"),
    ],
)
def test_faults_of_frostt(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tensor(written(tmp_path, "t.tns", text))


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("", ""),
        ("2\n3 4\n", "heading gives the shape 3x4"),
        ("% ParTI\n2\n3 4\n3\n", "heading gives the shape 3x4"),
        ("sptensor\n2\n3 4\n3\n", "heading gives the shape 3x4"),
        ("# extended FROSTT format\n2 3\n3 4\n", "heading gives the shape 3x4"),
        ("3\t4\n\n", "heading gives the shape 3x4"),
    ],
)
def test_headings_and_elements_given_twice(tmp_path: Path, heading: str, told: str) -> None:
    text = heading + "1 2 0.5\n2 1 1\n1 2 2\n"
    tensor = read_tensor(written(tmp_path, "t.tns", text))
    expected = np.zeros((3, 4) if heading else (2, 2))
    expected[0, 1], expected[1, 0] = 2.5, 1
    np.testing.assert_array_equal(dense(tensor), expected)
    assert "1 element repeats one that was given before: the values" in tensor.notes[-1]
    assert told in " ".join(tensor.notes)
    assert dense(read_frostt(tmp_path / "t.tns", (5, 5))).sum() == 3.5


def test_coordinates_that_count_from_0(tmp_path: Path) -> None:
    tensor = read_tensor(written(tmp_path, "t.tns", "0 2 1\n1 1 2\n"))
    np.testing.assert_array_equal(dense(tensor), [[0, 0, 1], [0, 2, 0]])
    assert tensor.notes == ("coordinates count from 0, as one of them is 0",)
    assert read_frostt(written(tmp_path, "u.tns", "1 2 1\n"), base=0).shape == (2, 3)
    with pytest.raises(DataError, match=r"line 1.*is 0, not an integer in 1"):
        read_frostt(tmp_path / "t.tns", base=1)
