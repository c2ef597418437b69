"""Data sets by name: stand-ins and what they must match, patterns, digits, real files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.dataflow.compiler import compile_program
from engine.dataflow.sim.program_runs import simulate
from engine.errors import DataError, ProgramError
from engine.frontends.files import GraphData
from engine.models import gcn, graph_data, graph_model, graphsage, load, load_labelled
from engine.models.datasets import GRAPHS, digits, load_graph, pattern, pruned, standin, synthetic
from engine.models.datasets.degrees import directed_degrees, spread, undirected_degrees
from engine.models.datasets.wiring import directed_graph, undirected_graph
from tests.frontends.files import REAL, Citation
from tests.frontends.files.test_graphs import citation_file, ogb_folder

FULL = ["cora", "cora_ml", "dblp", "collab"]
PUBLISHED = {
    # nodes, stored edges, sum of squared degrees (``paper-results.md`` §2)
    "cora": (2_708, 10_556, 115_158),
    "cora_ml": (2_995, 16_316, 290_000),
    "dblp": (17_716, 105_734, 2_170_000),
    "collab": (235_868, 1_935_264, 82_500_000),
}


def counted(graph: GraphData) -> tuple[int, int]:
    """Two-hop paths of the explicit square of the matrix, and self-loops."""
    a = scipy.sparse.csr_array(graph.adjacency, dtype=np.int64)
    ones = np.ones(graph.nodes, dtype=np.int64)
    return int((a @ (a @ ones)).sum()), int((a.diagonal() != 0).sum())


@pytest.mark.parametrize("name", FULL)
def test_standins_cost_what_the_published_graphs_cost(name: str) -> None:
    nodes, edges, squares = PUBLISHED[name]
    graph = standin(GRAPHS[name])
    degrees = np.diff(graph.adjacency.indptr)
    paths, loops = counted(graph)
    assert (graph.nodes, graph.edges) == (nodes, edges)
    assert abs((degrees.astype(np.int64) ** 2).sum() - squares) <= 0.01 * squares
    assert paths == graph.two_hop_paths == (degrees.astype(np.int64) ** 2).sum()
    assert degrees.min() >= 1
    assert loops == 0
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert graph.adjacency.has_canonical_format
    assert set(np.unique(graph.adjacency.data)) == {1.0}
    assert graph.standin
    assert graph.label == f"{GRAPHS[name].title} (stand-in, seed 0)"


def test_the_standin_of_cora_has_its_hub_and_its_words() -> None:
    graph = standin(GRAPHS["cora"])
    assert np.diff(graph.adjacency.indptr).max() == 168
    assert graph.features.shape == (2_708, 1_433)
    assert graph.features.nnz == 49_216
    assert graph.classes == 7


def check_mag(scale: float) -> None:
    facts = GRAPHS["mag"].scaled(scale)
    graph = standin(facts)
    paths, loops = counted(graph)
    assert (graph.nodes, graph.edges) == (round(736_389 * scale), round(5_416_271 * scale))
    assert abs(paths - 1.45e9 * scale) <= 0.01 * 1.45e9 * scale
    assert loops == 0
    assert np.diff(graph.adjacency.indptr).min() >= 1
    assert graph.adjacency.has_canonical_format
    assert (graph.adjacency != graph.adjacency.T).nnz > 0
    assert graph.features.dtype == np.float32
    assert abs(graph.features.std() - 1) < 0.01


def test_a_tenth_of_mag() -> None:
    check_mag(0.1)


@pytest.mark.fuzz
def test_all_of_mag() -> None:
    check_mag(1.0)


@pytest.mark.parametrize("name", ["cora", "dblp"])
def test_standins_follow_their_seed(name: str) -> None:
    one, same, other = (standin(GRAPHS[name], seed) for seed in (1, 1, 2))
    assert (one.adjacency != same.adjacency).nnz == 0
    assert (one.features != same.features).nnz == 0
    assert (one.adjacency != other.adjacency).nnz > 1_000
    assert other.label.endswith("(stand-in, seed 2)")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.integers(0, 3), st.data())
def test_spread_keeps_sum_and_limits(weights: list[float], least: int, data: st.DataObject) -> None:
    most = data.draw(st.integers(least, least + 20))
    total = data.draw(st.integers(len(weights) * least, len(weights) * most))
    made = spread(np.array(weights), total, least, most)
    assert made.sum() == total
    assert made.min() >= least
    assert made.max() <= most


@pytest.mark.parametrize("seed", range(6))
def test_wiring_keeps_every_degree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    degrees = undirected_degrees(rng, 60, 400, 4_000, None)
    graph = undirected_graph(rng, degrees)
    np.testing.assert_array_equal(np.diff(graph.indptr), degrees)
    np.testing.assert_array_equal(graph.toarray(), graph.toarray().T)
    assert set(np.unique(graph.toarray())) == {0.0, 1.0}
    assert not graph.diagonal().any()
    into, out = directed_degrees(rng, 60, 300, 2_500)
    arrows = directed_graph(rng, into, out).toarray()
    np.testing.assert_array_equal(arrows.sum(axis=0), into)
    np.testing.assert_array_equal(arrows.sum(axis=1), out)
    assert set(np.unique(arrows)) == {0.0, 1.0}
    assert not np.diag(arrows).any()


def test_contradictions_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="no degrees give"):
        undirected_degrees(rng, 100, 400, 400, None)
    with pytest.raises(DataError, match="every node has one"):
        undirected_degrees(rng, 100, 50, 400, None)
    with pytest.raises(DataError, match="no degrees give"):
        directed_degrees(rng, 100, 400, 10**9)
    with pytest.raises(DataError, match="no graph of 3 nodes"):
        undirected_graph(rng, np.array([4, 1, 1]))


@pytest.mark.parametrize("kind", ["uniform", "power-law", "block-diagonal"])
@pytest.mark.parametrize("sparsity", [0.0, 0.5, 0.7, 0.95, 1.0])
def test_patterns_have_exactly_their_sparsity(kind: str, sparsity: float) -> None:
    made = pattern(kind, 60, sparsity, seed=3)
    assert made.shape == (60, 60)
    assert made.sum() == round((1 - sparsity) * 3_600)
    np.testing.assert_array_equal(made, pattern(kind, 60, sparsity, seed=3))


def test_patterns_have_their_shapes() -> None:
    rows = {k: np.sort(pattern(k, 400, 0.95).sum(axis=1)) for k in ("uniform", "power-law")}
    top = {kind: degrees[-40:].sum() / degrees.sum() for kind, degrees in rows.items()}
    assert top["uniform"] < 0.17
    assert top["power-law"] > 0.27  # a share of about sqrt(0.1) for weights k ** -0.5
    blocks = pattern("block-diagonal", 400, 0.95)
    member = np.arange(400) // 20
    assert not blocks[np.not_equal.outer(member, member)].any()
    for arguments, message in [(("spiral",), "no pattern"), (("uniform", 5, 2.0), "sparsity 2"),
                               (("uniform", 10**6), "nodes")]:  # fmt: skip
        with pytest.raises(DataError, match=message):
            pattern(*arguments)


def test_pruned_weights_keep_the_largest() -> None:
    weights = pruned((30, 20), 0.25, seed=1)
    whole = np.random.default_rng(1).standard_normal((30, 20))
    kept = weights != 0
    assert kept.sum() == 150
    np.testing.assert_array_equal(weights[kept], whole[kept])
    assert np.abs(whole[~kept]).max() < np.abs(whole[kept]).min()
    assert not pruned((3, 3), 0.0).any()
    with pytest.raises(DataError):
        pruned((3,), 1.5)


def test_digits_are_images() -> None:
    from sklearn.datasets import load_digits

    images = digits(32, seed=5)
    known = {row.tobytes() for row in (load_digits().data / 16).astype(np.float32)}
    assert images.shape == (32, 64)
    assert {row.tobytes() for row in images} <= known
    model, data = load("autoencoder", "digits")
    np.testing.assert_array_equal(data["X"].to_dense(), digits(32))
    run = simulate(compile_program(model.program, model.presets["full"]), data)
    assert run.check().ok
    with pytest.raises(DataError, match="1,798 images"):
        digits(1_798)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match=r"not installed.*fuseloom\[data\]"):
        digits()


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


def test_where_real_files_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Cora" / "raw").mkdir(parents=True)
    Citation().write(tmp_path / "Cora" / "raw", "cora")
    (tmp_path / "dblp" / "raw").mkdir(parents=True)
    citation_file(tmp_path).rename(tmp_path / "dblp" / "raw" / "dblp.npz")
    ogb_folder(tmp_path).rename(tmp_path / "ogbl_collab")
    monkeypatch.setenv("FUSELOOM_DATA_DIR", str(tmp_path))
    found = {name: load_graph(name) for name in ("cora", "dblp", "collab", "cora_ml")}
    assert {n: g.standin for n, g in found.items()} == {
        "cora": False, "dblp": False, "collab": False, "cora_ml": True
    }  # fmt: skip
    assert found["collab"].label == "Collab"
    assert found["collab"].adjacency[2, 1] == found["collab"].adjacency[1, 2] == 1
    assert found["collab"].classes == 2
    with pytest.raises(DataError, match="no folder"):
        load_graph("cora", tmp_path / "nowhere")
    with pytest.raises(DataError, match="no graph is called 'corra'"):
        load_graph("corra")


def test_the_club_is_the_club() -> None:
    graph = load_graph("karate")
    assert (graph.nodes, graph.edges, graph.two_hop_paths) == (34, 156, 1_212)


@pytest.mark.skipif(REAL is None, reason="there is no folder with real data beside the checkout")
def test_the_standin_resembles_the_real_cora() -> None:
    real, made = load_graph("cora", REAL), standin(GRAPHS["cora"])
    if real.standin:
        pytest.skip(f"{REAL} does not hold Cora")
    assert (real.nodes, real.edges, real.classes) == (made.nodes, made.edges, made.classes)
    assert real.features.nnz == made.features.nnz
    assert abs(made.two_hop_paths - real.two_hop_paths) <= 0.01 * real.two_hop_paths
    largest = [np.diff(graph.adjacency.indptr).max() for graph in (real, made)]
    assert largest == [168, 168]
