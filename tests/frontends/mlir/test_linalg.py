"""Named operations, maps and reductions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import result

RNG = np.random.default_rng(9)


def _array(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).astype(np.float32)


def _shown(shape: tuple[int, ...], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


CONTRACTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], str]] = {
    "matmul": ((2, 3), (3, 4), "ik,kj->ij"),
    "batch_matmul_transpose_a": ((2, 3, 2), (2, 3, 4), "bki,bkj->bij"),
    "batch_matmul_transpose_b": ((2, 2, 3), (2, 4, 3), "bik,bjk->bij"),
    "batch_matvec": ((2, 3, 4), (2, 4), "bij,bj->bi"),
    "batch_vecmat": ((2, 3), (2, 3, 4), "bi,bij->bj"),
    "batch_reduce_matmul": ((2, 2, 3), (2, 3, 4), "bik,bkj->ij"),
    "mmt4d": ((2, 3, 2, 2), (1, 3, 3, 2), "mkxz,nkyz->mnxy"),
    "batch_mmt4d": ((2, 1, 2, 2, 2), (2, 1, 2, 3, 2), "bmkxz,bnkyz->bmnxy"),
}


@pytest.mark.parametrize("op", CONTRACTIONS)
def test_contractions(op: str) -> None:
    first, second, einsum = CONTRACTIONS[op]
    a, b = _array(*first), _array(*second)
    wanted = np.einsum(einsum, a, b)
    types = [_shown(first), _shown(second), _shown(wanted.shape)]
    given = from_mlir(f"""
    func.func @f(%A: {types[0]}, %B: {types[1]}) -> {types[2]} {{
      %e = tensor.empty() : {types[2]}
      %y = linalg.{op} ins(%A, %B : {types[0]}, {types[1]}) outs(%e : {types[2]}) -> {types[2]}
      return %y : {types[2]}
    }}""")
    np.testing.assert_allclose(result(given, {"A": a, "B": b}), wanted)


MAPPED = {
    "linalg.map { arith.addf } ins(%A, %B : {t}, {t}) outs(%e : {t})": lambda a, b: a + b,
    "linalg.map ins(%A, %B : {t}, {t}) outs(%e : {t})\n(%x: f32, %w: f32) {\n"
    "%p = arith.mulf %x, %w : f32\n%q = arith.subf %p, %x : f32\nlinalg.yield %q : f32 }": (
        lambda a, b: a * b - a
    ),
    "linalg.map ins(%A, %B : {t}, {t}) outs(%e : {t})\n(%x: f32, %w: f32, %o: f32) {\n"
    "%p = arith.maximumf %x, %w : f32\nlinalg.yield %p : f32 }": np.maximum,
}


@pytest.mark.parametrize("line", MAPPED)
def test_maps(line: str) -> None:
    type_ = _shown((2, 3))
    a, b = _array(2, 3), _array(2, 3)
    given = from_mlir(f"""
    func.func @f(%A: {type_}, %B: {type_}) -> {type_} {{
      %e = tensor.empty() : {type_}
      %y = {line.replace("{t}", type_)}
      return %y : {type_}
    }}""")
    np.testing.assert_allclose(result(given, {"A": a, "B": b}), MAPPED[line](a, b))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("short", [True, False])
def test_reductions(axis: int, short: bool) -> None:
    a = _array(2, 3)
    start = _array(3 if axis == 0 else 2)
    target = _shown(start.shape)
    region = "(%x: f32, %s: f32) {\n%m = arith.minimumf %x, %s : f32\nlinalg.yield %m : f32 }"
    given = from_mlir(f"""
    func.func @f(%A: tensor<2x3xf32>, %S: {target}) -> {target} {{
      %y = linalg.reduce {"{ arith.addf }" if short else ""} ins(%A : tensor<2x3xf32>)
        outs(%S : {target}) dimensions = [{axis}] {"" if short else region}
      return %y : {target}
    }}""")
    wanted = start + a.sum(axis) if short else np.minimum(start, a.min(axis))
    np.testing.assert_allclose(result(given, {"A": a, "S": start}), wanted)


def _quantized(zeros: tuple[int, int], encoding: str = "") -> str:
    second = f"tensor<3x4xi8{encoding}>"
    return f"""
    func.func @f(%A: tensor<2x3xi8>, %B: {second}) -> tensor<2x4xi32> {{
      %za = arith.constant {zeros[0]} : i32
      %zb = arith.constant {zeros[1]} : i32
      %z = arith.constant 0 : i32
      %e = tensor.empty() : tensor<2x4xi32>
      %s = linalg.fill ins(%z : i32) outs(%e : tensor<2x4xi32>) -> tensor<2x4xi32>
      %y = linalg.quantized_matmul ins(%A, %B, %za, %zb : tensor<2x3xi8>, {second}, i32, i32)
        outs(%s : tensor<2x4xi32>) -> tensor<2x4xi32>
      return %y : tensor<2x4xi32>
    }}"""


CSR = ", #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>"


@pytest.mark.parametrize(
    ("zeros", "encoding"), [((2, 0), CSR), ((2, -1), ""), ((0, 0), CSR), ((0, 3), "")]
)
def test_quantized_products(zeros: tuple[int, int], encoding: str) -> None:
    a, b = _array(2, 3), _array(3, 4)
    found = result(from_mlir(_quantized(zeros, encoding)), {"A": a, "B": b})
    np.testing.assert_array_equal(found, (a - zeros[0]) @ (b - zeros[1]))


def test_a_zero_point_of_sparse_elements_is_refused() -> None:
    with pytest.raises(FuseloomError, match="not dense") as caught:
        from_mlir(_quantized((0, 3), CSR))
    assert "dense tensor" in (caught.value.hint or "")


@pytest.mark.parametrize(("start", "offset"), [("2.0", 2.0), ("0.0", 0.0), ("-1.5", -1.5)])
def test_a_sum_that_starts_at_a_number(start: str, offset: float) -> None:
    given = from_mlir(f"""
    func.func @f(%A: tensor<2x3xf32>, %x: tensor<3xf32>) -> tensor<2xf32> {{
      %c = arith.constant {start} : f32
      %e = tensor.empty() : tensor<2xf32>
      %s = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      %y = linalg.matvec ins(%A, %x : tensor<2x3xf32>, tensor<3xf32>) outs(%s : tensor<2xf32>)
      return %y : tensor<2xf32>
    }}""")
    a, x = _array(2, 3), _array(3)
    np.testing.assert_allclose(result(given, {"A": a, "x": x}), a @ x + offset)


@pytest.mark.parametrize(
    ("encoding", "told"),
    [("", 0), (", #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>", 1)],
)
def test_a_function_of_what_may_lack_elements_is_noted(encoding: str, told: int) -> None:
    """Also where what is sparse is further above."""
    sparse, dense = f"tensor<3x3xf32{encoding}>", "tensor<3x3xf32>"
    given = from_mlir(f"""
    func.func @f(%a: {sparse}, %b: {dense}) -> {dense} {{
      %e = tensor.empty() : {dense}
      %p = linalg.matmul ins(%a, %b : {sparse}, {dense}) outs(%e : {dense}) -> {dense}
      %t = linalg.tanh ins(%p : {dense}) outs(%e : {dense}) -> {dense}
      %x = linalg.exp ins(%t : {dense}) outs(%e : {dense}) -> {dense}
      %y = linalg.add ins(%x, %b : {dense}, {dense}) outs(%e : {dense}) -> {dense}
      %z = linalg.exp ins(%y : {dense}) outs(%e : {dense}) -> {dense}
      return %z : {dense}
    }}""")
    notes = [note for note in given.notes if "acts on the elements that are stored" in note]
    assert len(notes) == told
    assert all(note.startswith("line 6:") for note in notes)
