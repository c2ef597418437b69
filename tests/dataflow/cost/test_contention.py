"""Waiting for a DRAM: estimates of machines with one are near what runs take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import contention, estimate, sampling
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse

PROGRAMS = {
    "SpMV": "A: 900x900 csr\nx: 900 dense\ny[i] = A[i,j] * x[j]",
    "SpMM": "A: 900x900 csr\nX: 900x8 dense\nY[i,l] = A[i,j] * X[j,l]",
    "product": "A: 900x900 csr\nB: 900x900 csr\nC[i,j] = A[i,k] * B[k,j]",
}


def data_of(program: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    data: dict[str, Any] = {}
    for name in program.inputs:
        shape = program.tensor(name).shape
        full = program.tensor(name).format.all_dense
        data[name] = (
            rng.random(shape) if full else sp.random(*shape, 0.005, "csr", random_state=rng)
        )
    return data


@pytest.mark.parametrize("machine", ["ddr4", "hbm2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_estimate_is_near_the_run(name: str, machine: str) -> None:
    compilation = compile_program(parse(PROGRAMS[name]))
    data, memory = data_of(compilation.program), Machine.preset(machine)
    (mine,) = estimate(compilation, data, machine=memory).regions
    run = simulate(compilation, data, memory)
    assert mine.cycles == pytest.approx(run.cycles, rel=0.06)
    assert mine.low <= run.cycles <= mine.high


@pytest.mark.parametrize("machine", ["ddr4", "hbm2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_that_only_writes_ends_of_fibers_lies_inside(name: str, machine: str) -> None:
    compilation = compile_program(parse(PROGRAMS[name].replace("900", "30")))
    memory = Machine.preset(machine)
    data = {n: np.zeros(compilation.program.tensor(n).shape) for n in compilation.program.inputs}
    (mine,) = estimate(compilation, data, machine=memory).regions
    assert mine.low <= simulate(compilation, data, memory).cycles <= mine.high


@pytest.mark.parametrize("name", PROGRAMS)
def test_windows_tell_what_all_coordinates_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compilation = compile_program(parse(PROGRAMS[name]))
    data, memory = data_of(compilation.program), Machine.preset("ddr4")
    whole = estimate(compilation, data, machine=memory, mode="exact").cycles
    monkeypatch.setattr(sampling, "SAMPLED_ELEMENTS", 6e3)
    monkeypatch.setattr(contention, "CYCLES", 6_000)
    sampled = estimate(compilation, data, machine=memory, mode="sampled")
    assert sampled.cycles == pytest.approx(whole, rel=0.1)
    monkeypatch.setattr(contention, "TOKENS", 20_000)
    cut = estimate(compilation, data, machine=memory, mode="exact").cycles
    assert cut == pytest.approx(whole, rel=0.2)  # windows of a thousand cycles each


def test_room_of_ports_hides_the_latency_of_a_memory() -> None:
    """Channels of a few tokens stand in front of ports that keep hundreds."""
    program = parse("A: 400x400 csr\nB: 400x400 csr\nC[i,j] = A[i,j] + B[i,j]")
    compilation = compile_program(program)
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 400, 60)
    dense = np.zeros((400, 400))
    dense[rows] = rng.random((60, 400)) < 0.2  # rows far longer than the channels
    data = {"A": dense, "B": dense[:, ::-1].copy()}
    for machine in (Machine.preset("hbm2"), Machine.preset("ideal")):
        small = replace(machine, channel_capacity=16)
        (mine,) = estimate(compilation, data, machine=small).regions
        assert mine.cycles == pytest.approx(simulate(compilation, data, small).cycles, rel=0.08)
