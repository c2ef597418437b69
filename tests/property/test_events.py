"""Every wait of a run, to the cycle: both engines write the same, and no cycle is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.tile_values import is_tiled
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import observing
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.events.spool import REASONS
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.events.windows import intervals_of
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.observe import BUSY, IDLE, INPUT, MEMORY, ROOM, Observe
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from fuseloom.models import gcn, karate
from tests.property.random_graphs import random_graph
from tests.property.test_memory import memories
from tests.property.test_observation import CAPACITIES, machines
from tests.tiers import counts

SEED = 20_261_123
PRESETS = ("partial", *(pytest.param(p, marks=pytest.mark.deep) for p in ("unfused", "full")))


def check_totals(store: EventStore, result: EngineResult) -> None:
    """The cycles of all activities are the counters of the run, exactly."""
    assert np.array_equal(store.clocks, result.clocks)
    assert np.array_equal(store.totals[:, BUSY], result.busy)
    assert np.array_equal(store.totals[:, INPUT], result.stall_input)
    assert np.array_equal(store.totals[:, ROOM], result.stall_output)
    assert np.array_equal(store.totals[:, MEMORY], result.stall_memory)
    assert np.array_equal(store.totals[:, IDLE], store.cycles - result.clocks)


def check_same(golden: EventStore, kernel: EventStore, where: str) -> None:
    assert golden.nodes == kernel.nodes
    for node in range(golden.nodes):
        for reason in REASONS:
            for one, other in zip(golden.of(node, reason), kernel.of(node, reason), strict=True):
                assert np.array_equal(one, other), f"{where}, node {node}, reason {reason}"


def both(bound: BoundGraph, machine: Machine, folder: Path, observe: Observe, where: str) -> int:
    """Run on both engines and compare; how many waits there were, -1 where the run failed."""
    try:
        golden = interpreter.run(
            bound, machine, observe=replace(observe, events=folder / "golden.events")
        )
    except SimulationError:
        return -1
    kernel = compiled.run(bound, machine, observe=replace(observe, events=folder / "kernel.events"))
    stores = []
    for result in (golden, kernel):
        assert result.observed is not None
        assert result.observed.events is not None
        stores.append(EventStore(result.observed.events))
        check_totals(stores[-1], result)
    check_same(*stores, where)
    if observe.log:
        assert np.array_equal(stores[0].tokens.sum(axis=1), stores[1].tokens.sum(axis=1))
        assert stores[1].tokens.sum() == kernel.tokens.sum()
    return stores[0].waits


@counts(small=12, deep=50)
def test_both_engines_write_the_same_waits(count: int, tmp_path: Path) -> None:
    print(f"seeds from {SEED}")
    waits = []
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed, searching=seed % 2 == 1)
        for capacity in CAPACITIES:
            where = f"graph {seed}, capacity {capacity}\n{bound.graph}"
            observe = Observe(bins=8, log=seed % 3 == 0)
            waits.append(both(bound, machines(seed, capacity), tmp_path, observe, where))
    assert sum(there > 0 for there in waits) > 2.4 * count


@counts(small=3, deep=16)
def test_both_engines_write_the_same_waits_for_a_memory(count: int, tmp_path: Path) -> None:
    print(f"seeds from {SEED}")
    waits = []
    for seed in range(SEED, SEED + count):
        plain = random_graph(seed, searching=False)
        for memory in memories(np.random.default_rng(seed)):
            base = Machine.comal(3) if seed % 3 == 0 else Machine.default(3)
            machine = replace(base, memory=memory)
            try:
                bound = with_ports(plain, machine)
            except SimulationError:
                assert any(is_tiled(node) for node in plain.graph.nodes)
                continue
            waits.append(both(bound, machine, tmp_path, Observe(bins=8), f"{seed}, {memory}"))
    assert sum(there > 0 for there in waits) > count


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    "preset", ["partial", *(pytest.param(p, marks=pytest.mark.deep) for p in ("unfused", "full"))]
)
def test_events_of_karate_add_up_to_the_record(preset: str, tmp_path: Path) -> None:
    model = gcn()
    program = compile_program(model.program, model.presets[preset])
    found = {}
    for engine in ("interpreter", "compiled"):
        observe = Observe(events=tmp_path / f"{engine}.events", log=True)
        run = simulate(program, karate(), engine=engine, observe=observe)
        for number, region in enumerate(run.regions):
            observed = region.result.observed
            assert observed is not None
            assert observed.events == tmp_path / f"{engine}.{number}.events"
            found[engine, number] = store = EventStore(observed.events)
            check_totals(store, region.result)
            assert store.cycles == region.cycles
    for number in range(len(program.regions)):
        check_same(found["interpreter", number], found["compiled", number], preset)


def test_intervals_are_the_golden_models_waits(tmp_path: Path) -> None:
    """Every cycle of every node is in one interval; waits are where the golden models saw them."""
    for seed in range(SEED, SEED + 15):
        bound = random_graph(seed)
        observe = Observe(log=True, events=tmp_path / "golden.events")
        try:
            result = interpreter.run(bound, machines(seed, 2), observe=observe)
        except SimulationError:
            continue
        assert result.observed is not None
        assert result.observed.waits is not None
        store = EventStore(tmp_path / "golden.events")
        made = intervals_of(store, 0, store.cycles)
        for node, waits in enumerate(result.observed.waits):
            rows = np.full(store.cycles, IDLE)
            rows[: result.clocks[node]] = BUSY
            for wait in waits:
                reason = MEMORY if wait.stream < 0 else ROOM if wait.room else INPUT
                rows[wait.since : wait.until] = reason
            seen = np.full(store.cycles, -1)
            for start, stop, activity in zip(
                made.start[made.node == node],
                made.stop[made.node == node],
                made.activity[made.node == node],
                strict=True,
            ):
                assert (seen[start:stop] == -1).all()
                seen[start:stop] = activity
            assert np.array_equal(rows, seen), f"graph {seed}, node {node}"


def test_waits_are_handed_over_while_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing, "WAITS_HELD", 5)
    for seed in range(SEED, SEED + 10):
        both(random_graph(seed), machines(seed, 2), tmp_path, Observe(bins=8), f"graph {seed}")


def test_a_failed_run_leaves_no_file(tmp_path: Path) -> None:
    failed = 0
    for seed in range(SEED, SEED + 40):
        for run in (compiled.run, interpreter.run):
            path = tmp_path / f"{seed}.events"
            try:
                run(random_graph(seed), machines(seed, 1), observe=Observe(events=path))
            except SimulationError:
                failed += 1
                assert not list(tmp_path.glob(f"{seed}.*"))
    assert failed
