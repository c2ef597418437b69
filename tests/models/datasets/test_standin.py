"""Stand-ins cost what the published graphs cost."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fuseloom.frontends.files import GraphData
from fuseloom.models.datasets import GRAPHS, load_graph, standin
from tests.frontends.files import REAL

FULL = ["cora", "cora_ml", "dblp", "collab"]

PUBLISHED = {
    # nodes, stored edges, sum of squared degrees (docs/spec/accounting.md §2)
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


@pytest.mark.fuzz  # takes a minute
def test_all_of_mag() -> None:
    check_mag(1.0)


@pytest.mark.parametrize("name", ["cora", "dblp"])
def test_standins_follow_their_seed(name: str) -> None:
    one, same, other = (standin(GRAPHS[name], seed) for seed in (1, 1, 2))
    assert (one.adjacency != same.adjacency).nnz == 0
    assert (one.features != same.features).nnz == 0
    assert (one.adjacency != other.adjacency).nnz > 1_000
    assert other.label.endswith("(stand-in, seed 2)")


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


def test_the_club_is_the_club() -> None:
    graph = load_graph("karate")
    assert (graph.nodes, graph.edges, graph.two_hop_paths) == (34, 156, 1_212)


def test_nodes_of_other_types_have_no_edges() -> None:
    facts = GRAPHS["mag_all"]
    assert (facts.nodes, facts.nodes - facts.others) == (1_939_743, GRAPHS["mag"].nodes)
    scaled = facts.scaled(0.1)
    graph = standin(scaled)
    papers = scaled.nodes - scaled.others
    assert graph.nodes == scaled.nodes == 193_974
    assert graph.edges == scaled.edges
    assert graph.features.shape[0] == graph.nodes
    degrees = np.diff(graph.adjacency.indptr)
    assert degrees[:papers].min() >= 1
    assert degrees[papers:].max() == 0
    assert graph.adjacency.indices.max() < papers
