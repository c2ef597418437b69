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
