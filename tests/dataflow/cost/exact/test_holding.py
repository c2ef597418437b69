"""Nodes that full channels hold back: worked out, and as they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.exact import holding
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse

PRODUCT = """A: 40x40 csr
B: 40x40 csr
C: 40x40 csr
T[i,j] = A[i,k] * B[k,j]
Y[i,l] = T[i,j] * C[j,l]"""


def sparse(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((40, 40)) * (rng.random((40, 40)) < rng.random((40, 1)) * 0.2)


ORDERS = "fuse T..Y; order T: i,k,j; order Y: i,j,l"
DATA = {"A": sparse(1), "B": sparse(2), "C": sparse(3)}


@pytest.mark.parametrize("capacity", [2, 4, 8])
def test_an_accumulator_is_no_further_ahead_than_its_channel(capacity: int) -> None:
    """Long and short rows of one product and of the next no longer make up for each other."""
    compilation = compile_program(parse(PRODUCT), ORDERS)
    short = compilation.sized(capacity)
    run = simulate(short, DATA)
    expected = estimate(short, DATA, mode="exact")
    assert run.cycles > 1.05 * estimate(compilation, DATA).cycles
    assert expected.cycles == pytest.approx(run.cycles, rel=0.1)
    assert expected.least is not None
    assert expected.least == estimate(compilation, DATA).least <= run.cycles


def test_long_channels_cost_nothing() -> None:
    compilation = compile_program(parse(PRODUCT), ORDERS)
    free = estimate(compilation, DATA).cycles
    assert estimate(compilation.sized(1 << 20), DATA).cycles == free
    cycles = [estimate(compilation.sized(n), DATA).cycles for n in (2, 8, 32, 128, 1024)]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[-1] >= free


@pytest.mark.parametrize("latency", [1, 10, 40])
@pytest.mark.parametrize("capacity", [2, 4, 50])
def test_values_under_way_fill_a_channel(latency: int, capacity: int) -> None:
    """Of 1,000 numbers, as many are under way as the channel holds, and one in the node."""
    data: Mapping[str, Any] = {"x": np.ones(1000)}
    compilation = compile_program(parse("x: 1000 dense\ny[i] = relu(x[i])")).sized(capacity)
    machine = replace(Machine.default(), load_latency=latency)
    run = simulate(compilation, data, machine=machine)
    assert run.cycles >= 1000 * (latency + 2) / (capacity + 1)
    assert estimate(compilation, data, machine=machine).cycles == pytest.approx(
        run.cycles, rel=0.03
    )


def test_places_behind_those_looked_at_go_on_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    compilation = compile_program(parse(PRODUCT), ORDERS).sized(4)
    run = simulate(compilation, DATA)
    monkeypatch.setattr(holding, "MOST", 600)
    assert estimate(compilation, DATA).cycles == pytest.approx(run.cycles, rel=0.3)
