"""Infinities in constants, pads, choices and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import generic, result

INF = np.inf
LESS, MORE = "0xFF800000", "0x7F800000"
A = np.array([[3.0, -1.0, 0.0, 7.0], [-5.0, 0.0, 2.0, -8.0], [1.0, 4.0, -2.0, 6.0]])
MAP = "(i, j) -> (i, j)"
T = "tensor<3x4xf32>"
CSR = "tensor<3x4xf32, #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>>"


def region(body: str, type_: str = T, inputs: int = 1, start: str | None = None) -> str:
    before = f"%lo = arith.constant {LESS} : f32\n%hi = arith.constant {MORE} : f32\n" + (
        "%zero = arith.constant 0.0 : f32\n%two = arith.constant 2.0 : f32"
    )
    return generic([(type_, MAP)] * inputs, (T, MAP), "pp", body, before=before, start=start)


ROW, COLUMN = np.indices(A.shape)
WHERE = """%i = linalg.index 0 : index
%j = linalg.index 1 : index
%c = arith.cmpi ugt, %j, %i : index
"""
POSITIVE = "%c = arith.cmpf ogt, %a, %zero : f32\n"
BODIES: dict[str, Callable[[Any], Any]] = {
    WHERE + "%y = arith.select %c, %lo, %a : f32": lambda a: np.where(COLUMN > ROW, -INF, a),
    WHERE + "%y = arith.select %c, %a, %lo : f32": lambda a: np.where(COLUMN > ROW, a, -INF),
    WHERE + "%y = arith.select %c, %zero, %lo : f32": lambda a: np.where(COLUMN > ROW, 0, -INF),
    WHERE + "%m = arith.select %c, %lo, %zero : f32\n%y = arith.addf %a, %m : f32": (
        lambda a: np.where(COLUMN > ROW, -INF, a)
    ),
    WHERE + "%m = arith.select %c, %lo, %a : f32\n%y = math.exp %m : f32": (
        lambda a: np.where(COLUMN > ROW, 0, np.exp(a))
    ),
    POSITIVE + "%y = arith.select %c, %a, %lo : f32": lambda a: np.where(a > 0, a, -INF),
    POSITIVE + "%y = arith.select %c, %hi, %a : f32": lambda a: np.where(a > 0, INF, a),
    POSITIVE + "%y = arith.select %c, %hi, %lo : f32": lambda a: np.where(a > 0, INF, -INF),
    POSITIVE + "%y = arith.select %c, %two, %lo : f32": lambda a: np.where(a > 0, 2, -INF),
    "%y = arith.maximumf %a, %lo : f32": lambda a: a,
    "%y = arith.minimumf %hi, %a : f32": lambda a: a,
    "%m = arith.maximumf %a, %hi : f32\n%y = arith.addf %m, %a : f32": lambda a: a + INF,
    "%y = arith.addf %a, %lo : f32": lambda a: a - INF,
    "%y = arith.subf %lo, %a : f32": lambda a: -INF - a,
    "%y = arith.divf %a, %hi : f32": lambda a: a * 0,
    POSITIVE + "%m = arith.select %c, %a, %lo : f32\n%d = arith.cmpf oeq, %m, %lo : f32\n"
    "%y = arith.select %d, %zero, %m : f32": lambda a: np.maximum(a, 0),
    POSITIVE + "%m = arith.select %c, %hi, %a : f32\n%d = arith.cmpf olt, %m, %hi : f32\n"
    "%y = arith.uitofp %d : i1 to f32": lambda a: a <= 0,
    POSITIVE + "%m = arith.select %c, %hi, %lo : f32\n%d = arith.cmpf ogt, %m, %lo : f32\n"
    "%e = arith.cmpf une, %m, %hi : f32\n%f = arith.ori %d, %e : i1\n"
    "%y = arith.uitofp %f : i1 to f32": lambda a: np.ones(a.shape),
    "%d = arith.cmpf ogt, %a, %hi : f32\n%m = arith.uitofp %d : i1 to f32\n"
    "%y = arith.addf %a, %m : f32": lambda a: a,
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_regions(body: str) -> None:
    wanted = np.broadcast_to(BODIES[body](A), A.shape).astype(float)
    np.testing.assert_allclose(result(from_mlir(region(body)), {"A": A}), wanted, rtol=1e-5)


@pytest.mark.parametrize("body", [b for b in BODIES if "select" in b and "addf" not in b][:3])
def test_choices_of_sparse_tensors_are_whole_where_the_condition_is_known(body: str) -> None:
    wanted = BODIES[body](A)
    np.testing.assert_allclose(result(from_mlir(region(body, CSR)), {"A": A}), wanted, rtol=1e-5)


def test_a_filled_output_is_infinite() -> None:
    body = "%y = arith.addf %a, %o : f32"
    for type_ in (T, CSR):
        found = result(from_mlir(region(body, type_, start=LESS)), {"A": A})
        np.testing.assert_array_equal(found, np.full(A.shape, -INF))


@pytest.mark.parametrize("kind", ["list", "splat", "bytes", "sparse"])
@pytest.mark.parametrize("plus", [False, True])
def test_constants(kind: str, plus: bool) -> None:
    values = np.zeros((3, 4), np.float32)
    values[0, 1], values[2, 3], values[1, 1] = -INF, INF if plus else -INF, 2.0
    literal = {
        "list": str(values.tolist()).replace("-inf", LESS).replace("inf", MORE),
        "splat": MORE if plus else LESS,
        "bytes": f'"0x{values.tobytes().hex()}"',
        "sparse": f"[[0, 1], [1, 1], [2, 3]], [{LESS}, 2.0, {MORE if plus else LESS}]",
    }[kind]
    if kind == "splat":
        values = np.full((3, 4), INF if plus else -INF)
    word = "sparse" if kind == "sparse" else "dense"
    text = f"""
    func.func @f(%x: {T}) -> {T} {{
      %c = arith.constant {word}<{literal}> : {T}
      %y = linalg.add ins(%x, %c : {T}, {T}) outs(%x : {T}) -> {T}
      return %y : {T}
    }}"""
    np.testing.assert_array_equal(result(from_mlir(text), {"x": A}), A + values)
    returned = f"""
    func.func @f() -> {T} {{
      %c = arith.constant {word}<{literal}> : {T}
      return %c : {T}
    }}"""
    np.testing.assert_array_equal(result(from_mlir(returned), {}), values)


@pytest.mark.parametrize("way", ["max", "min", "sum", "exp"])
@pytest.mark.parametrize(("low", "high", "stride"), [(1, 1, 2), (1, 2, 1), (0, 1, 1), (3, 3, 1)])
def test_pads(way: str, low: int, high: int, stride: int) -> None:
    value = INF if way == "min" else -INF
    rows, columns = 3 + low + high, 4 + low + high
    height, width = (rows - 2) // stride + 1, (columns - 2) // stride + 1
    padded, pooled = f"tensor<1x1x{rows}x{columns}xf32>", f"tensor<1x1x{height}x{width}xf32>"
    use = {
        "max": ("nchw_max", LESS), "min": ("nchw_min", MORE), "sum": ("nchw_sum", "0.0"),
    }.get(way)  # fmt: skip
    lines = f"%y = linalg.exp ins(%p : {padded}) outs(%p : {padded}) -> {padded}"
    if use:
        lines = f"""
      %e = tensor.empty() : {pooled}
      %z = arith.constant {use[1]} : f32
      %s = linalg.fill ins(%z : f32) outs(%e : {pooled}) -> {pooled}
      %w = tensor.empty() : tensor<2x2xf32>
      %y = linalg.pooling_{use[0]} {{strides = dense<{stride}> : vector<2xi64>}}
        ins(%p, %w : {padded}, tensor<2x2xf32>) outs(%s : {pooled}) -> {pooled}
    """
    if way == "min":
        lines = lines.replace("pooling_nchw_min", "pooling_nhwc_min")
        shape = f"tensor<1x{rows}x{columns}x1xf32>", f"tensor<1x{height}x{width}x1xf32>"
        lines = lines.replace(padded, shape[0]).replace(pooled, shape[1])
        padded, pooled = shape
    sides = f"low[0, 0, {low}, {low}] high[0, 0, {high}, {high}]"
    source = "tensor<1x1x3x4xf32>"
    if way == "min":
        sides = f"low[0, {low}, {low}, 0] high[0, {high}, {high}, 0]"
        source = "tensor<1x3x4x1xf32>"
    text = f"""
    func.func @f(%x: {source}) -> {pooled if use else padded} {{
      %n = arith.constant {MORE if way == "min" else LESS} : f32
      %p = tensor.pad %x {sides} {{
      ^bb0(%i: index, %j: index, %k: index, %l: index):
        tensor.yield %n : f32
      }} : {source} to {padded}
      {lines}
      return %y : {pooled if use else padded}
    }}"""
    around = np.pad(A, (low, high), constant_values=value)
    windows = np.lib.stride_tricks.sliding_window_view(around, (2, 2))[::stride, ::stride]
    wanted = getattr(windows, way)((-1, -2)) if use else np.exp(around)
    x = A.reshape((1, 3, 4, 1) if way == "min" else (1, 1, 3, 4))
    found = result(from_mlir(text), {"x": x})
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-5)


def test_a_causal_attention() -> None:
    t = "tensor<4x4xf32>"
    text = f"""
    #m = affine_map<(i, j) -> (i, j)>
    func.func @f(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
      %z = arith.constant 0.0 : f32
      %lo = arith.constant {LESS} : f32
      %e = tensor.empty() : {t}
      %s = linalg.fill ins(%z : f32) outs(%e : {t}) -> {t}
      %p = linalg.matmul_transpose_b ins(%q, %k : {t}, {t}) outs(%s : {t}) -> {t}
      %m = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}}
        ins(%p : {t}) outs(%e : {t}) {{
      ^bb0(%a: f32, %o: f32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %c = arith.cmpi uge, %i, %j : index
        %x = arith.select %c, %a, %lo : f32
        linalg.yield %x : f32
      }} -> {t}
      %w = linalg.softmax dimension(1) ins(%m : {t}) outs(%e : {t}) -> {t}
      %y = linalg.matmul ins(%w, %v : {t}, {t}) outs(%s : {t}) -> {t}
      return %y : {t}
    }}"""
    q, k, v = np.random.default_rng(2).normal(size=(3, 4, 4))
    scores = np.where(np.tril(np.ones((4, 4))) > 0, q @ k.T, -INF)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    wanted = weights / weights.sum(1, keepdims=True) @ v
    np.testing.assert_allclose(result(from_mlir(text), {"q": q, "k": k, "v": v}), wanted, rtol=1e-4)


@pytest.mark.parametrize("op", ["addf", "maximumf", "minimumf", "mulf"])
@pytest.mark.parametrize("start", [LESS, MORE])
def test_reductions_start_at_infinities(op: str, start: str) -> None:
    text = generic(
        [(T, MAP)], ("tensor<3xf32>", "(i, j) -> (i)"), "pr", f"%y = arith.{op} %o, %a : f32",
        start=start,
    )  # fmt: skip
    a = A + 10.0
    with np.errstate(all="ignore"):
        first = -INF if start == LESS else INF
        wanted = {
            "addf": a.sum(1) + first,
            "maximumf": np.maximum(a.max(1), first),
            "minimumf": np.minimum(a.min(1), first),
            "mulf": a.prod(1) * first,
        }[op]
    np.testing.assert_array_equal(result(from_mlir(text), {"A": a}), wanted)


def test_a_constant_that_is_no_number_is_refused() -> None:
    with pytest.raises(FuseloomError, match=r"not finite|no number"):
        from_mlir(region(f"%n = arith.constant 0x7FC00000 : f32\n{POSITIVE}"
                         "%y = arith.select %c, %n, %a : f32"))  # fmt: skip
