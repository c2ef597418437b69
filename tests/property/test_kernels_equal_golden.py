"""The compiled kernels do exactly what the golden models do, on random graphs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.tile_values import is_tiled
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.compiled import stores
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import DeadlockError, SimulationError
from tests.property.random_graphs import random_graph
from tests.tiers import counts

SEED = 20_260_000
CAPACITIES = (1, 2, 3, 4, 16, 64, None)
FEW, GRAPHS = 90, 215  # times seven capacities: about 1,500 cases
MORE_GRAPHS = 2860  # about 20,000 cases
F32 = np.float32
COUNTS = (
    "tokens", "values", "taken", "clocks", "stall_input", "stall_output", "stall_memory", "first",
)  # fmt: skip
ELSEWHERE = {"mem_read", "mem_write", "spacc5", "spacc6"}
"""Ports need a machine with memory (test_memory.py); accumulators of all orders from 2 on share
one kernel."""
Outcome = EngineResult | SimulationError


def outcome(run: Callable[[], EngineResult]) -> Outcome:
    try:
        return run()
    except SimulationError as error:
        return error


def same_values(a: np.ndarray, b: np.ndarray, *, exact: bool) -> bool:
    """Bit for bit, but for which NaN it is; sums inside tiles may round differently."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not exact:
        return np.allclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a[a == a]), np.signbit(b[b == b])
    )


def is_real(token: Any) -> bool:
    return isinstance(token, (np.float32, np.ndarray))


def difference(golden: Outcome, kernel: Outcome, *, log: bool = True) -> str:
    """Describe the difference between two outcomes; empty if there is none."""
    if isinstance(golden, SimulationError) or isinstance(kernel, SimulationError):
        return "" if type(golden) is type(kernel) else f"{golden!r} against {kernel!r}"
    exact = not is_tiled(golden.graph)
    for what in COUNTS:
        a, b = getattr(golden, what), getattr(kernel, what)
        if not np.array_equal(a, b):
            return f"{what}: {a} against {b}"
    if golden.outputs.keys() != kernel.outputs.keys():
        return "writers"
    for node, arrays in golden.outputs.items():
        for name, a in arrays.items():
            b = kernel.outputs[node][name]
            if not same_values(a, b, exact=exact):
                return f"{name} written by node {node}: {a} against {b}"
    if not log or golden.log is None or kernel.log is None:
        return "" if (kernel.log is not None) is log else "log"
    for stream, entries in golden.log.items():
        others = kernel.log[stream]
        if len(entries) != len(others):
            return f"length of stream {stream}"
        for k, ((a, t), (b, u)) in enumerate(zip(entries, others, strict=True)):
            if is_real(a) and is_real(b):
                alike = same_values(np.asarray(a), np.asarray(b), exact=exact)
            else:
                alike = type(a) is type(b) and a == b
            if t != u or not alike:
                return f"token {k} of stream {stream}: {a}@{t} against {b}@{u}"
    return ""


def machine(seed: int, capacity: int | None) -> Machine:
    return Machine.comal(capacity) if seed % 3 == 0 else Machine.default(capacity)


@contextmanager
def stores_of_size(seed: int) -> Iterator[None]:
    """For every other seed, pools, trees and buffers that are full at once, so that they grow."""
    sizes = ("FIRST_FLOATS", "FEWEST_TILES", "FIRST_ROOM")
    with pytest.MonkeyPatch.context() as patch:
        for name in sizes if seed % 2 else ():
            patch.setattr(stores, name, 1)
        yield


def check(seeds: range, capacities: tuple[int | None, ...], seen: Counter[str]) -> None:
    for seed in seeds:
        bound = random_graph(seed, searching=seed % 2 == 1)
        cycles: list[float] = []
        for capacity in capacities:
            on = machine(seed, capacity)
            golden = outcome(lambda bound=bound, on=on: interpreter.run(bound, on, log=True))
            with stores_of_size(seed):
                logged = outcome(lambda bound=bound, on=on: compiled.run(bound, on, log=True))
                plain = outcome(lambda bound=bound, on=on: compiled.run(bound, on))
            problem = difference(golden, logged) or difference(golden, plain, log=False)
            assert not problem, f"graph {seed}, capacity {capacity}: {problem}\n{bound.graph}"
            seen[type(golden).__name__] += 1
            if isinstance(golden, EngineResult):
                seen.update(node.op for node in bound.graph.nodes)
                seen["tiles"] += is_tiled(bound.graph)
                cycles.append(golden.cycles)
            elif isinstance(golden, DeadlockError):
                cycles.append(math.inf)
        assert cycles == sorted(cycles, reverse=True), f"graph {seed}: more slots, more cycles"


@counts(small=FEW, deep=GRAPHS)
def test_random_cases(count: int) -> None:
    """More slots never take more cycles, none means for ever; many cases run every primitive."""
    seen: Counter[str] = Counter()
    check(range(SEED, SEED + count), CAPACITIES, seen)
    assert (
        sum(seen[kind] for kind in ("EngineResult", "SimulationError", "DeadlockError"))
        >= 6.9 * count
    )
    assert seen["DeadlockError"]
    assert seen["SimulationError"]
    assert seen["tiles"]
    if count >= GRAPHS:
        missed = {name for name in CATALOGUE.keys() - ELSEWHERE if not seen[name]}
        assert not missed, f"no case ran {missed}"


@counts(small=90, deep=150)
def test_channels_of_different_sizes(count: int) -> None:
    """Every channel its own capacity, unbounded ones among them."""
    finished = 0
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed, searching=seed % 2 == 1)
        chosen = np.random.default_rng(seed).choice(
            [0, 1, 2, 3, 5, 9, 40], len(bound.graph.streams)
        )
        finished += _check_sizes(bound, chosen.tolist(), f"graph {seed}")
    assert finished > count // 3


def _check_sizes(bound: BoundGraph, sizes: list[int], name: str) -> bool:
    streams = tuple(
        replace(stream, capacity=size or None)
        for stream, size in zip(bound.graph.streams, sizes, strict=True)
    )
    bound = replace(bound, graph=replace(bound.graph, streams=streams))
    golden = outcome(lambda: interpreter.run(bound, Machine.default(), log=True))
    kernel = outcome(lambda: compiled.run(bound, Machine.default(), log=True))
    problem = difference(golden, kernel)
    assert not problem, f"{name}: {problem}\n{bound.graph}"
    return isinstance(golden, EngineResult)


@pytest.mark.fuzz
def test_many_more_random_cases() -> None:
    check(range(SEED + GRAPHS, SEED + GRAPHS + MORE_GRAPHS), CAPACITIES, Counter())
