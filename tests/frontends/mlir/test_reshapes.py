"""Tensors in other shapes: without elements, filled, broadcast and turned ones, too."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fuseloom.frontends.mlir import from_mlir

from .files import result

RNG = np.random.default_rng(3)
A = RNG.normal(size=(2, 3, 4)).astype(np.float32)
SOURCES: dict[str, tuple[str, np.ndarray]] = {
    "argument": ("%s = tensor.cast %A : tensor<2x3x4xf32> to tensor<2x3x4xf32>", A),
    "filled": (
        "%e = tensor.empty() : tensor<2x3x4xf32>\n%c = arith.constant 2.5 : f32\n"
        "%s = linalg.fill ins(%c : f32) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
        np.full(A.shape, 2.5, np.float32),
    ),
    "broadcast": (
        "%p = tensor.extract_slice %A[0, 0, 0] [2, 1, 1] [1, 1, 1]"
        " : tensor<2x3x4xf32> to tensor<2xf32>\n%e = tensor.empty() : tensor<2x3x4xf32>\n"
        "%s = linalg.broadcast ins(%p : tensor<2xf32>) outs(%e : tensor<2x3x4xf32>)"
        " dimensions = [1, 2]",
        np.broadcast_to(A[:, :1, :1], A.shape),
    ),
    "broadcast inside": (
        "%p = tensor.extract_slice %A[0, 0, 0] [2, 1, 4] [1, 1, 1]"
        " : tensor<2x3x4xf32> to tensor<2x4xf32>\n%e = tensor.empty() : tensor<2x3x4xf32>\n"
        "%s = linalg.broadcast ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x3x4xf32>)"
        " dimensions = [1]",
        np.broadcast_to(A[:, :1, :], A.shape),
    ),
    "number": (
        "%o = arith.constant 0 : index\n%n = tensor.extract %A[%o, %o, %o] : tensor<2x3x4xf32>\n"
        "%s = tensor.splat %n : tensor<2x3x4xf32>",
        np.full(A.shape, A[0, 0, 0]),
    ),
    "turned": (
        "%e = tensor.empty() : tensor<4x3x2xf32>\n%f = tensor.empty() : tensor<2x3x4xf32>\n"
        "%t = linalg.transpose ins(%A : tensor<2x3x4xf32>) outs(%e : tensor<4x3x2xf32>)"
        " permutation = [2, 1, 0]\n"
        "%s = linalg.transpose ins(%t : tensor<4x3x2xf32>) outs(%f : tensor<2x3x4xf32>)"
        " permutation = [2, 1, 0]",
        A,
    ),
}
"""Lines that make ``%s``, and what it is."""
T = "tensor<2x3x4xf32>"
MOVES: dict[str, tuple[str, str, object]] = {
    "collapse": (
        f"%r = tensor.collapse_shape %s [[0, 1], [2]] : {T} into tensor<6x4xf32>",
        "tensor<6x4xf32>", lambda x: x.reshape(6, 4),
    ),
    "collapse all": (
        f"%r = tensor.collapse_shape %s [[0, 1, 2]] : {T} into tensor<24xf32>",
        "tensor<24xf32>", lambda x: x.reshape(24),
    ),
    "expand": (
        f"%r = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [2, 3, 2, 2] : {T} into "
        "tensor<2x3x2x2xf32>", "tensor<2x3x2x2xf32>", lambda x: x.reshape(2, 3, 2, 2),
    ),
    "expand by one": (
        f"%r = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 1, 3, 4] : {T} into "
        "tensor<2x1x3x4xf32>", "tensor<2x1x3x4xf32>", lambda x: x.reshape(2, 1, 3, 4),
    ),
    "reshape": (
        "%h = arith.constant dense<[4, 6]> : tensor<2xindex>\n"
        f"%g = tensor.reshape %s(%h) : ({T}, tensor<2xindex>) -> tensor<?x6xf32>\n"
        "%r = tensor.cast %g : tensor<?x6xf32> to tensor<4x6xf32>",
        "tensor<4x6xf32>", lambda x: x.reshape(4, 6),
    ),
    "slice": (
        f"%r = tensor.extract_slice %s[1, 0, 1] [1, 3, 2] [1, 1, 2] : {T} to tensor<3x2xf32>",
        "tensor<3x2xf32>", lambda x: x[1, :, 1::2],
    ),
    "pad": (
        "%z = arith.constant 1.5 : f32\n%r = tensor.pad %s low[0, 1, 0] high[0, 0, 2] {\n"
        "^bb0(%i: index, %j: index, %k: index):\ntensor.yield %z : f32\n"
        f"}} : {T} to tensor<2x4x6xf32>",
        "tensor<2x4x6xf32>",
        lambda x: np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=1.5),
    ),
    "insert": (
        f"%r = tensor.insert_slice %s into %B[1, 0, 0] [2, 3, 4] [2, 1, 1] : {T} into "
        "tensor<4x3x4xf32>", "tensor<4x3x4xf32>", None,
    ),
    "pack": (
        "%d = tensor.empty() : tensor<2x3x2x2xf32>\n"
        f"%r = linalg.pack %s inner_dims_pos = [2] inner_tiles = [2] into %d : {T} -> "
        "tensor<2x3x2x2xf32>", "tensor<2x3x2x2xf32>", lambda x: x.reshape(2, 3, 2, 2),
    ),
}  # fmt: skip
"""Lines that make ``%r`` of ``%s``, its type, and what it is."""


@pytest.mark.parametrize(("source", "move"), list(product(SOURCES, MOVES)))
def test_every_move_of_every_kind_of_value(source: str, move: str) -> None:
    before, value = SOURCES[source]
    lines, type_, wanted = MOVES[move]
    text = f"""
    func.func @f(%A: {T}, %B: tensor<4x3x4xf32>) -> {type_} {{
      {before}
      {lines}
      %one = arith.constant 1.0 : f32
      %w = tensor.splat %one : {type_}
      %y = linalg.add ins(%r, %w : {type_}, {type_}) outs(%r : {type_}) -> {type_}
      return %y : {type_}
    }}"""
    b = RNG.normal(size=(4, 3, 4)).astype(np.float32)
    moved = b.copy()
    moved[1::2] = value
    expected = wanted(value) if callable(wanted) else moved
    imported = from_mlir(text)
    found = result(imported, {"A": A, "B": b})
    np.testing.assert_allclose(found, expected + 1, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("move", [m for m in MOVES if m not in ("pad", "insert", "pack")])
def test_what_has_no_elements_is_a_destination_in_every_shape(move: str) -> None:
    lines, type_, wanted = MOVES[move]
    assert callable(wanted)
    shape = wanted(A).shape
    text = f"""
    func.func @f(%x: {type_}) -> {type_} {{
      %s = tensor.empty() : {T}
      {lines}
      %y = linalg.exp ins(%x : {type_}) outs(%r : {type_}) -> {type_}
      return %y : {type_}
    }}"""
    x = RNG.normal(size=shape)
    np.testing.assert_allclose(result(from_mlir(text), {"x": x}), np.exp(x), rtol=1e-5)


def test_a_loop_that_was_unrolled_writes_into_slices() -> None:
    part = "tensor<1x4xf32>"
    lines = "".join(
        f"""
      %d{k} = tensor.extract_slice %e{k}[{k}, 0] [1, 4] [1, 1] : tensor<3x4xf32> to {part}
      %s{k} = tensor.extract_slice %A[{k}, 0] [1, 4] [1, 1] : tensor<3x4xf32> to {part}
      %r{k} = linalg.exp ins(%s{k} : {part}) outs(%d{k} : {part}) -> {part}
      %e{k + 1} = tensor.insert_slice %r{k} into %e{k}[{k}, 0] [1, 4] [1, 1]
        : {part} into tensor<3x4xf32>"""
        for k in range(3)
    )
    text = f"""
    func.func @f(%A: tensor<3x4xf32>) -> tensor<3x4xf32> {{
      %e0 = tensor.empty() : tensor<3x4xf32>{lines}
      return %e3 : tensor<3x4xf32>
    }}"""
    a = RNG.normal(size=(3, 4))
    np.testing.assert_allclose(result(from_mlir(text), {"A": a}), np.exp(a), rtol=1e-5)
