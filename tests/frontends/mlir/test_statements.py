"""Outputs that are filled with a number, and read beside sparse inputs: they have all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.frontends.mlir import from_mlir

from .files import result

PLAIN = "tensor<3x4xf32>"
FORMATS = {
    "csr": "(i : dense, j : compressed)",
    "dcsr": "(i : compressed, j : compressed)",
    "csc": "(j : dense, i : compressed)",
}
STARTS = {
    "fill": "%e = tensor.empty() : T\n%f = linalg.fill ins(%c : f32) outs(%e : T) -> T",
    "splat": "%f = tensor.splat %c : T",
    "constant": "%f = arith.constant dense<NUMBER> : T",
    "filled by a splat": "%d = tensor.splat %c : tensor<f32>\n%e = tensor.empty() : T\n"
    "%f = linalg.fill ins(%d : tensor<f32>) outs(%e : T) -> T",
    "broadcast": "%d = tensor.splat %c : tensor<f32>\n%e = tensor.empty() : T\n"
    "%f = linalg.broadcast ins(%d : tensor<f32>) outs(%e : T) dimensions = [0, 1]",
    "cast": "%e = tensor.splat %c : T\n%g = tensor.cast %e : T to tensor<?x4xf32>\n"
    "%f = tensor.cast %g : tensor<?x4xf32> to T",
}
BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "%y = arith.addf %o, %a : f32": lambda a, o: a + o,
    "%y = arith.subf %a, %o : f32": lambda a, o: a - o,
    "%y = arith.subf %o, %a : f32": lambda a, o: o - a,
    "%y = arith.mulf %o, %a : f32": lambda a, o: a * o,
    "%y = arith.addf %o, %o : f32": lambda a, o: o + o,
    "%m = arith.mulf %a, %a : f32\n%y = arith.addf %m, %o : f32": lambda a, o: a * a + o,
    "%m = arith.addf %a, %o : f32\n%y = arith.mulf %m, %a : f32": lambda a, o: (a + o) * a,
    "%m = arith.addf %a, %o : f32\n%y = math.exp %m : f32": lambda a, o: np.exp(a + o),
    "%m = arith.negf %o : f32\n%y = arith.subf %a, %m : f32": lambda a, o: a + o,
}


@pytest.mark.parametrize("given", [False, True], ids=["known", "given"])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("fmt", FORMATS)
def test_a_filled_output_has_all_elements(fmt: str, start: str, given: bool) -> None:
    if given and start == "constant":
        return
    number = "-1.5" if fmt == "csc" else "4.0"
    for body, wanted in BODIES.items():
        text = f"""
#S = #sparse_tensor.encoding<{{ map = (i, j) -> {FORMATS[fmt]} }}>
#map = affine_map<(i, j) -> (i, j)>
func.func @f(%S: tensor<3x4xf32, #S>{", %c: f32" if given else ""}) -> {PLAIN} {{
  {"" if given else f"%c = arith.constant {number} : f32"}
  {STARTS[start].replace("T", PLAIN).replace("NUMBER", number)}
  %r = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}}
    ins(%S : tensor<3x4xf32, #S>) outs(%f : {PLAIN}) {{
  ^bb0(%a: f32, %o: f32):
    {body}
    linalg.yield %y : f32
  }} -> {PLAIN}
  return %r : {PLAIN}
}}"""
        a = np.array([[5, 0, 7, 3], [0, 0, 0, 0], [0, -2, -8, 0]], float)
        imported = from_mlir(text)
        data = {"S": a, "c": np.array(float(number))}
        found = result(imported, {n: data[n] for n in imported.wanted})
        np.testing.assert_allclose(found, np.broadcast_to(wanted(a, float(number)), a.shape),
                                   rtol=1e-5, err_msg=body)  # fmt: skip


@pytest.mark.parametrize("op", ["maximumf", "minimumf"])
def test_an_extreme_of_a_filled_output_is_no_number_of_a_region(op: str) -> None:
    """A maximum skips what is absent (docs/language.md), but not what is filled."""
    text = f"""
#S = #sparse_tensor.encoding<{{ map = (i, j) -> (i : dense, j : compressed) }}>
#map = affine_map<(i, j) -> (i, j)>
func.func @f(%S: tensor<3x4xf32, #S>) -> {PLAIN} {{
  %c = arith.constant 4.0 : f32
  %f = tensor.splat %c : {PLAIN}
  %r = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}}
    ins(%S : tensor<3x4xf32, #S>) outs(%f : {PLAIN}) {{
  ^bb0(%a: f32, %o: f32):
    %y = arith.{op} %a, %o : f32
    linalg.yield %y : f32
  }} -> {PLAIN}
  return %r : {PLAIN}
}}"""
    a = np.array([[5, 0, 7, 3], [0, 0, 0, 0], [0, -2, -8, 0]], float)
    extreme = np.maximum if op == "maximumf" else np.minimum
    wanted = np.where(a != 0, extreme(a, 4.0), 4.0)
    np.testing.assert_allclose(result(from_mlir(text), {"S": a}), wanted)
