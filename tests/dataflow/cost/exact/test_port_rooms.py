"""The tokens that a memory port can hold where a short path leads past it."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Execution, Memo, execute
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.cost.exact.port_rooms import PortRoom, port_rooms
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

ROWS = 40
PROGRAM = parse(f"A: {ROWS}x{ROWS} csr\nB: {ROWS}x{ROWS} csr\nC[i,j] = A[i,j] + B[i,j]")
DATA = {"A": np.tri(ROWS), "B": np.tri(ROWS).T}
COMPILED = compile_program(PROGRAM)
HBM2 = Machine.preset("hbm2")


def executed() -> Execution:
    patterns = Patterns(PROGRAM, check_data(PROGRAM, DATA))
    return execute(COMPILED.regions[0].graph, patterns, Memo(), ElementBudget(1e6))


def node(execution: Execution, op: str, tensor: str) -> Node:
    return next(
        n
        for n in execution.graph.nodes
        if n.op == op and str(n.params.get("tensor", "")).startswith(tensor)
    )


def test_channels_without_a_bound_leave_ports_their_slots() -> None:
    assert port_rooms(executed(), HBM2) == {}


def test_a_port_holds_the_rows_that_are_under_way_beside_it() -> None:
    """Coordinates of rows go past the scans, to where empty rows are dropped.

    Past that of B they wait in one channel, with room for four and one in hand; past that of A, in
    two.  A row has 20.5 coordinates in the mean, and a stop.
    """
    execution = executed()
    machine = replace(HBM2, channel_capacity=4, port_slots=10_000)
    a, b = node(execution, "scan", "A"), node(execution, "scan", "B")
    dropper = node(execution, "crddrop", "").id
    assert port_rooms(execution, machine) == {
        (a.id, False): PortRoom(10, dropper),
        (a.id, True): PortRoom(209, dropper),
        (b.id, False): PortRoom(5, dropper),
        (b.id, True): PortRoom(104, dropper),
    }
    wider = port_rooms(execution, replace(machine, channel_capacity=8))
    assert wider[b.id, False] == PortRoom(9, dropper)


def test_a_port_has_no_more_than_its_slots() -> None:
    machine = replace(HBM2, channel_capacity=4, port_slots=7)
    assert all(
        isinstance(room, PortRoom) and 1 <= room.tokens < 7
        for room in port_rooms(executed(), machine).values()
    )


def test_few_requests_under_way_wait_longer() -> None:
    """Without room to read ahead, each row of a tensor sends the DRAM to another of its own."""
    size, ddr4 = 50, Machine.preset("ddr4")
    grid = nx.to_scipy_sparse_array(nx.grid_2d_graph(size, size), format="csr")
    n = size**2
    program = parse(f"A: {n}x{n} csr\nB: {n}x{n} csr\nC[i,j] = A[i,j] + B[i,j]")
    compiled, data = compile_program(program), {"A": grid, "B": grid}
    runs, estimates = [], []
    for machine in (ddr4, replace(ddr4, channel_capacity=4)):
        runs.append(simulate(compiled, data, machine=machine).cycles)
        estimates.append(estimate(compiled, data, machine=machine))
        assert estimates[-1].low <= runs[-1] <= estimates[-1].high
    assert runs[1] > 2 * runs[0]
    assert estimates[1].cycles > 2 * estimates[0].cycles
