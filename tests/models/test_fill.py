"""Data of a model from a graph: sizes, what is given, and weights for the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import DataError
from fuseloom.frontends.files import GraphData
from fuseloom.models import gcn, graph_data, graph_model, graphsage, spmm
from fuseloom.models.datasets import HIDDEN, synthetic
from fuseloom.models.fill import WEIGHT_DENSITY, filled


def graph() -> GraphData:
    return synthetic("power-law", 30, 12, 0.85, 0)


def test_a_models_sizes_are_those_of_the_graph() -> None:
    given = graph()
    model = graph_model(gcn, given)
    assert model.program.tensor("X").shape == (30, given.features.shape[1])
    assert model.program.tensor("W1").shape[1] == HIDDEN
    single = graph_model(gcn, replace(given, classes=1))
    assert single.program.tensor("W2").shape == (HIDDEN, 2)  # one class says nothing
    with pytest.raises(DataError, match="has no features"):
        graph_model(gcn, replace(given, features=None))


def test_what_is_given_is_kept_and_the_rest_is_made_up() -> None:
    given = graph()
    model = graph_model(gcn, given)
    data = graph_data(model, given, seed=3)
    assert set(data) == set(model.program.inputs)
    np.testing.assert_array_equal(data["A"].to_dense(), given.adjacency.toarray())
    for name in ("W1", "W2"):
        assert data[name].nnz == round(WEIGHT_DENSITY * np.prod(data[name].tensor.shape))
    assert data["b1"].nnz == HIDDEN  # vectors are dense
    assert graph_data(model, given, 3)["W1"].content_hash() == data["W1"].content_hash()
    assert graph_data(model, given, 4)["W1"].content_hash() != data["W1"].content_hash()


def test_weights_keep_the_size_of_sums() -> None:
    print("seed 0")
    model = graph_model(gcn, synthetic("power-law", 60, 400, 0.8, 0))
    weights = filled(model, {}, seed=0)["W1"].to_dense()
    sums = np.random.default_rng(1).standard_normal((200, 400)) @ weights
    assert 0.7 < sums.std() < 2.5


def test_other_sizes_are_refused() -> None:
    with pytest.raises(DataError):
        filled(spmm(), {"A": np.ones((2, 2))})


@pytest.mark.parametrize("build", [gcn, graphsage])
@pytest.mark.parametrize("preset", ["unfused", "full"])
def test_models_on_graphs(build: object, preset: str) -> None:
    model = graph_model(build, graph())
    data = graph_data(model, graph(), seed=2)
    np.testing.assert_array_equal(data["A"].to_dense(), graph().adjacency.toarray())
    np.testing.assert_array_equal(data["X"].to_dense(), graph().features)
    weights = [n for n in model.program.inputs if n.startswith("W")]
    assert all(data[n].nnz == round(0.5 * np.prod(data[n].tensor.shape)) for n in weights)
    assert simulate(compile_program(model.program, model.presets[preset]), data).check().ok
