"""The storage of writers and accumulators grows with its contents."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from tests.dataflow.sim.compiled.graphs import (
    CRD,
    OURS,
    VAL,
    assert_equal,
    graph,
    softmax,
    tokens,
)


def test_outputs_longer_than_a_writers_buffer() -> None:
    bound = softmax(300, 300)
    result = compiled.run(bound, OURS)
    np.testing.assert_array_equal(result.outputs[11]["seg"], np.arange(301) * 300)
    np.testing.assert_array_equal(result.outputs[11]["crd"], np.tile(np.arange(300), 300))


def test_accumulator_with_a_huge_dimension_and_tiny_rows() -> None:
    """Rows of three scattered coordinates cost the same whatever the dimension."""
    rng = np.random.default_rng(0)
    dim, rows = 3_000_000, 2000
    columns = np.sort(rng.integers(0, dim, (rows, 3)), axis=1)
    inner = " ".join(f"{a} {b} {c} S1" for a, b, c in columns)
    inner = inner.removesuffix("S1") + "S2 D"
    outer = "0 S0 " * (rows - 1) + "0 S1 D"
    bound = graph(
        [CRD, CRD, VAL, CRD, VAL],
        ("source", (), (0,), {"kind": "crd"}),
        ("source", (), (1,), {"kind": "crd"}),
        ("source", (), (2,), {"kind": "val"}),
        ("spacc1", (0, 1, 2), (3, 4), {"fn": "add", "dim": dim}),
        ("crdwrite", (3,), (), {"tensor": "T", "level": 0}),
        ("valwrite", (4,), (), {"tensor": "T"}),
        n0=tokens(outer),
        n1=tokens(inner),
        n2=tokens(inner, VAL),
    )
    result = compiled.run(bound, OURS)
    np.testing.assert_array_equal(result.outputs[4]["crd"], columns.reshape(-1))
    assert_equal(interpreter.run(bound, OURS), result)
