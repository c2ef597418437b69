"""Matrix Market files of every kind and many layouts, drawn at random: as SciPy reads them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from engine.frontends.files import read_matrix_market
from tests.frontends.files import dense
from tests.frontends.files.written import written

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


HEAD = "%%MatrixMarket matrix coordinate real "


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
    tensor = read_matrix_market(written(tmp_path, "a.mtx", HEAD + text))
    np.testing.assert_array_equal(dense(tensor), expected)
    assert note in tensor.notes


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEAD + "general\n1 2 1\n1 2 5\n",
        "\n" + HEAD + "general\n1 2 1\n1 2 5\n",
        HEAD + "general\n1 2 1\n% between\n1 2 +5\n% after\n",
        (HEAD + "general\n1 2 1\n1 2 5\n").replace("\n", "\r"),
        (HEAD + "general\n1 2 1\n1 2 5\n").upper(),
    ],
    ids=["byte order mark", "blank line", "comments", "CR", "upper case"],
)
def test_what_scipy_refuses_and_is_clear(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_bytes(text.encode())
    np.testing.assert_array_equal(dense(read_matrix_market(path)), [[0, 5]])
    with pytest.raises(ValueError, match=r"Line|banner|header"):
        scipy.io.mmread(path)
