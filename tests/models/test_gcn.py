"""The ready-made models, against plain numpy and against their own description."""

from __future__ import annotations

import networkx as nx
import numpy as np

from fuseloom.models import (
    gcn,
    load,
)
from fuseloom.program import evaluate


def test_gcn_equals_a_plain_forward_pass() -> None:
    model, data = load("gcn", "karate", seed=3)
    graph = nx.karate_club_graph()
    a = np.zeros((34, 34))
    for u, v in graph.edges:
        a[u, v] = a[v, u] = 1
    w1, b1, w2, b2 = (data[name].to_dense() for name in ("W1", "b1", "W2", "b2"))
    hidden = np.maximum(a @ np.eye(34) @ w1 + b1, 0)
    logits = a @ hidden @ w2 + b2
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    result = evaluate(model.program, data)["Y"]
    assert result.present.all()
    np.testing.assert_allclose(result.values, expected, rtol=1e-9)


def test_an_isolated_node_has_no_row() -> None:
    model = gcn(nodes=3, features=2, hidden=2, classes=2)
    ones = {
        t.name: np.ones(t.shape) for t in model.program.tensors if t.name in model.program.inputs
    }
    ones["A"] = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert evaluate(model.program, ones)["Y"].present.tolist() == [
        [True] * 2,
        [True] * 2,
        [False] * 2,
    ]


def test_gcn_has_eight_kernels_and_three_presets() -> None:
    model = gcn()
    assert len(model.kernels) == 8
    assert model.presets["unfused"] == "fuse x..Y"
    assert model.presets["partial"] == "fuse T1..H; fuse T5..Y"
    assert model.presets["full"] == "fuse T1..Y"
