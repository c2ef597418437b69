"""Matrix Market: as SciPy reads and writes it, every kind, and what is wrong with others."""

from __future__ import annotations

import gzip
import itertools
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import read_graph, read_matrix_market, read_tensor
from fuseloom.program.formats import Format
from fuseloom.program.types import Tensor
from tests.frontends.files import dense, matrix
from tests.frontends.files.written import written

REAL = "%%MatrixMarket matrix coordinate real "
HEAD = REAL + "general\n"
ARRAY = "%%MatrixMarket matrix array real "


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
        (HEAD + "2 x 1\n1 1 1\n", "line 2.*3 integers"),
        (HEAD, "line of sizes"),
        (HEAD + "2 2 1000000000000000\n1 1 1\n", "line 2.*claims 1,000,000,000,000,000 elements"),
        (HEAD + "2 5000000000 1\n1 1 1\n", "shape 2x5000000000.*2,147,483,647"),
        (HEAD + "2 2 2\n1 1 1\n", "has 1 element, its header says 2"),
        (HEAD + "2 2 1\n1 1 1\n2 2 1\n", "has more than 1 row.*its header says 1"),
        (HEAD + "2 2 2\n1 1 1\n3 1 1\n", "line 4.*field 1, a coordinate, is 3.*1..2"),
        (HEAD + "2 2 1\n1 0 1\n", "line 3.*field 2, a coordinate, is 0"),
        (HEAD + "2 2 1\n1 1.5 1\n", "line 3.*field 2, '1.5', is not an integer"),
        (HEAD + "2 2 2\n1 1 1\n1 1\n", "line 4.*2 fields, expected 3"),
        (HEAD + "2 2 1\n1 1 one\n", "line 3.*field 3, 'one', is not a number"),
        (HEAD + "2 2 1\n1 1 1_0\n", "line 3.*'1_0', is not a number"),
        (HEAD + "2 2 1\n1 1 1,5\n", "line 3.*'1,5', is not a number"),
        (HEAD.replace("real", "integer") + "2 2 1\n1 1 inf\n", "line 3.*inf in a file of integers"),
        (
            HEAD.replace("general", "symmetric") + "2 3 2\n1 1 1\n1 3 1\n",
            r"line 4.*mirror image of element \(1, 3\) is outside of 2x3",
        ),
        (ARRAY + "skew-symmetric\n3 1\n0\n5\n", r"line 4.*element \(3, 1\) is outside of 3x1"),
        (ARRAY + "symmetric\n2 2\n1\n2\n3\n4\n", "has more than 3 rows"),
        (ARRAY + "general\n2 2\n1\n2\n3\n", "has 3 elements, its header says 4"),
    ],
)
def test_faults_of_matrix_market(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_tensor(written(tmp_path, "a.mtx", text))
    assert raised.value.hint


FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
DRAWN = 12
"""Files of a kind."""


def drawn(chance: random.Random, layout: str, field: str, symmetry: str) -> str:
    """A file that keeps to the format, with elements given twice and odd white space."""
    rows = chance.randint(2, 5)
    columns = rows if symmetry != "general" else chance.randint(1, 5)

    def gap() -> str:
        return chance.choice([" ", "  ", "\t", " \t "])

    def value() -> str:
        if "integer" in field:
            return str(chance.randint(0 if field.startswith("u") else -9, 9))
        if chance.random() < 0.05:
            return chance.choice(["nan", "inf", "-Infinity", "1e999"])
        return chance.choice(["%g", "%.17g", "%.3E", "%f"]) % chance.uniform(-9, 9)

    if layout == "array":
        off = rows * (rows - 1) // 2
        count = {"general": rows * columns, "skew-symmetric": off}.get(symmetry, off + rows)
        entries = [value() + chance.choice(["", "", " "]) for _ in range(count)]
        sizes = [rows, columns]
    else:
        entries = []
        for _ in range(chance.randint(0, 12)):
            place = f"{chance.randint(1, rows)}{gap()}{chance.randint(1, columns)}"
            more = chance.choice([""] * 9 + [gap() + "7"])  # passed over
            entries.append(place + (more if field == "pattern" else gap() + value() + more))
        sizes = [rows, columns, len(entries)]
    banner = chance.choice(["%%MatrixMarket", "%MatrixMarket", " %%MatrixMarket"])
    words = [w if chance.random() < 0.7 else w.upper() for w in (layout, field, symmetry)]
    head = [gap().join([banner, "matrix", *words])]
    head += chance.choice([[], ["% a comment", "%"], ["", "  % indented", "  "]])
    body = [chance.choice(["", "  "]) + gap().join(map(str, sizes)), *entries]
    end = chance.choice(["\n", "\n\n \n"])  # without one, SciPy reads beyond the end of some
    return chance.choice(["\n", "\r\n"]).join([*head, *body]) + end


@pytest.mark.parametrize(
    ("layout", "field", "symmetry"),
    [
        kind
        for kind in itertools.product(("coordinate", "array"), FIELDS, SYMMETRIES)
        if kind[:2] != ("array", "pattern")
        and not (kind[1] == "unsigned-integer" and kind[2] == "skew-symmetric")
    ],
)
def test_every_kind_is_read_as_scipy_reads_it(
    tmp_path: Path, layout: str, field: str, symmetry: str
) -> None:
    chance = random.Random(f"{layout} {field} {symmetry}")
    for _ in range(DRAWN):
        path = written(tmp_path, "a.mtx", drawn(chance, layout, field, symmetry))
        expected = scipy.io.mmread(path)
        if scipy.sparse.issparse(expected):
            expected = expected.toarray()
        np.testing.assert_array_equal(dense(read_matrix_market(path)), expected)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "2 3 6\n1 1 nan\n1 2 inf\n1 3 -Infinity\n2 1 NaN(7)\n2 2 1e999\n2 3 1\n",
        HEAD + "1 2 4\n1 1 inf\n1 1 -inf\n1 2 1e308\n1 2 1e308\n",
        HEAD + "0 3 0\n",
        HEAD + "3 0 0\n",
        HEAD + "0 0 0\n",
        REAL + "symmetric\n0 0 0\n",
        REAL + "symmetric\n2 4 2\n2 1 3\n1 1 nan\n",
        REAL + "skew-symmetric\n4 2 2\n2 1 3\n1 2 4\n",
        ARRAY + "general\n3 0\n",
        ARRAY + "general\n2 1\nnan\n-inf\n",
        ARRAY + "symmetric\n2 4\n1\n2\n3\n",
        ARRAY + "symmetric\n3 3\n1\n2\n3\n4\n",
        ARRAY + "symmetric\n3 2\n1\n2\n",
        ARRAY + "skew-symmetric\n3 3\n",
    ],
)
def test_what_no_program_holds_is_read_as_scipy_reads_it(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "a.mtx", text)
    expected = scipy.io.mmread(path)
    if scipy.sparse.issparse(expected):
        expected = expected.toarray()
    tensor = read_matrix_market(path)
    assert tensor.shape == expected.shape
    np.testing.assert_array_equal(tensor.to_scipy().toarray(), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "2 2 1\n1 1 nan\n", r"value nan at \[0\] is not finite in float32"),
        (HEAD + "0 0 0\n", "tensor A has shape 2x2, .*a.mtx has 0x0"),
    ],
)
def test_programs_refuse_them(tmp_path: Path, text: str, message: str) -> None:
    tensor = read_matrix_market(written(tmp_path, "a.mtx", text))
    with pytest.raises(DataError, match=message) as raised:
        tensor.store(Tensor("A", (2, 2), Format.compressed(2)))
    assert raised.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "2 2 1\n1 1 inf\n", "a value is not finite"),
        (HEAD + "2 2 1\n1 1 1e39\n", "too large for float32"),
        (HEAD + "0 0 0\n", "a has 0 nodes"),
    ],
)
def test_graphs_refuse_them(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_graph(written(tmp_path, "a.mtx", text))
    assert raised.value.hint


def test_an_array_that_ends_early_is_told(tmp_path: Path) -> None:
    text = ARRAY + "symmetric\n2 2\n1\n2\n"
    (note,) = read_matrix_market(written(tmp_path, "a.mtx", text)).notes
    assert note == ("the file lists 2 of the 3 elements of a symmetric array: the others are 0")


@pytest.mark.parametrize(
    ("text", "expected", "note"),
    [
        (
            "general\n2 2 3\n1 1 1\n2 1 1\n1 1 2\n",
            [[3, 0], [1, 0]],
            "1 element repeats one that was given before: the values of the same place are added",
        ),
        (
            "skew-symmetric\n2 2 2\n1 1 4\n2 1 1\n",
            [[4, -1], [1, 0]],
            "a skew-symmetric file lists its diagonal, on line 3: kept",
        ),
        (
            "general\n1 2 2\n1 1 1 9\n1 2 2 9 9\n",
            [[1, 2]],
            "fields after the first 3 are not read, on 2 lines, the first is 3",
        ),
        (
            "general\n1 2 2\n1 1 1.5D+1\n1 2 -2d-1\n",
            [[15, -0.2]],
            "exponents after D, as Fortran writes them, are powers of ten, on 2 lines, "
            "the first is 3",
        ),
        ("general\n1 1 1\n1 1 0.1\n", [[0.1]], "the value is rounded to float32"),
        (
            "general\n1 2 2\n1 1 0.1\n1 2 1e-60\n",
            [[0.1, 1e-60]],
            "2 of 2 values are rounded to float32; 1 of them to 0, which is nearest",
        ),
    ],
)
def test_what_became_of_a_file_is_told(
    tmp_path: Path, text: str, expected: list[list[float]], note: str
) -> None:
    tensor = read_matrix_market(written(tmp_path, "a.mtx", REAL + text))
    np.testing.assert_array_equal(dense(tensor), expected)
    assert note in tensor.notes


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEAD + "1 2 1\n1 2 5\n",
        "\n" + HEAD + "1 2 1\n1 2 5\n",
        HEAD + "1 2 1\n% between\n1 2 +5\n% after\n",
        (HEAD + "1 2 1\n1 2 5\n").replace("\n", "\r"),
        (HEAD + "1 2 1\n1 2 5\n").upper(),
    ],
    ids=["byte order mark", "blank line", "comments", "CR", "upper case"],
)
def test_what_scipy_refuses_and_is_clear(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_bytes(text.encode())
    np.testing.assert_array_equal(dense(read_matrix_market(path)), [[0, 5]])
    with pytest.raises(ValueError, match=r"Line|banner|header"):
        scipy.io.mmread(path)
