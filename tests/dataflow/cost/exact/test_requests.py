"""Requests to a memory: what they ask for is what runs ask for, access by access."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateContext, EstimateMode
from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.cost.exact.requests import MemoryRequests, ports_of
from fuseloom.dataflow.cost.exact.timing import timed
from fuseloom.dataflow.cost.executed import executed_region
from fuseloom.dataflow.dram import replay
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse

PROGRAMS = {
    "product with a dense matrix": (
        "A: 60x50 csr\nX: 50x8 dense\nY[i,l] = A[i,j] * X[j,l]",
        "",
    ),
    "sum": ("A: 60x50 csr\nB: 60x50 csr\nC[i,j] = A[i,j] + B[i,j]", ""),
    "sampled product": (
        "A: 60x50 csr\nU: 60x6 dense\nV: 50x6 dense\n"
        "S[i,j] = U[i,d] * V[j,d]\nT[i,j] = A[i,j] * S[i,j]",
        "fuse S..T",
    ),
    "chain": (
        "A: 60x50 csr\nB: 50x40 csr\nC: 40x30 csr\n"
        "T[i,j] = A[i,k] * B[k,j]\nY[i,l] = T[i,j] * C[j,l]",
        "fuse T..Y",
    ),
    "singletons": ("A: 60x50 coo\nx: 50 dense\ny[i] = A[i,j] * x[j]", ""),
    "few rows": ("A: 60x50 dcsr\nB: 60x50 csf\nC[i,j] = A[i,j] * B[i,j]", ""),
    "search": ("A: 60x50 csr\nB: 60x50 csr\nC[i,j] = A[i,j] * B[i,j]", "locate B.j on"),
    "blocks": ("A: 64x64 csr block 16\nX: 64x32 dense block 16\nY[i,l] = A[i,j] * X[j,l]", ""),
    "scalar": ("a: 60 compressed\nb: 60 dense\ns = a[i] * b[i]", ""),
    "scalar operand": ("a: scalar\nx: 60 dense\ny[i] = a * x[i]", ""),
    "lanes": ("A: 60x50 csr\nX: 50x8 dense\nY[i,l] = A[i,j] * X[j,l]", "parallel i by 3"),
}


def data_of(compilation: Compilation, part: float = 0.12) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    data = {}
    for name in compilation.program.inputs:
        declared = compilation.program.tensor(name)
        full = declared.format.all_dense
        data[name] = rng.random(declared.shape) * (
            rng.random(declared.shape) < (1.0 if full else part)
        )
    return data


def executed(
    text: str, schedule: str, machine: Machine, part: float = 0.12
) -> tuple[Any, Any, Execution, Any]:
    """The compiled program, its data, and its one region executed."""
    compilation = compile_program(parse(text), schedule)
    data = data_of(compilation, part)
    context = EstimateContext.of(compilation.program, data, EstimateMode.EXACT, machine)
    found = executed_region(compilation.regions[0], context)
    assert found is not None
    return compilation, data, found.executed, context


def requests_of(execution: Execution, context: Any, machine: Machine) -> MemoryRequests:
    ports = ports_of(execution, context.patterns)
    return MemoryRequests(execution, timed(execution, Machine.default()), machine, ports)


@pytest.mark.parametrize("part", [0.12, 0.0])
@pytest.mark.parametrize("machine", ["ddr4", "hbm2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_accesses_are_those_of_a_run(name: str, machine: str, part: float) -> None:
    memory = Machine.preset(machine)
    compilation, data, execution, context = executed(*PROGRAMS[name], memory, part)
    made = requests_of(execution, context, memory)
    result = simulate(compilation, data, memory, engine="interpreter").regions[0].result
    assert result.memory is not None
    counts = [0, 0]
    for port in made.ports:
        _, _, count = made.trace([port])
        counts[port.write] += count
    assert counts[0] == sum(channel.reads for channel in result.memory.channels)
    written = sum(channel.writes for channel in result.memory.channels)
    assert counts[1] <= written + 2 + len(made.ports)  # empty fibers share a line
    if part:  # where nothing is stored, only the ends of empty fibers are written
        assert written <= counts[1]


def test_arrays_lie_where_those_of_a_run_lie() -> None:
    memory = Machine.preset("ddr4")
    compilation, data, execution, context = executed(*PROGRAMS["sum"], memory)
    made = requests_of(execution, context, memory)
    result = simulate(compilation, data, memory, engine="interpreter").regions[0].result
    bases = [n.params["base"] for n in result.graph.nodes if n.op == "mem_read"]
    assert [port.base for port in made.ports if not port.write] == bases


def test_a_child_needs_its_parents_and_never_the_other_way_round() -> None:
    memory = Machine.preset("ddr4")
    _, _, execution, context = executed(*PROGRAMS["chain"], memory)
    made = requests_of(execution, context, memory)
    trace, ports, count = made.trace(made.ports)
    assert count == (len(trace) - trace[replay.REQUESTS]) / replay.REQUEST
    size = len(ports)
    start = replay.HEADER + size * replay.PORT
    pairs = trace[start : trace[replay.REQUESTS]].reshape(size, size, replay.PAIR)
    needs = pairs[:, :, replay.NEEDS] > 0
    assert needs.any()
    assert not (needs & needs.T).any()
    assert not needs[:, [port.write for port in ports]].any()


def test_windows_have_the_tokens_of_their_coordinates() -> None:
    memory = Machine.preset("ddr4")
    _, _, execution, context = executed(*PROGRAMS["chain"], memory)
    made = requests_of(execution, context, memory)
    for port in made.ports:
        cuts = [made.leaves(port, k / 4, (k + 1) / 4) for k in range(4)]
        assert cuts[0][0] == 0
        assert cuts[-1][1] == port.tree.n
        assert [a[1] for a in cuts[:-1]] == [b[0] for b in cuts[1:]]
