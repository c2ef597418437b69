"""Whole graphs as hardware: random ones with bounded channels, and programs of models."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.running import run_icarus, run_verilator
from fuseloom.dataflow.rtl.whole_programs import Runner, hardware_of, run_hardware
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.errors import DeadlockError, GraphError
from tests.dataflow.rtl.compared import cycles_of, difference, golden_run, hardware_runs
from tests.dataflow.rtl.streams import with_sizes
from tests.property.random_graphs import random_graph

pytestmark = pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")

SEED = 20_270_000
MACHINE = replace(Machine.preset("rtl"), load_latency=3)
CAPACITIES = (1, 2, 3, 4, 16, 64)
FEW, MANY = 12, 200
"""Random graphs."""
TOLERANCE = 0.15, 10
"""By how much of the simulator's cycles, or by how many, hardware may take more on a random graph
(``docs/rtl.md``)."""


def _random(seed: int) -> BoundGraph:
    """A random graph of bounded channels whose sources put a token a cycle."""
    bound = with_sizes(random_graph(seed, searching=seed % 2 == 0))
    arrays = {
        node: {"tokens": given["tokens"]} if "times" in given else given
        for node, given in bound.arrays.items()
    }
    capacity = CAPACITIES[seed % len(CAPACITIES)]
    return replace(bound, graph=bound.graph.with_capacity(capacity), arrays=arrays)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.fuzz)])
def test_random_graphs(count: int, tmp_path: Path) -> None:
    """Tokens and deadlocks are the simulator's; cycles are, or nearly."""
    seen: Counter[str] = Counter()
    seed = SEED
    while seen["graphs"] < count:
        bound = _random(seed)
        seed += 1
        try:
            HardwareGraph(bound, MACHINE)
        except GraphError:  # a primitive, or a function, that has no hardware
            continue
        golden = golden_run(bound, MACHINE)
        (done,) = hardware_runs(bound, MACHINE, tmp_path / f"{seed}")
        assert not (problem := difference(bound, golden, done)), f"graph {seed - 1}: {problem}"
        seen["graphs"] += 1
        seen["deadlocks"] += isinstance(golden, DeadlockError)
        if not isinstance(golden, Exception):
            share, most = TOLERANCE
            more = cycles_of(bound, done) - golden.cycles
            assert 0 <= more <= max(most, share * golden.cycles), f"graph {seed - 1}: {more}"
            seen["equal"] += more == 0
    print(dict(seen))
    assert seen["equal"] > 0.7 * count
    assert count < MANY or seen["deadlocks"]


def _compare(model: str, data: str, preset: str | None, runner: Runner, folder: Path) -> list[int]:
    """Compare a program's regions; return by how many cycles the hardware of each is slower."""
    given, arrays = fl.load(model, data) if data else fl.load(model)
    schedule = [given.presets[preset]] if preset else []
    compiled = fl.compile(given.program, *schedule).sized()
    run = fl.simulate(compiled, arrays, Machine.preset("rtl"))
    slower = []
    for number, region in enumerate(hardware_of(run)):
        compared = run_hardware(region, folder / str(number), runner)
        assert compared.done.passed, (region.name, compared.done)
        assert compared.error is not None
        assert compared.error < 1e-6
        slower.append(compared.cycles - compared.simulated)
    return slower


@pytest.mark.parametrize(
    ("model", "data", "preset"),
    [
        ("spmv", "", None),
        ("attention", "", "full"),
        pytest.param("attention", "", None, marks=pytest.mark.fuzz),
        pytest.param("gcn", "karate", None, marks=pytest.mark.fuzz),
        pytest.param("gcn", "karate", "full", marks=pytest.mark.fuzz),
        pytest.param("graphsage", "random", "partial", marks=pytest.mark.fuzz),
    ],
)
def test_programs(model: str, data: str, preset: str | None, tmp_path: Path) -> None:
    """They compute what the simulator does; accumulators end a cycle or two later."""
    slower = _compare(model, data, preset, run_icarus, tmp_path)
    assert all(0 <= cycles <= 2 for cycles in slower), slower


def test_verilator_and_icarus_say_the_same(tmp_path: Path) -> None:
    if shutil.which("verilator") is None:
        pytest.skip("needs Verilator")
    assert _compare("spmv", "", None, run_verilator, tmp_path) == [0]


def test_a_deadlock_is_found_with_the_nodes_that_wait(tmp_path: Path) -> None:
    given, arrays = fl.load("attention")
    compiled = fl.compile(given.program, given.presets["full"])
    with pytest.raises(DeadlockError):
        fl.simulate(compiled, arrays, replace(Machine.preset("rtl"), channel_capacity=2))
    run = fl.simulate(compiled.sized(), arrays, Machine.preset("rtl"))
    (region,) = hardware_of(run)
    small = region.graph.bound.graph.with_capacity(2)
    bound = replace(region.graph.bound, graph=small)
    (done,) = hardware_runs(bound, Machine.preset("rtl"), tmp_path)
    assert done.deadlocked
    assert not done.passed


@pytest.mark.parametrize(
    ("op", "arrays"),
    [("scan", {"seg": [0, 1, 2], "crd": [3, 4]}), ("array", {"vals": [1.5, 2.5]})],
)
def test_a_reference_outside_the_data_is_a_fault(
    op: str, arrays: dict[str, list[float]], tmp_path: Path
) -> None:
    for reference in (0, 1, 2, 9):
        bound = bench_graph(op, f"{reference} S0 D", arrays=arrays, capacity=4)
        (done,) = hardware_runs(bound, MACHINE, tmp_path / f"{reference}")
        assert not (problem := difference(bound, golden_run(bound, MACHINE), done)), problem
        assert bool(done.faults) == (reference > 1)


def test_what_cannot_be_hardware_is_refused_with_a_way_out() -> None:
    streams = ("1 S0 D", "0 S0 D")
    for op, machine, message in (
        ("replay", MACHINE, "the primitive 'replay' has no hardware"),
        ("binary", Machine.comal(), "copies deviations of a simulator"),
        ("binary", Machine.preset("hbm2"), "has a memory, which has no hardware"),
    ):
        params = {"fn": "add"} if op == "binary" else {"levels": 1}
        bound = bench_graph(op, *streams, params=params, capacity=2)
        with pytest.raises(GraphError, match=message) as raised:
            HardwareGraph(bound, machine)
        assert raised.value.hint
    bound = bench_graph("binary", *streams, params={"fn": "div"}, capacity=2)
    with pytest.raises(GraphError, match="div takes 12 cycles in hardware, and 1 on this machine"):
        HardwareGraph(bound, Machine.default())
    bound = bench_graph("unary", "1 S0 D", params={"fn": "tanh"}, capacity=2)
    with pytest.raises(GraphError, match="no floating-point unit computes tanh"):
        HardwareGraph(bound, MACHINE)
    unbounded = bench_graph("binary", *streams, params={"fn": "add"})
    with pytest.raises(GraphError, match=re.escape("stream 2 of binary has no bound")):
        HardwareGraph(unbounded, MACHINE)
