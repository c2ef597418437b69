"""Statements of regions, maps and broadcast modes."""

from __future__ import annotations

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
