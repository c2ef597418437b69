"""The result of a run: elapsed cycles, the nodes that spent them, and work counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.result import measured_work
from fuseloom.program import parse
from fuseloom.results.work import Work


def test_elapsed_cycles_leave_observers_out() -> None:
    """A sink of the test bench may end last; nobody waits for it."""
    run = bench("unary", "1@1 2@9 S0@10 D@11", params={"fn": "exp"})
    result = run.result
    sink = result.graph.nodes[-1]
    assert sink.op == "sink"
    assert result.clocks[sink.id] > result.cycles
    assert result.cycles == max(int(c) for k, c in enumerate(result.clocks) if k != sink.id)


def test_every_cycle_of_a_node_is_booked_once() -> None:
    result = bench("reduce", "1@4 2@9 S0@10 D@30", params={"fn": "add"}, capacity=1).result
    booked = result.busy + result.stall_input + result.stall_output + result.stall_memory
    np.testing.assert_array_equal(booked, result.clocks)
    assert result.busy[0] > 0
    assert result.stall_input[0] > 0


def test_a_run_without_nodes_takes_no_time() -> None:
    result = bench("stopdrop", "1 S0 D").result
    assert replace(result, graph=Graph("none", (), ())).cycles == 0


def test_tokens_are_counted_per_stream_and_in_all() -> None:
    result = bench("reduce", "1 2 S0 S0 3 S1 D", params={"fn": "add"}).result
    assert result.tokens.tolist() == [7, 5]
    assert result.values.tolist() == [3, 2]  # the sum of nothing is no value
    assert result.taken.tolist() == [7, 5]
    assert result.total_tokens == 12


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
