"""The work of a run, counted by hand on a small product."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.work import measured_work
from fuseloom.program import parse
from fuseloom.results.work import Work


def test_a_dense_product_by_hand() -> None:
    """Two of two by two: 8 products, each of which the accumulator takes up."""
    program = parse("A: 2x2 dense\nB: 2x2 dense\nC[i,j] = A[i,k] * B[k,j]")
    ones = np.ones((2, 2))
    run = simulate(compile_program(program), {"A": ones, "B": ones}, engine="interpreter")
    work = measured_work(run.regions[0].result)
    assert work.flops == 8 + 8
    assert run.regions[0].work == work  # no copies were made


def test_what_is_not_there_is_no_work() -> None:
    program = parse("A: 2x2 dcsr\nB: 2x2 dcsr\nC[i,j] = A[i,k] * B[k,j]")
    nothing = np.zeros((2, 2))
    run = simulate(compile_program(program), {"A": nothing, "B": nothing}, engine="interpreter")
    work = measured_work(run.regions[0].result)
    assert work.flops == 0
    full = simulate(compile_program(program), {"A": np.eye(2), "B": np.eye(2)})
    assert measured_work(full.regions[0].result).bytes > work.bytes


def test_work_is_a_sum_over_nodes() -> None:
    """Nine values in and out, and two levels: three rows in one fiber, nine columns in three."""
    program = parse("A: 3x3 dense\nC[i,j] = exp(A[i,j])")
    run = simulate(compile_program(program), {"A": np.ones((3, 3))}, engine="interpreter")
    rows, columns = 3 + 2, 9 + 4  # coordinates and segment ends, the first one at 0
    assert measured_work(run.regions[0].result) == Work(9, 4 * (9 + rows + columns + 9))
