"""Our own graphs as files: declarations there and back, and files that say nonsense."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.exchange.graph_file import (
    declaration,
    declared_tensors,
    graph_from_json,
    graph_to_json,
)
from fuseloom.errors import DataError, GraphError
from fuseloom.program import parse
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.types import Tensor

PRODUCT = "A: 4x5 csr\nx: 5 dense\ny[i] = A[i,j] * x[j]"
COMPILED = compile_program(parse(PRODUCT))
GRAPH, NAMED = COMPILED.regions[0].graph, COMPILED.program.by_name
TEXT = graph_to_json(GRAPH, NAMED)


@pytest.mark.parametrize(
    "tensor",
    [
        NAMED["A"],
        Tensor("T", (), Format.dense(0)),
        Tensor("T", (3, 4, 5), Format.compressed(3, (2, 0, 1))),
        Tensor("T", (8, 8), Format.compressed(2).in_blocks(4, (0, 1))),
        Tensor("T", (8, 8), Format((LevelFormat.COMPRESSED, LevelFormat.SINGLETON), (1, 0))),
    ],
    ids=str,
)
def test_declarations_read_back(tensor: Tensor) -> None:
    plain = json.loads(json.dumps(declaration(tensor)))
    assert declared_tensors([plain]) == {tensor.name: tensor}
    assert list(declared_tensors([{**plain, "name": "U"}])) == ["U"]


def test_a_graph_comes_back_with_its_tensors() -> None:
    read = graph_from_json(TEXT, {})
    assert read.graph == GRAPH
    assert read.tensors == {"A": NAMED["A"], "x": NAMED["x"]}
    assert [out.name for out in read.outputs] == ["y"]


def test_without_declarations_shapes_of_the_data_and_nodes_say_what_they_can() -> None:
    bare = GRAPH.to_json()
    read = graph_from_json(bare, {"A": (4, 5), "x": (5,)})
    assert read.tensors["A"].shape == (4, 5)
    assert read.tensors["A"].format.levels[1] is LevelFormat.COMPRESSED
    assert read.outputs[0].shape == (4,)
    with pytest.raises(DataError, match="the data of operand A are missing"):
        graph_from_json(bare, {"x": (5,)})


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [4]},
        {"shape": [4, -1]},
        {"shape": [4, 2.5]},
        {"shape": [4, True]},
        {"shape": [4, 2**40]},
        {"mode_order": [0, 0]},
        {"mode_order": [0, 2]},
        {"levels": ["dense", "warped"]},
        {"levels": None},
    ],
    ids=str,
)
def test_malformed_declarations_are_refused(change: dict[str, Any]) -> None:
    entry = json.loads(json.dumps(declaration(NAMED["A"]))) | change
    with pytest.raises(GraphError, match="malformed graph JSON, tensors"):
        declared_tensors([entry])


@pytest.mark.parametrize("missing", ["name", "shape", "levels", "mode_order"])
def test_declarations_must_be_complete(missing: str) -> None:
    entry = json.loads(json.dumps(declaration(NAMED["A"])))
    del entry[missing]
    with pytest.raises(GraphError):
        declared_tensors([entry])
    with pytest.raises(GraphError):
        declared_tensors(3)


LAYER = "A: 6x5 dcsr\nB: 5x4 dense\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])"


def test_a_result_with_a_dense_level_reads_back() -> None:
    made = compile_program(
        parse(LAYER),
        "store T compressed,dense",
    )
    again = graph_from_json(graph_to_json(made.regions[0].graph, made.program.by_name), {})
    assert again.outputs == (made.program.tensor("T"),)
    assert again.graph == made.regions[0].graph
