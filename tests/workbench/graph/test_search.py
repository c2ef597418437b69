"""Finding nodes by what people type."""

from __future__ import annotations

import pytest

from fuseloom_workbench.graph import layout, view
from fuseloom_workbench.graph.search import hits


@pytest.fixture
def nodes(session):
    return view.view(session, view.GraphPicture(layout.draw(view.dot(session), "places")))["nodes"]


def test_names_of_indices_tensors_and_numbers_are_exact(session, nodes):
    keys, what = hits(nodes, "p")
    assert what == "index p"
    assert {nodes[key]["index"] for key in keys} == {"p"}
    keys, what = hits(nodes, "W1")
    assert what == "tensor W1"
    assert {nodes[key]["tensor"] for key in keys} == {"W1"}
    assert hits(nodes, "#12") == hits(nodes, "12") == (["n12"], "number 12")
    assert hits(nodes, "0")[0] == ["n0"]


def test_primitives_are_found_by_any_of_their_names(session, nodes):
    accumulators = [f"n{n.id}" for n in session.current.graph.nodes if n.op == "spacc1"]
    assert hits(nodes, "acc1_p")[0] == accumulators
    assert hits(nodes, "Sparse Accumulator")[0] == accumulators
    assert hits(nodes, "spacc1") == (accumulators, "")
    assert hits(nodes, "melt") == hits(nodes, "  ") == ([], "")
    assert hits(nodes, "9" * 300) == ([], "")
