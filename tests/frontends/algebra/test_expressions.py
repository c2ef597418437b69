"""Regions with roots, tanh, absolute values, maxima and minima, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

TYPE = "tensor<3x4xf32>"
LINES = """
#m = affine_map<(i, j) -> (i, j)>
func.func @f(%A: {type}, %B: {type}) -> {type} {{
  %e = tensor.empty() : {type}
  %half = arith.constant 0.5 : f32
  %r = linalg.generic {{indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]}}
      ins(%A, %B : {type}, {type}) outs(%e : {type}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    {body}
    linalg.yield %y : f32
  }} -> {type}
  return %r : {type}
}}
"""


def on_first(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(a)


FUNCTIONS = {
    "floor": on_first(np.floor), "ceil": on_first(np.ceil), "trunc": on_first(np.trunc),
    "roundeven": on_first(np.rint), "sin": on_first(np.sin), "cos": on_first(np.cos),
    "expm1": on_first(np.expm1),
    "round": on_first(lambda a: np.trunc(a + np.copysign(0.5, a))),
    "erf": on_first(np.vectorize(math.erf)),
    "atan": on_first(np.arctan), "asinh": on_first(np.arcsinh),
}  # fmt: skip
REGIONS: dict[str, Callable[[Any, Any], Any]] = {
    "%x = math.absf %a : f32\n%y = math.sqrt %x : f32": lambda a, b: np.sqrt(np.abs(a)),
    "%y = math.tanh %a : f32": lambda a, b: np.tanh(a),
    **{f"%y = math.{name} %a : f32": function for name, function in FUNCTIONS.items()},
    "%u = arith.fptosi %a : f32 to i32\n%y = arith.sitofp %u : i32 to f32": on_first(np.trunc),
    "%p = arith.cmpf ogt, %a, %b : f32\n%y = arith.uitofp %p : i1 to f32": lambda a, b: a > b,
    "%p = arith.cmpf une, %a, %b : f32\n%y = arith.uitofp %p : i1 to f32": lambda a, b: a != b,
    "%y = arith.maximumf %a, %b : f32": np.maximum,
    "%y = math.atan2 %a, %b : f32": np.arctan2,
    "%x = math.sin %a : f32\n%z = arith.mulf %x, %half : f32\n%y = math.atanh %z : f32": on_first(
        lambda a: np.arctanh(np.sin(a) / 2)
    ),
    "%x = math.sin %a : f32\n%y = math.asin %x : f32": on_first(lambda a: np.arcsin(np.sin(a))),
    "%x = math.cos %a : f32\n%y = math.acos %x : f32": on_first(lambda a: np.arccos(np.cos(a))),
    "%x = math.absf %a : f32\n%z = math.exp %x : f32\n%y = math.acosh %z : f32": on_first(
        lambda a: np.arccosh(np.exp(np.abs(a)))
    ),
    "%y = arith.minimumf %a, %b : f32": np.minimum,
    "%y = arith.minnumf %a, %half : f32": lambda a, b: np.minimum(a, 0.5),
    "%y = arith.maximumf %half, %b : f32": lambda a, b: np.maximum(b, 0.5),
    "%c = arith.cmpf olt, %a, %b : f32\n%y = arith.select %c, %a, %b : f32": np.minimum,
    "%c = arith.cmpf ogt, %a, %b : f32\n%y = arith.select %c, %a, %b : f32": np.maximum,
    "%x = arith.minimumf %a, %b : f32\n%y = arith.mulf %x, %a : f32": lambda a, b: (
        np.minimum(a, b) * a
    ),
}


@pytest.mark.parametrize("body", REGIONS)
def test_regions(body: str) -> None:
    rng = np.random.default_rng(3)
    data = {name: rng.normal(size=(3, 4)).astype(np.float32) for name in "AB"}
    given = from_mlir(LINES.format(type=TYPE, body=body))
    run = simulate(
        compile_program(given.program), {n: data[n] for n in data if n in given.program.inputs}
    )
    assert run.check().ok
    (name,) = given.program.outputs
    wanted = REGIONS[body](data["A"], data["B"])
    np.testing.assert_allclose(run.results[name].to_dense(), wanted, rtol=1e-6)


NAMED = {"sqrt": np.sqrt, "tanh": np.tanh, "abs": np.abs, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("name", NAMED)
def test_named_operations(name: str) -> None:
    both = name in ("max", "min")
    ins = "%A, %B : tensor<4xf32>, tensor<4xf32>" if both else "%A : tensor<4xf32>"
    given = from_mlir(f"""
    func.func @f(%A: tensor<4xf32>, %B: tensor<4xf32>) -> tensor<4xf32> {{
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.{name} ins({ins}) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }}""")
    data = {"A": np.array([0.5, 2.0, 1.0, 3.0]), "B": np.array([1.0, 1.5, 1.0, 4.0])}
    data = {n: data[n] for n in given.program.inputs}
    run = simulate(compile_program(given.program), data)
    (out,) = given.program.outputs
    np.testing.assert_allclose(run.results[out].to_dense(), NAMED[name](*data.values()), rtol=1e-6)


MINIMUM = """
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%A: tensor<3x4xf32>) -> tensor<3xf32> {{
  %e = tensor.empty() : tensor<3xf32>
  %s = arith.constant {start} : f32
  %z = linalg.fill ins(%s : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {{indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%A : tensor<3x4xf32>) outs(%z : tensor<3xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %y = arith.minimumf %a, %o : f32
    linalg.yield %y : f32
  }} -> tensor<3xf32>
  return %r : tensor<3xf32>
}}
"""


def test_a_minimum_is_reduced_from_infinity() -> None:
    given = from_mlir(MINIMUM.format(start="0x7F800000"))
    array = np.random.default_rng(5).normal(size=(3, 4)).astype(np.float32)
    run = simulate(compile_program(given.program), {"A": array})
    np.testing.assert_array_equal(run.results["r"].to_dense(), array.min(1))
    given = from_mlir(MINIMUM.format(start="0xFF800000"))
    run = simulate(compile_program(given.program), {"A": array, **given.data})
    np.testing.assert_array_equal(run.results["r"].to_dense(), np.full(3, -np.inf))


@pytest.mark.parametrize("start", [0.0, -0.5, 1.5])
def test_a_minimum_is_reduced_from_a_number(start: float) -> None:
    given = from_mlir(MINIMUM.format(start=start))
    array = np.random.default_rng(5).normal(size=(3, 4)).astype(np.float32)
    run = simulate(compile_program(given.program), {"A": array, **given.data})
    assert run.check().ok
    wanted = np.minimum(array.min(1), start)
    np.testing.assert_allclose(run.results["r"].to_dense(), wanted, rtol=1e-6)


MADE = """
func.func @f(%x: tensor<4xf32>, %S: tensor<3x4xf32> {{fuseloom.where = "{where}"}})
    -> tensor<3xf32> {{
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.matvec ins(%S, %x : tensor<3x4xf32>, tensor<4xf32>) outs(%e : tensor<3xf32>)
      -> tensor<3xf32>
  return %y : tensor<3xf32>
}}
"""


def test_what_is_made_needs_no_data() -> None:
    given = from_mlir(MADE.format(where="d1 = 3 - d0"))
    assert given.wanted == ("x",)
    run = simulate(compile_program(given.program), {"x": np.arange(4.0)})
    np.testing.assert_array_equal(run.results["y"].to_dense(), [3, 2, 1])


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("", "ends too early"),
        ("d1", "ends too early"),
        ("d2 = d0", "none of S"),
        ("d1 = d1", "follows from itself"),
        ("d1 = p[d0]", "no list is called p"),
        ("d1 = (4)[d0]", "entry 0 of the list is 4"),
        ("d1 = 9999999999*d0", "larger than"),
    ],
)
def test_malformed_relations_name_the_argument(where: str, message: str) -> None:
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(MADE.format(where=where))
    assert (caught.value.line, caught.value.column) == (2, 33)
