"""Compositions of calls whose functions are kernels of other systems."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import scipy.sparse

from fuseloom.calls.annotated import AnnotatedFunction, DataHandle, annotate
from fuseloom.calls.data_kinds import CsrRows, Matrix
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.pipelines import Array, Extents, PipelineCase, ShippedPipeline
from fuseloom.comparison.black_boxes import KernelBox, array_call, loop_nest, stitched

ROWS = """
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: width } }
  when consumes { a { row: i, col: 0, rows: n, cols: width } }
}"""
"""The annotation of a function of whole rows."""
DENSITY = 0.05
"""Of the sparse matrix of a graph."""


def softmax_text(shape: tuple[int, int]) -> str:
    """The program of the softmax of rows."""
    return (
        f"C: {shape[0]}x{shape[1]} dense\nx[i] = max[j] C[i,j]\nd[i,j] = C[i,j] - x[i]\n"
        "e[i,j] = exp(d[i,j])\ns[i] = e[i,j]\nR[i,j] = e[i,j] / s[i]\noutput R\n"
    )


def scores_text(left: tuple[int, int], right: tuple[int, int]) -> str:
    """The program of the product of a matrix and the transpose of another."""
    return (
        f"Q: {left[0]}x{left[1]} dense\nK: {right[0]}x{right[1]} dense\n"
        "S[i,j] = Q[i,k] * K[j,k]\noutput S\n"
    )


def aggregation_text(adjacency: tuple[int, int], features: tuple[int, int]) -> str:
    """The program of the product of a sparse and a dense matrix."""
    return (
        f"A: {adjacency[0]}x{adjacency[1]} csr\nT: {features[0]}x{features[1]} dense\n"
        "Y[i,j] = A[i,k] * T[k,j]\noutput Y\n"
    )


def relu_text(shape: tuple[int, int]) -> str:
    """The program of a rectifier."""
    return f"Y: {shape[0]}x{shape[1]} dense\nR[i,j] = relu(Y[i,j])\noutput R\n"


def _rows(name: str, box: KernelBox) -> AnnotatedFunction:
    """A function of whole rows: the width is no operand of its kernel."""
    return annotate(lambda a, width, out: box(a, out), ROWS, ("a", "width", "out"), name)


def _attention(n: Extents, rng: np.random.Generator) -> PipelineCase:
    """Scores by an array, their softmax by a stitched kernel, and the product by NumPy."""
    case = PipelineCase()
    q, k, v = (_random(rng, n["h"], n["w"]) for _ in range(3))
    box = KernelBox(scores_text, array_call)
    row = LIBRARY["gemm_transposed"]
    scores = annotate(
        lambda a, b, depth, out: box(a, b, out), _whole_rows(), row.parameters, "array_scores"
    )
    s, r, o = (DataHandle(name, Matrix(np.float32)) for name in ("S", "R", "O"))
    case.calls.append(scores(case.give("Q", q), case.give("K", k), n["w"], s))
    case.calls.append(_rows("stitched_softmax", KernelBox(softmax_text, stitched))(s, n["h"], r))
    product = LIBRARY["gemm_rows"].annotated
    case.calls.append(product(r, case.give("V", v), n["h"], n["w"], o))
    wide = q.astype(np.float64) @ k.T.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return _finished(case, powers / powers.sum(axis=1, keepdims=True) @ v)


def _whole_rows() -> str:
    """The annotation of a product with a transpose by whole rows, which need all of the other."""
    return """
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: b.rows } }
  when consumes {
    a { row: i, col: 0, rows: n, cols: depth },
    b { row: 0, col: 0, rows: b.rows, cols: depth }
  }
}"""


def _graph_layer(n: Extents, rng: np.random.Generator) -> PipelineCase:
    """Features by NumPy, their sums over neighbours by a loop nest, and a stitched rectifier."""
    case = PipelineCase()
    x, w = _random(rng, n["h"], n["w"]), _random(rng, n["w"], n["w"])
    adjacency = scipy.sparse.random_array(
        (n["h"], n["h"]), density=DENSITY, format="csr", dtype=np.float32, rng=rng
    )
    row = LIBRARY["sparse_times_dense"]
    box = KernelBox(aggregation_text, loop_nest)
    sums = annotate(
        lambda s, b, depth, out: box(s, b, out), row.annotation, row.parameters, "nest_sums"
    )
    t, y, r = (DataHandle(name, Matrix(np.float32)) for name in ("T", "Y", "R"))
    product = LIBRARY["gemm_rows"].annotated
    case.calls.append(product(case.give("X", x), case.give("W", w), n["w"], n["w"], t))
    case.given["A"] = adjacency
    case.calls.append(sums(DataHandle("A", CsrRows()), t, n["h"], y))
    case.calls.append(_rows("stitched_relu", KernelBox(relu_text, stitched))(y, n["w"], r))
    return _finished(case, np.maximum(adjacency.astype(np.float64) @ (x.astype(np.float64) @ w), 0))


def _random(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def _finished(case: PipelineCase, expected: Array) -> PipelineCase:
    case.expected = expected
    case.result = np.empty(expected.shape, np.float32)
    return case


COMPOSED: Mapping[str, ShippedPipeline] = MappingProxyType({
    made.name: made
    for made in (
        ShippedPipeline(
            "attention-composed", "scores by an array, a stitched softmax, a product by NumPy",
            {"h": 256, "w": 64}, "n", _attention, ("h w", "h h"),
        ),
        ShippedPipeline(
            "graph-layer-composed", "features by NumPy, sums by a loop nest, a stitched rectifier",
            {"h": 1024, "w": 64}, "n", _graph_layer, ("h w", "h h"),
        ),
    )
})  # fmt: skip
"""Compositions by name, as those of :mod:`fuseloom.calls.pipelines`."""
