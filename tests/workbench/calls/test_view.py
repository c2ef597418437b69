"""The drawings of the page as plain data: lines and their nodes, boxes of tiles, counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fuseloom.calls.commands import BreakBefore, Parallelize, Reorder, ReuseOverlap, Subpipeline
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.pipeline_nodes import ComputeNode
from fuseloom.calls.pipelines import PIPELINES
from fuseloom_workbench.calls import view

SCHEDULES = [
    [],
    [Parallelize(0)],
    [BreakBefore(1)],
    [Reorder(0, 1), ReuseOverlap("t1", 1)],
    [Subpipeline(0, 1)],
]


@pytest.mark.parametrize("commands", SCHEDULES)
def test_the_boxes_of_tiles_are_what_is_computed(commands):
    case = PIPELINES["blur"].make({"h": 20, "w": 12})
    fused = FusedFunction(case.composition, commands)
    given = {**case.arguments, "n": 5}
    shown = view.tiles_view(fused, fused.values(**given))
    whole = {data["name"]: data["box"] for data in shown["data"]}
    assert whole["t1"] == [0, 0, 22, 12]
    computed: dict[str, int] = {}
    covered = np.zeros((20, 12), dtype=int)
    for step in shown["steps"]:
        row, column, rows, columns = step["box"]
        computed[step["output"]] = computed.get(step["output"], 0) + rows * columns
        if step["output"] == "t2":
            covered[row : row + rows, column : column + columns] += 1
    assert (covered == 1).all()
    assert computed == dict(fused.counts(**given).computed)
    json.dumps(shown)


@pytest.mark.parametrize("commands", SCHEDULES)
def test_lines_of_both_codes_lead_to_one_node(commands):
    fused = FusedFunction(PIPELINES["blur"].make({"h": 8, "w": 8}).composition, commands)
    nodes = list(fused.scheduled.nodes())
    shown = view.code_view(fused)
    texts = [line["text"] for line in shown["pipeline"]]
    assert [x.strip() for x in texts if "compute" in x] == [
        str(node) for node in nodes if isinstance(node, ComputeNode)
    ]
    for lines in shown.values():
        found = {line["node"] for line in lines if line["node"] is not None}
        assert {n for n, node in enumerate(nodes) if isinstance(node, ComputeNode)} <= found
    whole = str(fused.scheduled).splitlines()
    assert texts == [line for line in whole if not line.startswith("free t1")] or texts == whole


def test_annotations_say_what_a_tile_needs():
    fused = FusedFunction(PIPELINES["blur"].make({"h": 8, "w": 8}).composition)
    first, last = view.annotations_view(fused, {1: "edited text"})
    assert (first["name"], first["edited"], last["edited"]) == ("blur_rows", False, True)
    assert last["text"] == "edited text"
    assert first["produced"]["text"] == "row i, col j, rows n_len + 2, cols m_len"
    assert first["consumed"] == [
        {"data": "A", "text": "row i, col j, rows n_len + 2, cols m_len + 2"}
    ]


def test_counts_leave_the_result_out_of_the_whole():
    case = PIPELINES["blur"].make({"h": 8, "w": 8})
    fused = FusedFunction(case.composition)
    shown = view.counts_view(fused.counts(**case.arguments, n=4))
    assert shown["whole"] == 10 * 8
    assert [row["factor"] for row in shown["recomputation"]] == [pytest.approx(1.2), 1.0]


def test_a_graph_names_its_connections():
    shown = view.graph_view(PIPELINES["softmax"].make({"h": 4, "w": 4}).composition)
    assert [x["kind"] for x in shown["connections"]] == ["straight", "straight", "fork", "merge"]
    assert shown["given"] == [{"name": "A", "kind": "matrix"}]
