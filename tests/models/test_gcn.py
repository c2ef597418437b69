"""The ready-made models, against plain numpy and against their own description."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from engine.errors import DataError, ProgramError
from engine.models import (
    DATASETS,
    MODELS,
    Model,
    attention,
    gcn,
    karate,
    load,
    random_data,
)
from engine.program import LevelFormat, evaluate, parse


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


def test_karate() -> None:
    data = karate()
    assert {name: t.tensor.shape for name, t in data.items()} == {
        "A": (34, 34), "X": (34, 34), "W1": (34, 16), "b1": (16,), "W2": (16, 4), "b2": (4,),
    }  # fmt: skip
    assert data["A"].nnz == 156
    assert set(data["A"].values.tolist()) == {1.0}
    assert data["A"].tensor.format.levels == (LevelFormat.COMPRESSED,) * 2
    np.testing.assert_array_equal(data["X"].to_dense(), np.eye(34))
    assert 0.4 < data["W1"].nnz / (34 * 16) < 0.6
    assert karate(1)["W1"].content_hash() == karate(1)["W1"].content_hash()
    assert karate(1)["W1"].content_hash() != karate(2)["W1"].content_hash()


def test_attention_equals_a_plain_masked_softmax() -> None:
    model = attention(tokens=6, features=3)
    data = random_data(model, seed=1, density=0.5)
    q, k, m, v = (data[name].to_dense() for name in "QKMV")
    assert set(np.unique(m)) <= {0.0, 1.0}
    scores = np.where(m > 0, q @ k.T / np.sqrt(3), -np.inf)
    rows = m.any(axis=1)
    weights = np.zeros((6, 6))
    weights[rows] = np.exp(scores[rows]) / np.exp(scores[rows]).sum(axis=1, keepdims=True)
    result = evaluate(model.program, data)["O"]
    np.testing.assert_array_equal(result.present.any(axis=1), rows)
    np.testing.assert_allclose(result.dense(), weights @ v, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_models_describe_themselves(name: str) -> None:
    model = MODELS[name]()
    covered = [output for kernel in model.kernels for output in kernel.statements]
    assert covered == [s.out.tensor for s in model.program.statements]
    assert parse(str(model.program)) == model.program
    assert model.program.name == name
    for seed in range(2):
        _, data = load(name, "random", seed)
        for output in model.program.outputs:
            assert np.isfinite(evaluate(model.program, data)[output].values).all()


def test_gcn_has_eight_kernels_and_three_presets() -> None:
    model = gcn()
    assert len(model.kernels) == 8
    assert model.presets["unfused"] == "fuse x..Y"
    assert model.presets["partial"] == "fuse T1..H; fuse T5..Y"
    assert model.presets["full"] == "fuse T1..Y"


def test_unknown_names() -> None:
    assert set(DATASETS) >= {"karate", "random"}
    for arguments, message in [
        (("gnc",), "did you mean 'gcn'"),
        (("gcn", "karat"), "did you mean 'karate'"),
        (("spmv", "karate"), "does not fit model spmv.*random"),
    ]:
        with pytest.raises(ProgramError, match=message):
            load(*arguments)
    with pytest.raises(ProgramError, match="dimension 0 of A is 0"):
        gcn(nodes=0)


def test_random_data_refuse_a_tensor_too_large_to_make_up() -> None:
    program = parse("A: 1000000x1000000 dcsr\nT[i] = A[i,j]")
    with pytest.raises(DataError, match="too many to make up at random"):
        random_data(Model(program, ()))
