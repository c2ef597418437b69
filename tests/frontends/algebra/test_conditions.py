"""Comparisons, conditions and choices against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import Op
from tests.frontends.mlir.files import generic, result

FLAT, MAP = "tensor<3x4x{0}>", "(i, j) -> (i, j)"
CSR = "#sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>"
RNG = np.random.default_rng(4)
A = RNG.integers(-2, 3, (3, 4)).astype(np.float32)
B = RNG.integers(-2, 3, (3, 4)).astype(np.float32)
COMPARED: dict[str, Any] = {
    "eq": A == B, "ne": A != B, "lt": A < B, "le": A <= B, "gt": A > B, "ge": A >= B,
}  # fmt: skip


@pytest.mark.parametrize("word", COMPARED)
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_comparisons_of_dense_tensors(word: str, element: str) -> None:
    type_ = FLAT.format(element)
    ordered = "" if word in ("eq", "ne") else "s"
    predicate = f"cmpf {'u' if word == 'ne' else 'o'}{word}" if element == "f32" else (
        f"cmpi {ordered}{word}"
    )  # fmt: skip
    body = f"%c = arith.{predicate}, %a, %b : {element}\n%y = arith.uitofp %c : i1 to f32"
    text = generic([(type_, MAP)] * 2, (FLAT.format("f32"), MAP), "pp", body)
    np.testing.assert_array_equal(result(from_mlir(text), {"A": A, "B": B}), COMPARED[word])


def test_numbers_that_hardly_differ_are_compared() -> None:
    """The smallest difference of float32 is one, and so is a large one."""
    a = np.array([[1.0, 2.0**-126, 3e38, 0.0]] * 3, np.float32)
    b = np.array([[np.nextafter(np.float32(1), np.float32(2)), 0.0, -3e38, 0.0]] * 3, np.float32)
    for word, wanted in (("one", [1, 1, 1, 0]), ("ogt", [0, 1, 1, 0]), ("olt", [1, 0, 0, 0])):
        body = f"%c = arith.cmpf {word}, %a, %b : f32\n%y = arith.uitofp %c : i1 to f32"
        text = generic([(FLAT.format("f32"), MAP)] * 2, (FLAT.format("f32"), MAP), "pp", body)
        np.testing.assert_array_equal(result(from_mlir(text), {"A": a, "B": b}), [wanted] * 3)


TIMES = "%n = arith.mulf %a, %k : f32\n"
CHOSEN: dict[str, Any] = {
    TIMES + "%c = arith.cmpf ogt, %a, %zero : f32\n%y = arith.select %c, %a, %n : f32": np.where(
        A > 0, A, 0.25 * A
    ),
    TIMES + "%c = arith.cmpf ole, %a, %b : f32\n%y = arith.select %c, %n, %b : f32": np.where(
        A <= B, 0.25 * A, B
    ),
    "%c = arith.cmpf oge, %a, %zero : f32\n%y = arith.select %c, %k, %zero : f32": np.where(
        A >= 0, 0.25, 0
    ),
    "%c = arith.cmpf oge, %a, %b : f32\n%y = arith.select %c, %k, %a : f32": np.where(
        A >= B, 0.25, A
    ),
    "%c = arith.cmpf oeq, %a, %b : f32\n%y = arith.select %c, %a, %k : f32": np.where(
        A == B, A, 0.25
    ),
    "%c = arith.cmpf ogt, %a, %zero : f32\n%d = arith.cmpf ogt, %b, %zero : f32\n"
    "%e = arith.andi %c, %d : i1\n%y = arith.select %e, %a, %b : f32": np.where(
        (A > 0) & (B > 0), A, B
    ),
    "%c = arith.cmpf ogt, %a, %zero : f32\n%d = arith.cmpf ogt, %b, %zero : f32\n"
    "%e = arith.xori %c, %d : i1\n%t = arith.constant true\n%f = arith.xori %e, %t : i1\n"
    "%y = arith.select %f, %a, %b : f32": np.where((A > 0) ^ (B > 0), B, A),
    "%c = arith.cmpf ogt, %a, %zero : f32\n%d = arith.cmpf ogt, %b, %zero : f32\n"
    "%e = arith.ori %c, %d : i1\n%y = arith.uitofp %e : i1 to f32": (A > 0) | (B > 0),
}
NUMBERS = "%zero = arith.constant 0.0 : f32\n%k = arith.constant 0.25 : f32"


@pytest.mark.parametrize("body", CHOSEN)
def test_choices(body: str) -> None:
    text = generic([(FLAT.format("f32"), MAP)] * 2, (FLAT.format("f32"), MAP), "pp", body,
                   before=NUMBERS)  # fmt: skip
    np.testing.assert_allclose(result(from_mlir(text), {"A": A, "B": B}), CHOSEN[body], rtol=1e-6)


@pytest.mark.parametrize("word", ["olt", "ogt", "one"])
def test_strict_comparisons_of_sparse_tensors_are_those_of_dense_ones(word: str) -> None:
    sparse = f"tensor<3x4xf32, {CSR}>"
    body = f"%c = arith.cmpf {word}, %a, %b : f32\n%y = arith.select %c, %a, %b : f32"
    text = generic(
        [(sparse, MAP), (FLAT.format("f32"), MAP)], (FLAT.format("f32"), MAP), "pp", body
    )
    holds = {"olt": A < B, "ogt": A > B, "one": A != B}[word]
    given = from_mlir(text)
    if word == "one":
        assert not given.notes
        np.testing.assert_array_equal(result(given, {"A": A, "B": B}), np.where(holds, A, B))
    else:  # a maximum, which skips what is absent
        assert any("elements that are stored" in note for note in given.notes)


def test_loose_comparisons_of_sparse_tensors_are_told() -> None:
    sparse = f"tensor<3x4xf32, {CSR}>"
    body = "%c = arith.cmpf oge, %a, %b : f32\n%y = arith.uitofp %c : i1 to f32"
    given = from_mlir(generic([(sparse, MAP)] * 2, (sparse, MAP), "pp", body))
    assert any("elements that are stored" in note for note in given.notes)
    stored = (A != 0) | (B != 0)
    np.testing.assert_array_equal(result(given, {"A": A, "B": B}), np.where(stored, A >= B, 0))


def test_a_mask_of_bits_chooses_between_sparse_tensors() -> None:
    sparse = f"tensor<3x4xf32, {CSR}>"
    text = generic([("tensor<3x4xi1>", MAP), (sparse, MAP), (sparse, MAP)], (sparse, MAP), "pp",
                   "%y = arith.select %a, %b, %c : f32")  # fmt: skip
    mask = RNG.integers(0, 2, (3, 4)).astype(np.float32)
    found = result(from_mlir(text), {"A": mask, "B": A, "C": B})
    np.testing.assert_array_equal(found, np.where(mask, A, B))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%c = arith.cmpf ord, %a, %b : f32\n%y = arith.select %c, %a, %b : f32",
         "comparison 'ord'"),
        ("%i = arith.constant 0x7FC00000 : f32\n%c = arith.cmpf ogt, %a, %b : f32\n"
         "%y = arith.select %c, %i, %b : f32", "no number"),
    ],
)  # fmt: skip
def test_refusals(body: str, message: str) -> None:
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(generic([(FLAT.format("f32"), MAP)] * 2, (FLAT.format("f32"), MAP), "pp", body))
    assert caught.value.line
    assert caught.value.hint


@pytest.mark.parametrize("factor", [0.25, 1.0, 3.0, -2.0])
@pytest.mark.parametrize(
    "choice",
    [
        "%c = arith.cmpf ogt, %a, %zero : f32\n%y = arith.select %c, %a, %n : f32",
        "%c = arith.cmpf oge, %a, %zero : f32\n%y = arith.select %c, %a, %n : f32",
        "%c = arith.cmpf olt, %a, %zero : f32\n%y = arith.select %c, %n, %a : f32",
    ],
)
def test_a_leaky_relu_is_a_maximum_or_a_minimum(choice: str, factor: float) -> None:
    body = (
        f"%k = arith.constant {factor} : f32\n%zero = arith.constant 0.0 : f32\n"
        f"%n = arith.mulf %a, %k : f32\n{choice}"
    )
    imported = from_mlir(
        generic([(FLAT.format("f32"), MAP)], (FLAT.format("f32"), MAP), "pp", body)
    )
    np.testing.assert_allclose(result(imported, {"A": A}), np.where(A > 0, A, factor * A))
    signs = [s for s in imported.program.statements if s.op is Op.SIGN]
    assert bool(signs) == (factor < 0)
