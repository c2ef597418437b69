"""Statements of regions, maps, transpositions and broadcast modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.program import BroadcastAdd
from tests.frontends.mlir.texts import statements

from .files import imported


def test_keep_dim_maps_leave_the_dimension_out() -> None:
    assert statements("softmax_argmax") == [
        "t4[d0] = max[d1] arg0[d0,d1]",
        "t6[d0,d1] = arg0[d0,d1] - t4[d0]",
        "t7[d0,d1] = exp(t6[d0,d1])",
        "t9[d0] = t7[d0,d1]",
        "t10[d0,d1] = t7[d0,d1] / t9[d0]",
    ]
    assert statements("keep_dim_reshape")[-1] == "t3[d0] = t1[d0] * t1[d0]"
    assert statements("unit_dimension") == [
        "b_flat[d0] = b[d0,d1]",
        "t0[d0,d1] = x[d0,d1] + b_flat[d0]",
    ]


def test_statements_of_regions() -> None:
    assert statements("sddmm") == ["t1[i,j] = product(M[i,j], A[i,k], B[j,k])"]
    assert statements("compound_body") == [
        "t0_1_1_1[i,j] = A[i,j] + B[i,j]",
        "t0_1_1_2[i,j] = A[i,j] - B[i,j]",
        "t0_1_1[i,j] = t0_1_1_1[i,j] * t0_1_1_2[i,j]",
        "t0_1[i,j] = exp(t0_1_1[i,j])",
        "t0[i] = t0_1[i,j]",
    ]
    assert statements("accumulate") == ["t0_sum[i] = A[i,j] * x[j]", "t0[i] = t0_sum[i] + y[i]"]
    assert statements("broadcast_bias") == ["t3[d0,d1] = A[d0,d1] + b[d1]"]
    assert statements("casts") == ["t3[d0] = x[d0,d1]", "y[d0] = exp(t3[d0])"]
    assert statements("relu_select") == ["t1[d0,d1] = relu(A[d0,d1])"]


def test_broadcast_mode() -> None:
    assert imported("dense_broadcast").program.broadcast_add is BroadcastAdd.DENSE
    assert imported("broadcast_bias").program.broadcast_add is BroadcastAdd.SPARSE


A = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(4, 2, 3)).astype(np.float32)
TURNED = A.transpose(2, 0, 1)
AFTER: dict[str, tuple[str, str, Any]] = {
    "collapsed": ("8x3", "tensor.collapse_shape %t [[0, 1], [2]] : {t} into {r}",
                  TURNED.reshape(8, 3)),
    "expanded": ("2x2x2x3", "tensor.expand_shape %t [[0, 1], [2], [3]] output_shape [2, 2, 2, 3] "
                 ": {t} into {r}", TURNED.reshape(2, 2, 2, 3)),
    "a part": ("2x2x2", "tensor.extract_slice %t[1, 0, 1] [2, 2, 2] [1, 1, 1] : {t} to {r}",
               TURNED[1:3, 0:2, 1:3]),
    "one row": ("2x3", "tensor.extract_slice %t[1, 0, 0] [1, 2, 3] [1, 1, 1] : {t} to {r}",
                TURNED[1]),
    "padded": ("5x3x3", "tensor.pad %t low[1, 0, 0] high[0, 1, 0] {{\n"
               "  ^bb0(%i: index, %j: index, %k: index):\n    tensor.yield %two : f32\n"
               "  }} : {t} to {r}",
               np.pad(TURNED, ((1, 0), (0, 1), (0, 0)), constant_values=2)),
    "inserted": ("6x2x3", "tensor.insert_slice %t into %z[1, 0, 0] [4, 2, 3] [1, 1, 1] "
                 ": {t} into {r}", np.pad(TURNED, ((1, 1), (0, 0), (0, 0)))),
    "beside itself": ("8x2x3", "tensor.concat dim(0) %t, %t : ({t}, {t}) -> {r}",
                      np.concatenate([TURNED, TURNED])),
    "turned back": ("2x3x4", "linalg.transpose ins(%t : {t}) outs(%o : {r}) "
                    "permutation = [1, 2, 0]", A),
    "of each element": ("4x2x3", "linalg.exp ins(%t : {t}) outs(%o : {r}) -> {r}",
                        np.exp(TURNED)),
    "of two": ("4x2x3", "linalg.sub ins(%t, %b : {t}, {t}) outs(%o : {r}) -> {r}", TURNED - B),
    "summed": ("4x3", "linalg.reduce {{ arith.addf }} ins(%t : {t}) outs(%z : {r}) "
               "dimensions = [1]", TURNED.sum(1)),
    "summed into": ("4x2x3", "linalg.reduce {{ arith.addf }} ins(%w : tensor<4x2x3x2xf32>) "
                    "outs(%t : {t}) dimensions = [3]", TURNED + 4),
    "broadcast": ("4x5x2x3", "linalg.broadcast ins(%t : {t}) outs(%o : {r}) dimensions = [1]",
                  np.repeat(TURNED[:, None], 5, 1)),
    "softmax": ("4x2x3", "linalg.softmax dimension(0) ins(%t : {t}) outs(%o : {r}) -> {r}",
                np.exp(TURNED) / np.exp(TURNED).sum(0)),
    "multiplied": ("4x2x4", "linalg.batch_matmul ins(%t, %a2 : {t}, tensor<4x3x4xf32>) "
                   "outs(%z : {r}) -> {r}", TURNED @ np.full((4, 3, 4), 2.0)),
    "packed": ("2x2x3x2", "linalg.pack %t inner_dims_pos = [0] inner_tiles = [2] into %o "
               ": {t} -> {r}", TURNED.reshape(2, 2, 2, 3).transpose(0, 2, 3, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", AFTER)
def test_a_dense_transposition_is_read_in_place(name: str) -> None:
    """Whatever reads a transposed tensor reads its elements where they are."""
    shape, line, wanted = AFTER[name]
    turned, result = "tensor<4x2x3xf32>", f"tensor<{shape}xf32>"
    text = f"""
func.func @f(%a: tensor<2x3x4xf32>, %b: {turned}) -> {result} {{
  %e = tensor.empty() : {turned}
  %o = tensor.empty() : {result}
  %z = arith.constant dense<0.0> : {result}
  %w = arith.constant dense<2.0> : tensor<4x2x3x2xf32>
  %a2 = arith.constant dense<2.0> : tensor<4x3x4xf32>
  %two = arith.constant 2.0 : f32
  %t = linalg.transpose ins(%a : tensor<2x3x4xf32>) outs(%e : {turned}) permutation = [2, 0, 1]
  %r = {line.format(t=turned, r=result)}
  return %r : {result}
}}"""
    made = fl.from_mlir(text)
    given = {"a": A, "b": B, **made.data}
    program = made.program
    assert "t" not in program.by_name, program
    run = fl.simulate(fl.compile(program), {n: given[n] for n in program.inputs if n in given})
    found = run.outputs[program.outputs[0]].to_dense()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_transposition_that_stores_otherwise_is_a_statement() -> None:
    """A sparse tensor, or a result of its own format, is copied in the order that is asked for."""
    text = """
#csc = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @f(%a: tensor<3x4xf32, #csc>, %b: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %t = linalg.transpose ins(%a : tensor<3x4xf32, #csc>) outs(%e : tensor<4x3xf32>)
       permutation = [1, 0]
  %r = linalg.add ins(%t, %b : tensor<4x3xf32>, tensor<4x3xf32>)
       outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}"""
    assert fl.from_mlir(text).program.statements[0].out.tensor == "t"
