"""Losses of graphs that become programs."""

from __future__ import annotations

from typing import Any

import pytest

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.graph_losses import graph_losses
from fuseloom.stitch.shapes import TensorShape


def losses(element: str = "f64", opcode: str = "negate", **attributes: Any) -> list[str]:
    shape = TensorShape(element, (2,))
    x = DenseOperation("x", "parameter", shape, attributes={"number": 0})
    y = DenseOperation("y", opcode, shape, ("x",), attributes)
    graph = DenseComputation("main", (x, y), "y")
    return list(graph_losses(graph, graph.operations, {"x", "y"}, {"x": "x"}))


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (losses(), []),
        (losses(dimensions=(0,)), []),
        (losses("s32"), [
            "Elements of the type s32 become numbers, whose meaning is float64.",
            "Integers no longer wrap.",
        ]),
        (losses(opcode="bitcast"), ["Bitcasts became reshapes: 1."]),
        (losses(sharding="{replicated}"), ["The attribute sharding of 1 operation was left out."]),
    ],
)  # fmt: skip
def test_losses_are_those_that_occur(found: list[str], wanted: list[str]) -> None:
    assert found == wanted
