"""Machines with memory: both engines do exactly the same, on random graphs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.dram import Config, Ideal, Queues, ddr4_3200, hbm2
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.tile_values import is_tiled
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from tests.property.random_graphs import random_graph
from tests.property.test_kernels_equal_golden import difference, outcome
from tests.tiers import counts

SEED = 20_261_000
CAPACITIES = (1, 2, 5, None)


def memories(rng: np.random.Generator) -> tuple[Config, ...]:
    closed = replace(hbm2(), policy="closed", refresh=False)
    return (Queues(), Ideal(int(rng.integers(1, 50))), hbm2(), closed, ddr4_3200())


def check(seeds: range, seen: Counter[str]) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        plain = random_graph(seed, searching=seed % 2 == 1)
        for memory in memories(rng):
            capacity = CAPACITIES[int(rng.integers(len(CAPACITIES)))]
            base = Machine.comal(capacity) if seed % 3 == 0 else Machine.default(capacity)
            machine = replace(
                base,
                memory=memory,
                outstanding=int(rng.choice([1, 2, 3, 64])),
                port_slots=int(rng.choice([1, 2, 3, 17, 512])),
            )
            if isinstance(memory, Queues) and is_tiled(plain.graph):
                with pytest.raises(SimulationError, match="moves words, not tiles"):
                    with_ports(plain, machine)
                continue
            if isinstance(memory, Queues) and any(n.op == "search" for n in plain.graph.nodes):
                with pytest.raises(SimulationError, match="knows no level searcher"):
                    with_ports(plain, machine)
                continue
            bound = with_ports(plain, machine)
            golden = outcome(lambda b=bound, m=machine: interpreter.run(b, m, log=True))
            logged = outcome(lambda b=bound, m=machine: compiled.run(b, m, log=True))
            kernel = outcome(lambda b=bound, m=machine: compiled.run(b, m))
            problem = difference(golden, logged) or difference(golden, kernel, log=False)
            assert not problem, f"graph {seed}, {memory}, capacity {capacity}: {problem}"
            seen[type(golden).__name__] += 1
            if isinstance(golden, EngineResult) and golden.stall_memory.any():
                seen[type(memory).__name__] += 1


@counts(small=24, deep=32)
def test_random_graphs(count: int) -> None:
    print(f"seeds from {SEED}")
    seen: Counter[str] = Counter()
    check(range(SEED, SEED + count), seen)
    assert seen["EngineResult"] > 2 * count
    assert all(seen[kind] > count // 4 for kind in ("Queues", "Ideal", "Dram"))


@pytest.mark.fuzz
def test_many_random_graphs() -> None:
    check(range(SEED, SEED + 1000), Counter())
