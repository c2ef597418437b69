"""PyTorch Geometric's layers and models, as it ships them."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn

import fuseloom as fl
from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.program import Op, evaluate
from tests.frontends.torch.geometric import (
    CASES,
    DOUBLED,
    EDGES,
    NODES,
    case,
    geo,
    numbers,
    per_edge,
)

SIMULATED = [
    "GCNConv, doubled weights", "SAGEConv, max, doubled edges", "SAGEConv, mean, csr",
    "GATv2Conv, doubled edges", "TransformerConv, csr", "PNAConv", "a graph classifier",
    "link prediction", "DenseGCNConv",
]  # fmt: skip


def test_the_cases_are_many() -> None:
    assert len(CASES) >= 63


@cache
def imported(name: str) -> Any:
    return fl.from_torch(*case(name))


@pytest.mark.parametrize("name", CASES)
def test_agrees(name: str) -> None:
    result = imported(name)
    assert fl.parse(str(result.program)) == result.program
    assert result.check().ok, f"{result.check()}\n{result.program}"


@pytest.mark.parametrize("name", SIMULATED)
def test_every_preset_compiles_runs_and_agrees(name: str) -> None:
    result = imported(name)
    for preset, schedule in result.presets.items():
        run = fl.simulate(fl.compile(result.program, schedule), result.data)
        assert run.check(1e-4).ok, f"{preset}: {run.check(1e-4)}"
        assert result.check(run.outputs).ok, f"{preset}: {result.check(run.outputs)}"


@pytest.mark.parametrize(
    "name",
    ["GCNConv, edges", "GCNConv, doubled weights", "GCNConv, csr", "GCNConv, coo with weights"],
)
def test_a_list_of_edges_is_a_matrix_once(name: str) -> None:
    """Self loops, degrees and normalisation are computed beforehand; A X W is what remains."""
    program = imported(name).program
    assert len(program.statements) == 3
    (product,) = [s for s in program.statements if len(s.reduced) and s.out.tensor != "linear"]
    assert product.operands[0].tensor == "edge_index_weights"
    assert program.tensor("edge_index_weights").shape == (NODES, NODES)


def test_layers_share_a_matrix() -> None:
    """That of the edges as they are; layers that weigh them have one each."""
    program = imported("GIN").program
    assert [n for n in program.inputs if "edge_index" in n] == ["edge_index_adjacency"]
    program = imported("GCN").program
    assert [n for n in program.inputs if "edge_index" in n] == [
        "edge_index_weights",
        "edge_index_weights_0",
    ]


def test_attention_runs_over_the_pattern() -> None:
    result = imported("GATConv")
    assert all("rows" not in n and "targets" not in n for n in result.program.inputs)
    (name,) = [s.out.tensor for s in result.program.statements if s.op is Op.EXP]
    evaluated = evaluate(result.program, result.data)[name]
    loops = NODES - int((EDGES[0] == EDGES[1]).sum())
    assert evaluated.present.sum() == EDGES.shape[1] + loops


def test_what_became_of_the_edges_is_said() -> None:
    assert imported("SGConv").notes == (
        f"15 edges of edge_index are a matrix of {NODES} x {NODES} with 15 elements",
    )
    (note,) = imported("GCNConv, doubled edges").notes
    assert note.endswith("up to 2 join the same nodes: they are added up in edge_index_weights")
    (note,) = imported("GATConv, doubled edges").notes
    assert note.endswith("up to 2 join the same nodes and have a dimension of their own")
    assert imported("DenseSAGEConv").notes == ()


def test_the_matrix_is_stored_as_the_edges_are_annotated() -> None:
    module, inputs = case("GraphConv")
    result = fl.from_torch(module, inputs, {"edge_index": "csr"})
    assert f"edge_index_adjacency: {NODES}x{NODES} csr\n" in str(result.program)
    assert result.check().ok
    module, inputs = case("GATConv")
    with pytest.raises(ProgramError, match="stored with elements that it removes"):
        fl.from_torch(module, inputs, {"edge_index": "dense"})


def shuffled(edges: Any) -> Any:
    """As many edges, loops and doubles between other nodes."""
    return (edges + 2) % NODES


@pytest.mark.parametrize(
    "name",
    ["GCNConv, weights", "GATConv, doubled edges", "GATv2Conv", "SAGEConv, mean", "EdgeConv"],
)
def test_other_edges(name: str) -> None:
    """Matrix, degrees and normalisation follow the edges that a program is bound to."""
    module, (x, edges, *rest) = case(name)
    result = fl.from_torch(module, (x, edges, *rest))
    new = (numbers(NODES, x.shape[1], seed=9), shuffled(edges), *(2 * r for r in rest))
    other = result.bind(*new)
    assert other.check().ok, str(other.check())
    assert not torch.equal(torch.as_tensor(other.expected[0]), torch.as_tensor(result.expected[0]))


def test_edges_that_the_program_was_not_made_for() -> None:
    module, (x, edges) = case("GATConv")
    result = fl.from_torch(module, (x, edges))
    loops = edges.clone()
    loops[1, 0] = loops[0, 0]
    with pytest.raises(DataError, match="other operations, or on other sizes"):
        result.bind(x, loops)
    doubled = edges.clone()
    doubled[:, 0] = doubled[:, 1]
    with pytest.raises(DataError, match="2 edges of edge_index join the same two nodes"):
        result.bind(x, doubled)
    with pytest.raises(DataError, match="PyTorch itself cannot compute"):
        result.bind(x, edges + NODES)


def test_two_lists_of_edges() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.near, self.far = geo.SAGEConv(4, 3), geo.GATConv(4, 3, add_self_loops=False)

        def forward(self, x: Any, near: Any, far: Any) -> Any:
            return self.near(x, near) + self.far(x, far)

    result = fl.from_torch(Both(), (numbers(NODES, 4), EDGES, shuffled(DOUBLED)))
    assert result.check().ok
    assert sum(" edges of " in note for note in result.notes) == 2
    assert {"near_adjacency", "far_adjacency"} <= set(result.program.inputs)


def test_nodes_of_two_kinds() -> None:
    between = torch.tensor([[0, 1, 2, 6, 6], [0, 0, 3, 3, 1]])
    torch.manual_seed(0)
    layer = geo.SAGEConv((4, 2), 3)
    result = fl.from_torch(layer, ((numbers(NODES, 4), numbers(5, 2)), between))
    assert result.check().ok
    assert result.program.tensor("edge_index_adjacency").shape == (5, NODES)


def test_importing_prints_nothing_and_warns_of_nothing(capfd: Any) -> None:
    module, inputs = case("GCNConv, csr")
    capfd.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fl.from_torch(module, inputs)
    assert capfd.readouterr() == ("", "")


def test_values_may_not_be_branched_on() -> None:
    class Branching(nn.Module):
        def forward(self, x: Any, edge_index: Any) -> Any:
            x = x.index_select(0, edge_index[0])
            return x if float(x.sum()) > 0 else -x

    with pytest.raises(FuseloomError, match="branches on values that it computes, at"):
        fl.from_torch(Branching(), (numbers(NODES, 4), EDGES))


def test_weights_may_be_branched_on() -> None:
    """They are known, and others that lead elsewhere are refused."""

    class Branching(nn.Module):
        def forward(self, x: Any, edge_index: Any, weights: Any) -> Any:
            sent = x[edge_index[0]] * (weights if float(weights.sum()) > 0 else -weights)[:, None]
            return x.new_zeros(NODES, 4).index_add(0, edge_index[1], sent)

    result = fl.from_torch(Branching(), (numbers(NODES, 4), EDGES, per_edge(EDGES)))
    assert result.check().ok
    assert result.bind(numbers(NODES, 4), EDGES, 3 * per_edge(EDGES)).check().ok
    with pytest.raises(DataError, match="other operations"):
        result.bind(numbers(NODES, 4), EDGES, -per_edge(EDGES))


def test_attention_between_nodes_of_several_kinds() -> None:
    """Whose keys, queries and values are parts of one product, along its second dimension."""
    kinds, edges = ["a", "b"], [("a", "to", "b"), ("b", "to", "a")]
    torch.manual_seed(0)
    layer = geo.HGTConv(dict.fromkeys(kinds, 4), 4, (kinds, edges), heads=2)

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, a: Any, b: Any, there: Any, back: Any) -> Any:
            given = dict(zip(edges, (there, back), strict=True))
            found = self.layer({"a": a, "b": b}, given)
            return found["a"], found["b"]

    there = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 3]])
    made = fl.from_torch(Both(), (numbers(3, 4), numbers(4, 4), there, there.flip(0)))
    assert made.check().ok
    run = fl.simulate(fl.compile(made.program, made.presets["unfused"]), made.data)
    assert made.check(run.outputs).ok
