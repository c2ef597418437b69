"""Reference vectors: what a file must hold, and the graph that a vector stands for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.conformance.vectors import (
    OPS,
    bind_vector,
    load_vectors,
    stream_kind,
    unsupported,
)
from fuseloom.errors import SimulationError


def vector(**changes: Any) -> dict[str, Any]:
    """A list of coordinates, written down."""
    return {
        "kind": "write",
        "cap": 4,
        "nodes": [
            {"op": "gen", "name": "p", "out": "c", "tokens": [0, 2, "S0", "D"]},
            {"op": "crdwrite", "name": "w", "in": "c"},
        ],
        "clocks": {"w": 4},
        "dequeued": None,
        "outputs": {"w.crd": [0, 2], "w.seg": [0, 2]},
        **changes,
    }


def file_of(folder: Path, content: object) -> Path:
    path = folder / "vectors.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_vectors_are_read_from_a_list(tmp_path: Path) -> None:
    assert load_vectors(file_of(tmp_path, [vector()])) == [vector()]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "cannot read vectors"),
        ({}, "holds no conformance vectors"),
        ([3], "holds no conformance vectors"),
        ([{"kind": "write"}], "holds no conformance vectors"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, content: object, reason: str) -> None:
    with pytest.raises(SimulationError, match=reason):
        load_vectors(file_of(tmp_path, content))
    with pytest.raises(SimulationError, match="cannot read the vectors"):
        load_vectors(tmp_path / "missing.json")


def test_a_vector_becomes_a_graph_with_its_arrays() -> None:
    bound, streams = bind_vector(vector())
    assert [node.label for node in bound.graph.nodes] == ["p", "w"]
    assert streams == {"c": 0}
    assert bound.graph.streams[0].capacity == 4
    assert bound.of(0)["tokens"].size == 4


def test_what_the_simulator_lacks_is_named() -> None:
    assert unsupported(vector()) == set()
    assert unsupported(vector(nodes=[{"op": "warp"}, {"op": "fork"}])) == {"warp"}


def test_every_op_is_a_primitive() -> None:
    assert {op.name for op in OPS.values()} <= CATALOGUE.keys()


def test_value_streams_are_marked() -> None:
    assert stream_kind("v:a") is StreamKind.VAL
    assert stream_kind("a") is StreamKind.CRD
