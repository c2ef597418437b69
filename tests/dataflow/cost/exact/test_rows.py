"""Accumulators that wait to put rows, worked out."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.exact.channels import rooms_of
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Execution, Memo, execute
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.cost.exact.rows import waits_for_room
from fuseloom.dataflow.machine import Machine
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

TEXT = "A: 3x4x5 dense\nB: 5x6 dense\nT[h,i,j] = A[h,i,k] * B[k,j]"


def executed(orders: str) -> Execution:
    compilation = compile_program(parse(TEXT), orders)
    data = check_data(compilation.program, {"A": np.ones((3, 4, 5)), "B": np.ones((5, 6))})
    (region,) = compilation.regions
    return execute(region.graph, Patterns(compilation.program, data), Memo(), ElementBudget(1e6))


@pytest.mark.parametrize(("room", "waits"), [(4, 4.0), (6, 2.0), (7, 0.0), (100, 0.0)])
def test_rows_of_six_and_a_stop(room: int, waits: float) -> None:
    """Of seven tokens, as many as have no room are taken first, a cycle each, and one to come."""
    execution = executed("order T: h,i,k,j")
    found = waits_for_room(execution, rooms_of(execution, Machine(channel_capacity=room)))
    if not found:
        assert waits == 0.0
        return
    ((node, cycles),) = found.items()
    assert execution.graph.nodes[node].op == "spacc1"
    assert cycles.per == pytest.approx(np.full(3, 4 * waits))


def test_rows_of_the_outermost_coordinates_are_not_looked_at() -> None:
    text = "A: 4x5 dense\nB: 5x6 dense\nT[i,j] = A[i,k] * B[k,j]"
    compilation = compile_program(parse(text), "order T: i,k,j")
    data = check_data(compilation.program, {"A": np.ones((4, 5)), "B": np.ones((5, 6))})
    graph = compilation.regions[0].graph
    execution = execute(graph, Patterns(compilation.program, data), Memo(), ElementBudget(1e6))
    assert waits_for_room(execution, rooms_of(execution, Machine(channel_capacity=2))) == {}
