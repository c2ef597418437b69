"""Operations of arith and math outside of regions: on numbers, and on each element of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import result

RNG = np.random.default_rng(4)
A = np.array([[1.5, -2.0, 0.25], [0.5, 3.0, -1.0]])
B = np.array([[2.0, 1.0, -0.5], [4.0, -3.0, 2.5]])
N = np.array([[3, -2, 5], [-7, 0, 1]])
OPERATIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    **{
        f"arith.{op} %a, %b : F": ("F", lambda f=f: f(A, B))
        for op, f in {
            "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide,
            "maximumf": np.maximum, "minnumf": np.minimum,
        }.items()
    },
    **{
        f"math.{op} %a : F": ("F", lambda f=f: f(A))
        for op, f in {
            "exp": np.exp, "tanh": np.tanh, "absf": np.abs, "floor": np.floor, "sin": np.sin,
            "erf": scipy.special.erf, "atan": np.arctan, "asinh": np.arcsinh,
        }.items()
    },
    "arith.addf %a, %b fastmath<fast> {x} : F": ("F", lambda: A + B),
    "math.atan2 %a, %b : F": ("F", lambda: np.arctan2(A, B)),
    "math.fma %a, %b, %a : F": ("F", lambda: A * B + A),
    "arith.negf %a : F": ("F", lambda: -A),
    "arith.addf %a, %k : F": ("F", lambda: A + 2),
    "arith.mulf %a, %s : F": ("F", lambda: A * 0.5),
    "arith.addi %n, %n : I": ("I", lambda: 2 * N),
    "arith.muli %n, %n overflow<nsw> : I": ("I", lambda: N * N),
    "arith.remsi %n, %m : I": ("I", lambda: np.fmod(N, 3)),
    "arith.sitofp %n : I to F": ("F", lambda: N),
    "arith.fptosi %a : F to I": ("I", lambda: np.trunc(A)),
    "arith.extui %p : C to I": ("I", lambda: A > B),
    "arith.uitofp %p : C to F": ("F", lambda: A > B),
    "arith.cmpf ogt, %a, %b : F": ("C", lambda: A > B),
    "arith.cmpi slt, %n, %m : I": ("C", lambda: N < 3),
    "arith.select %p, %a, %b : C, F": ("F", lambda: np.maximum(A, B)),
    "arith.select %p, %a, %k : C, F": ("F", lambda: np.where(A > B, A, 2)),
    "arith.select %t, %a, %b : F": ("F", lambda: B),
    "arith.andi %p, %q : C": ("C", lambda: (A > B) & (A > 0)),
}  # fmt: skip


def text_of(line: str, out: str, shape: str, storage: str = "") -> str:
    types = {x: f"tensor<{shape}x{e}>" for x, e in (("I", "i32"), ("C", "i1"))}
    types["F"] = f"tensor<{shape}xf32{storage}>"
    lines = f"""
      %k = arith.constant dense<2.0> : tensor<2x3xf32>
      %h = arith.constant 0.5 : f32
      %s = tensor.splat %h : tensor<2x3xf32>
      %m = arith.constant dense<3> : tensor<2x3xi32>
      %t = arith.constant false
      %z = arith.constant dense<0.0> : F
      %p = arith.cmpf ogt, %a, %b : F
      %q = arith.cmpf ogt, %a, %z : F
      %r = {line}
      return %r : {out}
    """
    if "?" in shape:
        lines = lines.replace("%z = arith.constant dense<0.0> : F", "%z = arith.subf %a, %a : F")
        for name in "ksm":
            lines = lines.replace(f"%{name},", f"%{name}q,").replace(f"%{name} :", f"%{name}q :")
            e = "i32" if name == "m" else "f32"
            cast = f"%{name}q = tensor.cast %{name} : tensor<2x3x{e}> to tensor<{shape}x{e}>"
            lines = lines.replace("%t = ", f"{cast}\n      %t = ")
    text = f"func.func @f(%a: F, %b: F, %n: I) -> {out} {{{lines}}}"
    for name, type_ in types.items():
        text = "\n".join(
            x.replace(f": {name}", f": {type_}").replace(f"to {name}", f"to {type_}")
            .replace(f", {name}", f", {type_}").replace(f"-> {name} ", f"-> {type_} ")
            for x in text.splitlines()
        )  # fmt: skip
    return text


@pytest.mark.parametrize("shape", ["2x3", "?x3"])
@pytest.mark.parametrize("line", OPERATIONS)
def test_each_element_of_tensors(line: str, shape: str) -> None:
    out, wanted = OPERATIONS[line]
    given = from_mlir(text_of(line, out, shape), shapes={"a": (2, 3), "b": (2, 3), "n": (2, 3)})
    found = result(given, {"a": A, "b": B, "n": N})
    np.testing.assert_allclose(found, np.asarray(wanted(), float), rtol=1e-5, atol=1e-6)


def test_sparse_tensors_are_added_everywhere() -> None:
    csr = ", #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>"
    t = f"tensor<2x3xf32{csr}>"
    text = f"""
    func.func @f(%a: {t}, %b: {t}) -> tensor<2x3xf32> {{
      %s = arith.addf %a, %b : {t}
      %d = sparse_tensor.convert %s : {t} to tensor<2x3xf32>
      %k = arith.constant dense<1.0> : tensor<2x3xf32>
      %r = arith.addf %d, %k : tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    }}"""
    a, b = np.where(A > 0, A, 0), np.where(B > 0, B, 0)
    np.testing.assert_allclose(result(from_mlir(text), {"a": a, "b": b}), a + b + 1)


def test_numbers_of_the_arguments() -> None:
    text = """
    func.func @f(%x: f32, %y: f32, %v: tensor<3xf32>) -> tensor<3xf32> {
      %c = arith.cmpf olt, %x, %y : f32
      %m = arith.select %c, %x, %y : f32
      %n = math.exp %m : f32
      %d = arith.cmpf ogt, %v, %v : tensor<3xf32>
      %w = arith.select %c, %v, %v : tensor<3xf32>
      %s = tensor.splat %n : tensor<3xf32>
      %r = arith.mulf %w, %s : tensor<3xf32>
      return %r : tensor<3xf32>
    }"""
    v = np.arange(3.0)
    found = result(from_mlir(text), {"x": np.array(2.0), "y": np.array(0.5), "v": v})
    np.testing.assert_allclose(found, v * np.exp(0.5), rtol=1e-5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("arith.addf %e, %a : F", "%e cannot be read"),
        ("math.ctpop %n : I", "math.ctpop is outside the subset"),
        ("arith.addf %a, %g : F", "dimension 0 of %g is 4"),
    ],
)
def test_refusals_name_the_value(line: str, message: str) -> None:
    text = text_of(line, "I" if "ctpop" in line else "F", "2x3").replace(
        "%k = ",
        "%e = tensor.empty() : tensor<2x3xf32>\n%g = arith.constant dense<1.0> : tensor<4x3xf32>\n"
        "%k = ",
    )
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(text)
    assert caught.value.line


def test_a_constant_of_one_value_is_a_number() -> None:
    """Of another value at some place, or of nothing but constants, it is a tensor."""
    text = """func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {{
  %k = arith.constant {} : tensor<2x3xf32>
  %r = arith.{} %a, %k : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}}"""
    for literal, op, wanted in (
        ("dense<1.5>", "addf", A + 1.5),
        ("dense<2.5>", "mulf", A * 2.5),
        ("dense<0.5>", "maximumf", np.maximum(A, 0.5)),
        ("dense<0.0>", "minimumf", np.minimum(A, 0.0)),
        ("dense<[[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]]>", "addf", A + np.array([[1, 1, 1], [1, 1, 2]])),
    ):
        imported = from_mlir(text.format(literal, op))
        np.testing.assert_allclose(result(imported, {"a": A}), wanted, rtol=1e-6)
        assert (set(imported.program.inputs) == {"a"}) == (len(literal) < 12)
    imported = from_mlir(text.format("dense<3.0>", "divf"))  # a quotient is rounded once
    assert len(imported.program.inputs) == 2
    with np.errstate(divide="ignore"):
        by_zero = result(from_mlir(text.format("dense<0.0>", "divf")), {"a": A})
        np.testing.assert_array_equal(by_zero, A / 0.0)
    constants = from_mlir(text.replace("%a, %k", "%k, %k").format("dense<1.5>", "addf"))
    np.testing.assert_allclose(result(constants, {}), np.full((2, 3), 3.0))
