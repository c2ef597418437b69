"""The result of a run: elapsed cycles, and the nodes that spent them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.conformance.bench import bench


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
