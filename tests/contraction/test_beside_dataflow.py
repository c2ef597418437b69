"""A chain of two graph layers fused within each layer, here and on the dataflow machine.

Two derivations of the same numbers: the code's own count, and what the simulator reports.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.record import stored
from fuseloom.contraction.kernels.run import count_products
from fuseloom.contraction.loopnest.generate import nest_of
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.shipped import SHIPPED
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.models import load

PER_LAYER = {"X1": 0, "X2": 2, "X3": 0}
SCHEDULE = "fuse X1..X2; fuse X3..R"


@cache
def chain(graph: str) -> tuple[ContractionTree, Data]:
    """Both layers of GCN on a graph with its features; weights are dense, as trained ones are."""
    _, given = load("gcn", graph)
    adjacency, features = given["A"].to_coo(), given["X"].to_dense()
    rng = np.random.default_rng(1)
    hidden, classes = 16, 7
    nodes, width = features.shape
    data: dict[str, Any] = {
        "A": adjacency,
        "B": features,
        "C": rng.normal(size=(width, hidden)),
        "D": adjacency,
        "E": rng.normal(size=(hidden, classes)),
    }
    sizes = {"i": nodes, "j": nodes, "k": nodes, "f": width, "h": hidden, "c": classes}
    known = SHIPPED["two-layer GCN"]
    tree = binary(from_einsum(known.einsum, sizes), known.tree)
    return tree, Data(tree, data)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("graph", ["karate", "cora"])
def test_products_and_intermediates_are_those_of_partial_fusion(graph: str) -> None:
    tree, data = chain(graph)
    solutions, _ = Question(tree).all(PER_LAYER, most=3)
    assert dict(solutions[0].orders) == PER_LAYER
    counts = [count_products(nest_of(s), tree, data, levels=data.levels) for s in solutions]
    assert all(count == counts[0] for count in counts)
    products = counts[0]

    compiled = fl.compile(tree.program, SCHEDULE)
    run = fl.simulate(compiled, stored(data))
    assert run.check().ok
    # A product and a sum for each multiplication.
    assert [region.work.flops for region in run.regions] == [
        2 * (products["X1"] + products["X2"]),
        2 * (products["X3"] + products["R"]),
    ]

    # What is handed on within a layer, and what is kept between the layers.
    nodes, hidden, classes = (tree.extents[x] for x in "khc")
    assert products["X2"] == hidden * _elements(run.regions[0], "Acc", "X1", nodes)
    assert products["R"] == classes * _elements(run.regions[1], "Acc", "X3", nodes)
    kept = _elements(run.regions[0], "VW", "X2", nodes)
    assert solutions[0].workspaces == {"X1": 1, "X2": kept, "X3": 1}


def _elements(region: Any, label: str, name: str, rows: int) -> int:
    """The elements of a stream of so many rows: a stop ends each of these, and one more all."""
    (node,) = (
        n for n in region.trace.nodes
        if n.label.startswith(label) and name in (n.origin[:2], n.label[-2:])
    )  # fmt: skip
    return int(node.tokens) - rows - 1
