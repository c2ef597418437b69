"""Reductions that accumulate where a condition says so."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.frontends.mlir import from_mlir

from .files import result

RNG = np.random.default_rng(4)

CHOSEN = """
func.func @f(%A: tensor<3x4xf32>, %K: tensor<3x4xi64>, %B: tensor<4xf32>) -> tensor<3xf32> {{
  %zero = arith.constant 0 : i64
  %s = arith.constant {start} : f32
  %e = tensor.empty() : tensor<3xf32>
  %o = linalg.fill ins(%s : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}}
    ins(%A, %K, %B : tensor<3x4xf32>, tensor<3x4xi64>, tensor<4xf32>) outs(%o : tensor<3xf32>) {{
  ^bb0(%a: f32, %k: i64, %b: f32, %x: f32):
    %c = arith.cmpi sgt, %k, %zero : i64
    %y = arith.{op} %a, %x : f32
    %z = arith.{op} %x, %b : f32
    %v = arith.select %c, {yes}, {no} : f32
    linalg.yield %v : f32
  }} -> tensor<3xf32>
  return %r : tensor<3xf32>
}}"""


@pytest.mark.parametrize(("yes", "no"), [("%y", "%x"), ("%x", "%y"), ("%y", "%z")])
@pytest.mark.parametrize("op", ["addf", "mulf"])
@pytest.mark.parametrize("start", [0.0, 1.0, 2.5])
def test_reductions_that_choose(yes: str, no: str, op: str, start: float) -> None:
    a, b = RNG.normal(size=(3, 4)).astype(np.float32), RNG.normal(size=4).astype(np.float32)
    k = RNG.integers(-2, 3, (3, 4))
    add = op == "addf"
    terms = {"%y": a, "%z": np.broadcast_to(b, (3, 4)), "%x": np.full((3, 4), 0.0 if add else 1.0)}
    chosen = np.where(k > 0, terms[yes], terms[no])
    wanted = start + chosen.sum(1) if add else start * chosen.prod(1)
    given = from_mlir(CHOSEN.format(op=op, start=start, yes=yes, no=no))
    found = result(given, {"A": a, "K": k, "B": b})
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


STARTED = """
#csr = #sparse_tensor.encoding<{{map = (d0, d1) -> (d0 : dense, d1 : compressed)}}>
func.func @f(%A: {type}) -> tensor<3xf32> {{
  %s = arith.constant {start} : f32
  %e = tensor.empty() : tensor<3xf32>
  %o = linalg.fill ins(%s : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}}
    ins(%A : {type}) outs(%o : tensor<3xf32>) {{
  ^bb0(%a: f32, %x: f32):
    %v = arith.{op} %x, %a : f32
    linalg.yield %v : f32
  }} -> tensor<3xf32>
  return %r : tensor<3xf32>
}}"""
DENSE, SPARSE = "tensor<3x4xf32>", "tensor<3x4xf32, #csr>"
ENDS = {
    "addf": lambda a, s: s + a.sum(1), "subf": lambda a, s: s - a.sum(1),
    "mulf": lambda a, s: s * a.prod(1), "maximumf": lambda a, s: np.maximum(a.max(1), s),
    "minimumf": lambda a, s: np.minimum(a.min(1), s),
}  # fmt: skip


@pytest.mark.parametrize("start", [0.0, 0.5, -3.0])
@pytest.mark.parametrize(
    ("op", "type_"), [*((op, DENSE) for op in ENDS), ("addf", SPARSE), ("subf", SPARSE)]
)
def test_reductions_start_from_a_number(op: str, type_: str, start: float) -> None:
    """A number goes on with the result; rows without elements have it, too."""
    a = RNG.integers(-3, 4, (3, 4)).astype(np.float32)
    if type_ == SPARSE:
        a[1], a[2, ::2] = 0.0, 0.0
    given = from_mlir(STARTED.format(type=type_, op=op, start=start))
    np.testing.assert_allclose(result(given, {"A": a}), ENDS[op](a, np.float32(start)), rtol=1e-5)
    if type_ == DENSE and op != "subf":
        assert all(len(s.operands) == 1 for s in given.program.statements[1:]) or op == "mulf"
