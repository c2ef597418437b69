"""Data sets by name: stand-ins and what they must match, patterns, digits, real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.sim.program_runs import simulate
from engine.errors import DataError, ProgramError
from engine.frontends.files import GraphData
from engine.models import gcn, graph_data, graph_model, graphsage, load, load_labelled
from engine.models.datasets import load_graph, synthetic
from tests.frontends.files import Citation


def small(seed: int = 0) -> GraphData:
    return synthetic("power-law", 30, 12, 0.85, seed)


@pytest.mark.parametrize("build", [gcn, graphsage])
@pytest.mark.parametrize("preset", ["unfused", "full"])
def test_models_on_graphs(build: object, preset: str) -> None:
    model = graph_model(build, small())  # type: ignore[arg-type]
    data = graph_data(model, small(), seed=2)
    np.testing.assert_array_equal(data["A"].to_dense(), small().adjacency.toarray())
    np.testing.assert_array_equal(data["X"].to_dense(), small().features)
    weights = [n for n in model.program.inputs if n.startswith("W")]
    assert all(data[n].nnz == round(0.5 * np.prod(data[n].tensor.shape)) for n in weights)
    assert simulate(compile_program(model.program, model.presets[preset]), data).check().ok


def test_names_and_files(tmp_path: Path) -> None:
    Citation().write(tmp_path, "cora")
    loaded = load_labelled("gcn", "cora", data_dir=tmp_path)
    assert (loaded.label, loaded.standin) == ("Cora", False)
    assert loaded.model.program.tensor("X").shape == (9, 5)
    assert loaded.model.program.tensor("W2").shape == (16, 3)
    direct = load_labelled("graphsage", str(tmp_path))
    assert direct.label == "cora"
    assert direct.data["A"].content_hash() == loaded.data["A"].content_hash()
    with pytest.raises(ProgramError, match="does not fit model spmv"):
        load("spmv", str(tmp_path))
    with pytest.raises(ProgramError, match="does not fit model spmv"):
        load("spmv", "cora")
    edges = tmp_path / "edges.csv"
    edges.write_text("0,1\n")
    with pytest.raises(DataError, match="edges has no features"):
        load("gcn", str(edges))


def test_the_club_is_the_club() -> None:
    graph = load_graph("karate")
    assert (graph.nodes, graph.edges, graph.two_hop_paths) == (34, 156, 1_212)
