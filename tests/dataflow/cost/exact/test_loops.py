"""Paths that part and meet again: worked out, and as they run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.exact.channels import rooms_of
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Memo, execute
from fuseloom.dataflow.cost.exact.loops import periods
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

PRODUCT = compile_program(
    parse("A: 20x20 dense\nX: 20x20 dense\nT[i,j] = A[i,k] * X[k,j]"), "order T: i,k,j"
)
DATA = check_data(PRODUCT.program, {"A": np.ones((20, 20)), "X": np.ones((20, 20))})
SLOW = replace(Machine.default(), alu_latency=30)


def test_coordinates_wait_beside_values_that_take_long() -> None:
    """An accumulator takes coordinates with their products, which come over 30 cycles later.

    The copy, the signal, the repeated value and the product take 1 + 1 + 1 + 30 cycles, and a token
    that is taken makes room a cycle later; six coordinates have room meanwhile.
    """
    graph = PRODUCT.sized(4).regions[0].graph
    execution = execute(graph, Patterns(PRODUCT.program, DATA), Memo(), ElementBudget(1e6))
    found = periods(execution, SLOW, rooms_of(execution, SLOW))
    (accumulator,) = (node.id for node in graph.nodes if node.op == "spacc1")
    stream, cycles = found[accumulator]
    assert stream in graph.nodes[accumulator].inputs
    assert cycles == pytest.approx(34 / 6, rel=0.2)
    fast = Machine.default()
    assert accumulator not in periods(execution, fast, rooms_of(execution, fast))


@pytest.mark.parametrize("capacity", [4, 8, 64])
def test_what_waits_beside_long_latencies(capacity: int) -> None:
    short = PRODUCT.sized(capacity)
    run = simulate(short, DATA, machine=SLOW)
    assert estimate(short, DATA, machine=SLOW).cycles == pytest.approx(run.cycles, rel=0.15)
