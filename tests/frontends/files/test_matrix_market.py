"""Matrix Market: as SciPy writes it, and what is wrong with others."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from engine.errors import DataError
from engine.frontends.files import (
    read_matrix_market,
    read_tensor,
)
from tests.frontends.files import dense, matrix
from tests.frontends.files.written import written

HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize("seed", range(4))
def test_matrix_market_as_scipy_writes_it(tmp_path: Path, seed: int) -> None:
    given = matrix(seed)
    scipy.io.mmwrite(tmp_path / "a.mtx", given)
    scipy.io.mmwrite(tmp_path / "b.mtx", given.toarray())
    for name in ("a.mtx", "b.mtx"):
        np.testing.assert_array_equal(dense(read_tensor(tmp_path / name)), given.toarray())
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    assert read_tensor(tmp_path / "a.mtx.gz").shape == (9, 7)


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
def test_symmetric_matrices_are_unfolded(tmp_path: Path, symmetry: str, layout: str) -> None:
    square = matrix(2, (6, 6)).toarray()
    whole = square + square.T if symmetry == "symmetric" else square - square.T
    given = scipy.sparse.coo_array(whole) if layout == "sparse" else whole
    scipy.io.mmwrite(tmp_path / "a.mtx", given, symmetry=symmetry)
    assert symmetry in (tmp_path / "a.mtx").read_text().splitlines()[0]
    np.testing.assert_array_equal(dense(read_matrix_market(tmp_path / "a.mtx")), whole)


def test_patterns_and_comments(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix coordinate pattern general\n% by hand\n\n2 3 2\n%\n1 3\n2 1\n"
    tensor = read_tensor(written(tmp_path, "a.mtx", text))
    np.testing.assert_array_equal(dense(tensor), [[0, 0, 1], [1, 0, 0]])
    assert tensor.density == 2 / 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1.*no header of a Matrix Market file"),
        ("1 2 3\n", "line 1.*no header"),
        (HEAD.replace("real", "complex") + "1 1 1\n1 1 1 0\n", "line 1.*complex values are not"),
        (HEAD.replace("real", "boolean") + "1 1 0\n", "'boolean' is not supported"),
        (HEAD.replace("matrix", "vector") + "1 1 0\n", "a vector is not read"),
        (HEAD.replace("real", "integer") + "2 2 1\n1 1 1.5\n", "line 3.*1.5 in a file of integers"),
        (
            HEAD.replace("real", "unsigned-integer") + "2 2 1\n1 1 -1\n",
            "line 3.*-1 in a file of unsigned integers",
        ),
        (HEAD + "2 x 1\n1 1 1\n", "line 2.*3 whole numbers"),
        (HEAD, "line of sizes"),
        (HEAD + "2 2 1000000000000000\n1 1 1\n", "line 2.*claims 1,000,000,000,000,000 elements"),
        (HEAD + "2 5000000000 1\n1 1 1\n", "shape 2x5000000000.*2,147,483,647"),
        (HEAD + "0 2 0\n", "shape 0x2"),
        (HEAD + "2 2 2\n1 1 1\n", "has 1 elements, its header says 2"),
        (HEAD + "2 2 1\n1 1 1\n2 2 1\n", "has more than 1 rows.*its header says 1"),
        (HEAD + "2 2 2\n1 1 1\n3 1 1\n", "line 4.*field 1, a coordinate, is 3.*1..2"),
        (HEAD + "2 2 1\n1 0 1\n", "line 3.*field 2, a coordinate, is 0"),
        (HEAD + "2 2 1\n1 1.5 1\n", "line 3.*field 2, '1.5', is not a whole number"),
        (HEAD + "2 2 2\n1 1 1\n1 1\n", "line 4.*2 fields, expected 3"),
        (HEAD + "2 2 1\n1 1 one\n", "line 3.*field 3, 'one', is not a number"),
        (HEAD + "2 2 1\n1 1 nan\n", "line 3.*field 3, 'nan', is not finite"),
        (HEAD + "2 2 1\n1 1 1e999\n", "line 3.*not finite"),
        (HEAD + "2 2 1\n1 1 1_0\n", "line 3.*'1_0', is not a number"),
        (HEAD.replace("general", "symmetric") + "2 3 0\n", "symmetric matrix of 2x3"),
    ],
)
def test_faults_of_matrix_market(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_tensor(written(tmp_path, "a.mtx", text))
    assert raised.value.hint
