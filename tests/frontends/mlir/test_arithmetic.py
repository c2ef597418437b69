"""Integers, indices and changes of type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import evaluate

from .files import generic, result

MAP = "(i, j) -> (i, j)"
I32, F32 = "tensor<3x4xi32>", "tensor<3x4xf32>"
A = np.arange(-5, 7).reshape(3, 4).astype(np.float32)
ROW, COLUMN = np.indices((3, 4))
PLACES = "%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n"
BODIES: dict[str, Any] = {
    "%y = arith.addi %a, %k : i32": A + 3,
    "%y = arith.subi %k, %a : i32": 3 - A,
    "%y = arith.muli %a, %a : i32": A * A,
    "%y = arith.maxsi %a, %k : i32": np.maximum(A, 3),
    "%y = arith.minsi %a, %k : i32": np.minimum(A, 3),
    "%y = arith.shli %a, %k : i32": A * 8,
    "%y = arith.shrsi %a, %k : i32": A // 8,
    "%y = arith.divsi %a, %k : i32": np.trunc(A / 3),
    "%y = arith.divsi %k, %v : i32": np.trunc(3 / (A + 40)),
    "%y = arith.floordivsi %a, %k : i32": A // 3,
    "%y = arith.ceildivsi %a, %k : i32": -(-A // 3),
    "%y = arith.remsi %a, %k : i32": np.fmod(A, 3),
    "%y = math.absi %a : i32": np.abs(A),
    "%y = math.ipowi %a, %k : i32": A**3,
    "%w = arith.extsi %a : i32 to i64\n%y = arith.trunci %w : i64 to i32": A,
    "%c = arith.cmpi sgt, %a, %k : i32\n%y = arith.extui %c : i1 to i32": A > 3,
    "%c = arith.cmpi sgt, %a, %k : i32\n%y = arith.extsi %c : i1 to i32": np.where(A > 3, -1, 0),
    PLACES + "%s = arith.addi %i, %j : index\n%y = arith.index_cast %s : index to i32": (
        ROW + COLUMN
    ),
    PLACES + "%v = arith.index_cast %j : index to i32\n%y = arith.addi %v, %a : i32": COLUMN + A,
    PLACES + "%w = arith.constant 2 : index\n%d = arith.divui %j, %w : index\n"
    "%r = arith.remui %i, %w : index\n%s = arith.addi %d, %r : index\n"
    "%v = arith.index_cast %s : index to i32\n%y = arith.muli %v, %a : i32": (
        (COLUMN // 2 + ROW % 2) * A
    ),
    PLACES + "%c = arith.cmpi eq, %i, %j : index\n%z = arith.constant 0 : i32\n"
    "%y = arith.select %c, %a, %z : i32": np.where(ROW == COLUMN, A, 0),
}


THREE = "%k = arith.constant 3 : i32"


@pytest.mark.parametrize("body", BODIES)
def test_whole_numbers_and_indices(body: str) -> None:
    moved = "%m = arith.constant 40 : i32\n%v = arith.addi %a, %m : i32\n" if "%v" in body else ""
    moved = "" if "%v =" in body else moved
    text = generic([(I32, MAP)], (I32, MAP), "pp", moved + body, before=THREE)
    given = from_mlir(text)
    data = dict.fromkeys(given.arguments, A)
    np.testing.assert_array_equal(result(given, data), BODIES[body])


def test_quotients_up_to_the_largest_whole_number_are_those_of_integers() -> None:
    """In float32, as the machine computes them: every divisor, and dividends next to multiples."""
    rng = np.random.default_rng(7)
    below = rng.integers(1, 2**24, 20_000)
    times = rng.integers(0, 2**24 // below + 1)
    for off in (-1, 0, 1):
        above = np.clip(below * times + off, 0, 2**24)
        quotient = above.astype(np.float32) / below.astype(np.float32)
        np.testing.assert_array_equal(np.trunc(quotient), above // below)


@pytest.mark.parametrize("width", [1, 3])
def test_whole_numbers_run_on_the_machine(width: int) -> None:
    body = "%q = arith.divsi %a, %k : i32\n%y = arith.muli %q, %a : i32"
    text = generic([(I32, MAP)], (I32, MAP), "pp", body, before=THREE.replace("3", str(width + 2)))
    given = from_mlir(text)
    run = simulate(compile_program(given.program, given.schedule), {"A": A, **given.data})
    assert run.check().ok
    (name,) = given.program.outputs
    wanted = np.trunc(A / (width + 2)) * A
    np.testing.assert_array_equal(run.results[name].to_dense(), wanted)


def test_what_is_not_checked_is_told() -> None:
    given = from_mlir(generic([(I32, MAP)], (I32, MAP), "pp", "%y = arith.addi %a, %a : i32"))
    assert any("exact up to 2^24" in note for note in given.notes)
    assert not from_mlir(
        generic([(F32, MAP)], (F32, MAP), "pp", "%y = arith.addf %a, %a : f32")
    ).notes


def test_a_triangle_is_a_product_with_a_mask() -> None:
    csr = "tensor<3x4xf32, #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>>"
    body = (
        PLACES + "%c = arith.cmpi uge, %i, %j : index\n%z = arith.constant 0.0 : f32\n"
        "%y = arith.select %c, %a, %z : f32"
    )
    given = from_mlir(generic([(csr, MAP)], (csr, MAP), "pp", body))
    found = evaluate(given.program, {"A": A, **given.data})[given.program.outputs[0]]
    np.testing.assert_array_equal(found.present, np.tril(A) != 0)


@pytest.mark.parametrize(
    ("body", "message", "hint"),
    [
        ("%y = arith.andi %a, %k : i32", "bits of integers", "i1"),
        ("%y = arith.shrsi %a, %a : i32", "by this number", "0 to 23"),
        ("%w = arith.constant 16777217 : i32\n%y = arith.addi %a, %w : i32", "16777217", "2\\^24"),
        ("%w = arith.constant 30 : i32\n%y = arith.shli %a, %w : i32", "by this number", "0 to 23"),
        ("%w = arith.constant 0 : i32\n%y = arith.divsi %a, %w : i32", "division by zero", ""),
    ],
)
def test_refusals(body: str, message: str, hint: str) -> None:
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(generic([(I32, MAP)], (I32, MAP), "pp", body, before=THREE))
    assert caught.value.line
    assert hint.replace("\\", "") in (caught.value.hint or "")


def test_constants_that_float32_does_not_have_are_refused() -> None:
    text = """
    func.func @f(%A: tensor<2xi64>) -> tensor<2xi64> {
      %c = arith.constant dense<[1, 16777217]> : tensor<2xi64>
      %e = tensor.empty() : tensor<2xi64>
      %r = linalg.add ins(%A, %c : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>)
      return %r : tensor<2xi64>
    }"""
    with pytest.raises(FuseloomError, match="the element 16777217") as caught:
        from_mlir(text)
    assert caught.value.line == 3
    given = from_mlir(text.replace("16777217", "16777216"))
    np.testing.assert_array_equal(result(given, {"A": np.array([1, 0])}), [2, 16777216])


GATHER = """
func.func @f(%A: tensor<5x4xf32>, %p: tensor<3xi64>) -> tensor<3x4xf32> {{
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}}
    ins(%p : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {{
  ^bb0(%q: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    {row}
    %x = tensor.extract %A[%k, %j] : tensor<5x4xf32>
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }} -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}}"""


def test_a_region_reads_a_tensor_at_known_places() -> None:
    row = "%t = arith.addi %i, %i : index\n%k = arith.subi %t, %one : index"
    a = np.arange(20.0).reshape(5, 4)
    with pytest.raises(FuseloomError, match="from -1 to 3, outside"):
        from_mlir(GATHER.format(row=row))
    found = result(from_mlir(GATHER.format(row="%k = arith.addi %i, %one : index")), {"A": a})
    np.testing.assert_array_equal(found, 2 * a[1:4])


def test_a_region_reads_a_tensor_at_places_that_are_given() -> None:
    given = from_mlir(GATHER.format(row="%k = arith.index_cast %q : i64 to index"))
    a = np.arange(20.0).reshape(5, 4)
    found = result(given.bind({"p": [4, 0, 4], "A": a}), {})
    np.testing.assert_array_equal(found, 2 * a[[4, 0, 4]])


def test_functions_of_small_numbers() -> None:
    body = "%v = math.expm1 %a : f32\n%y = math.log1p %v : f32"
    text = generic([(F32, MAP)], (F32, MAP), "pp", body)
    np.testing.assert_allclose(result(from_mlir(text), {"A": A}), A, rtol=1e-4, atol=1e-5)


MADE: dict[str, Any] = {
    "cosh": np.cosh, "erfc": special.erfc, "exp2": np.exp2, "sinh": np.sinh,
    "tan": np.tan,
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_functions_that_are_made_of_others(name: str) -> None:
    body = f"%y = math.{name} %a : f32"
    found = result(from_mlir(generic([(F32, MAP)], (F32, MAP), "pp", body)), {"A": A / 4})
    np.testing.assert_allclose(found, MADE[name](A / 4), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_logarithms_to_other_bases(name: str) -> None:
    body = f"%y = math.{name} %a : f32"
    found = result(from_mlir(generic([(F32, MAP)], (F32, MAP), "pp", body)), {"A": A + 6})
    np.testing.assert_allclose(found, getattr(np, name)(A + 6), rtol=1e-4, atol=1e-6)
