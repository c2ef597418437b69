"""Matrix Market, FROSTT, SciPy's npz and edge lists: against SciPy's own writers, and by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from engine.errors import DataError
from engine.frontends.files import (
    Duplicates,
    read_edges,
    read_frostt,
    read_matrix_market,
    read_scipy_npz,
    read_tensor,
)
from engine.program import StoredTensor, parse
from tests.frontends.files import dense, matrix

HEAD = "%%MatrixMarket matrix coordinate real general\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


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
        (HEAD.replace("real", "complex") + "1 1 1\n1 1 1 0\n", "line 1.*'complex'.*supported"),
        (HEAD.replace("general", "hermitian") + "1 1 0\n", "'hermitian' is not supported"),
        (HEAD + "2 x 1\n1 1 1\n", "line 2.*3 whole numbers"),
        (HEAD, "line of sizes"),
        (HEAD + "2 2 1000000000000000\n1 1 1\n", "line 2.*claims 1,000,000,000,000,000 elements"),
        (HEAD + "2 5000000000 1\n1 1 1\n", "shape 2x5000000000.*2,147,483,647"),
        (HEAD + "0 2 0\n", "shape 0x2"),
        (HEAD + "2 2 2\n1 1 1\n", "has 1 elements, its header says 2"),
        (HEAD + "2 2 1\n1 1 1\n2 2 1\n", "has 2 or more elements, its header says 1"),
        (HEAD + "2 2 2\n1 1 1\n3 1 1\n", "line 4.*field 1, a coordinate, is 3.*1..2"),
        (HEAD + "2 2 1\n1 0 1\n", "line 3.*field 2, a coordinate, is 0"),
        (HEAD + "2 2 1\n1 1.5 1\n", "line 3.*field 2, a coordinate, is 1.5"),
        (HEAD + "2 2 2\n1 1 1\n1 1\n", "line 4.*2 fields, expected 3"),
        (HEAD + "2 2 1\n1 1 one\n", "line 3.*field 3, 'one', is not a number"),
        (HEAD + "2 2 1\n1 1 nan\n", "line 3.*field 3, 'nan', is not finite"),
        (HEAD + "2 2 1\n1 1 1e999\n", "line 3.*not finite"),
        (HEAD + "2 2 1\n1 1 1_0\n", "line 3.*'1_0', is not a number"),
        (HEAD + "2 2 3\n1 1 1\n2 1 1\n1 1 2\n", r"line 5.*element \[0,0\].*given twice"),
        (
            HEAD.replace("general", "symmetric") + "2 2 2\n1 2 1\n2 1 1\n",
            r"line [34].*\[.*\].*given twice",
        ),
        (HEAD.replace("general", "symmetric") + "2 3 0\n", "symmetric matrix of 2x3"),
        (
            HEAD.replace("general", "skew-symmetric") + "2 2 1\n1 1 1\n",
            "line 3.*lists a diagonal element",
        ),
    ],
)
def test_faults_of_matrix_market(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_tensor(written(tmp_path, "a.mtx", text))
    assert raised.value.hint


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


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz_as_scipy_writes_it(tmp_path: Path, kind: str) -> None:
    given = matrix(5).asformat(kind)
    scipy.sparse.save_npz(tmp_path / "a.npz", given)
    tensor = read_tensor(tmp_path / "a.npz")
    np.testing.assert_array_equal(dense(tensor), given.toarray())
    np.testing.assert_array_equal(tensor.to_scipy().toarray(), given.toarray())


def test_npz_adds_what_is_given_twice(tmp_path: Path) -> None:
    twice = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 1, 0], [1, 1, 1])), shape=(2, 2))
    scipy.sparse.save_npz(tmp_path / "a.npz", twice)
    np.testing.assert_array_equal(dense(read_scipy_npz(tmp_path / "a.npz")), [[0, 5], [0, 2]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": np.array("dia")}, "no matrix in csr, csc, coo"),
        ({"shape": np.array([3])}, "has 1 sizes"),
        ({"shape": np.array([9, 2**40])}, "every size is"),
        ({"shape": np.array([8, 7])}, "indptr has 10 entries"),
        ({"shape": np.array([9, 2])}, "outside 9x2"),
        ({"indices": np.array([0.5])}, "whole numbers is needed"),
        ({"indices": np.array([0])}, "there are 1 indices"),
        ({"data": np.array(["a"])}, "real numbers is needed"),
        ({"indptr": np.arange(10)[::-1]}, "does not rise"),
        ({"indptr": None}, "no array 'indptr'"),
    ],
)
def test_faults_of_npz(tmp_path: Path, change: dict[str, object], message: str) -> None:
    given = matrix(5)
    arrays = {
        "format": np.array("csr"),
        "shape": np.array(given.shape),
        "data": given.data,
        "indices": given.indices,
        "indptr": given.indptr,
    } | change
    np.savez(tmp_path / "a.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(DataError, match=message):
        read_tensor(tmp_path / "a.npz")


@pytest.mark.parametrize(("name", "mark"), [("e.csv", ","), ("e.tsv", "\t"), ("e.txt", " ")])
def test_edge_lists(tmp_path: Path, name: str, mark: str) -> None:
    lines = ["# from to weight", "0 1 2.5", "", "3 0 1", "% other", "1 1 0.5"]
    path = written(tmp_path, name, "\n".join(lines).replace(" ", mark).replace("#\t", "# "))
    expected = np.zeros((4, 4))
    expected[[0, 3, 1], [1, 0, 1]] = 2.5, 1, 0.5
    np.testing.assert_array_equal(dense(read_tensor(path)), expected)
    np.testing.assert_array_equal(dense(read_edges(path, weighted=False)), expected != 0)
    both = dense(read_edges(path, nodes=5, symmetric=True))
    np.testing.assert_array_equal(both[:4, :4], expected + expected.T - np.diag(np.diag(expected)))
    assert both.shape == (5, 5)


def test_headings_and_repeated_edges(tmp_path: Path) -> None:
    path = written(tmp_path, "e.csv", "source,target,w\n0,1,2\n1,0,3\n0,1,4\n")
    for duplicates, value in [(Duplicates.FIRST, 2), (Duplicates.SUM, 6)]:
        np.testing.assert_array_equal(
            dense(read_edges(path, duplicates=duplicates)), [[0, value], [3, 0]]
        )
    with pytest.raises(DataError, match=r"line 4.*\[0,1\].*given twice"):
        read_edges(path, duplicates=Duplicates.REFUSE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no edges"),
        ("from,to\n", "lists no edges"),
        ("0,1,2,3\n", "4 fields per edge"),
        ("0,1\n0;1\n", "line 2.*1 fields, expected 2"),
        ("0,-1\n", "line 1.*field 2, a node, is -1"),
        ("0,999999999999\n", "line 1.*field 2"),
        ("0,1,inf\n", "line 1.*not finite"),
    ],
)
def test_faults_of_edge_lists(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tensor(written(tmp_path, "e.csv", text))


def test_formats_by_content(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix(1))
    (tmp_path / "matrix").write_bytes((tmp_path / "a.mtx").read_bytes())
    assert read_tensor(tmp_path / "matrix").shape == (9, 7)
    with open(tmp_path / "packed", "wb") as file:
        scipy.sparse.save_npz(file, matrix(1))
    assert read_tensor(tmp_path / "packed").shape == (9, 7)
    for name, message in [("what.xyz", "format of .* is not known"), ("none.mtx", "no file")]:
        if name == "what.xyz":
            written(tmp_path, name, "1 2 3")
        with pytest.raises(DataError, match=message):
            read_tensor(tmp_path / name)


def test_tensors_are_stored_as_declared(tmp_path: Path) -> None:
    given = matrix(3)
    scipy.io.mmwrite(tmp_path / "a.mtx", given)
    read = read_tensor(tmp_path / "a.mtx")
    for fmt in ("dcsr", "csr", "dense", "csc"):
        tensor = parse(f"A: 9x7 {fmt}\ny[i] = A[i,j]").tensor("A")
        expected = StoredTensor.from_dense(tensor, given.toarray())
        assert read.store(tensor).content_hash() == expected.content_hash()
    with pytest.raises(DataError, match=r"A has shape 7x9, .*a.mtx has 9x7"):
        read.store(parse("A: 7x9 dcsr\ny[i] = A[i,j]").tensor("A"))
