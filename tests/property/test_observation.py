"""Both engines observe the same in random graphs, and observing changes nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import latencies
from fuseloom.dataflow.sim.compiled import observing as observer
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.compiled.pacing import paced_streams
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.observe import BUSY, IDLE, INPUT, ROOM, Observe, Observed, StreamLog
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from tests.property.random_graphs import random_graph
from tests.property.test_kernels_equal_golden import difference, outcome
from tests.tiers import counts

SEED = 20_261_121
CAPACITIES = (1, 2, 3, 7, 64, None)
SLOW = replace(Machine.default(), alu_latency=5, alu_interval=3, load_latency=4)
LOGGED = Observe(bins=8, log=True)
PEAKS = Observe(bins=8, peaks=True)


def machines(seed: int, capacity: int | None) -> Machine:
    kinds = (Machine.default(), SLOW, Machine.comal(), replace(SLOW, alu_interval=1))
    return replace(kinds[seed % 4], channel_capacity=capacity)


def check_totals(result: EngineResult, seen: Observed) -> None:
    """Bins add up to the counters, and every bin is full up to the end of the run."""
    totals = seen.nodes.sum(axis=2)
    assert (seen.nodes >= 0).all()
    assert np.array_equal(totals[:, BUSY], result.busy)
    assert np.array_equal(totals[:, INPUT], result.stall_input)
    assert np.array_equal(totals[:, ROOM], result.stall_output)
    end = int(result.clocks.max())
    assert np.array_equal(totals[:, IDLE], end - result.clocks)
    assert seen.nodes.shape[2] <= 8
    assert (seen.nodes.sum(axis=1)[:, :-1] == seen.width).all()
    assert seen.tokens is not None
    assert np.array_equal(seen.tokens.sum(axis=1), result.tokens)


def check_logs(golden: StreamLog, kernel: StreamLog) -> None:
    assert np.array_equal(golden.puts.expanded(), kernel.puts.expanded())
    assert np.array_equal(golden.takes.expanded(), kernel.takes.expanded())
    assert golden.capacity == kernel.capacity
    if golden.latency > 1:
        # A token that waited for its slot may have been stamped a cycle later for all that.
        late, may_be = (np.repeat(log.late, log.puts.count) for log in (golden, kernel))
        assert (may_be | ~late).all()
    for events in (golden.puts, kernel.puts, golden.takes, kernel.takes):
        assert np.array_equal(events.first, np.cumsum(events.count) - events.count)


@counts(small=15, deep=32, fuzz=80)
def test_both_engines_observe_the_same(count: int) -> None:
    print(f"seeds from {SEED}")
    kinds: Counter[str] = Counter()
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed, searching=seed % 2 == 1)
        for capacity in CAPACITIES:
            on = machines(seed, capacity)
            plain = outcome(lambda bound=bound, on=on: compiled.run(bound, on))
            golden = outcome(lambda bound=bound, on=on: interpreter.run(bound, on, observe=LOGGED))
            kernel = outcome(lambda bound=bound, on=on: compiled.run(bound, on, observe=LOGGED))
            where = f"graph {seed}, capacity {capacity}\n{bound.graph}"
            assert not difference(golden, kernel, log=False), where
            assert not difference(plain, kernel, log=False), where
            kinds[type(golden).__name__] += 1
            if isinstance(golden, SimulationError) or isinstance(kernel, SimulationError):
                assert str(kernel) == str(plain), where
                continue
            a, b = golden.observed, kernel.observed
            assert a is not None, where
            assert b is not None, where
            assert a.width == b.width, where
            check_totals(golden, a)
            check_totals(kernel, b)
            for name in ("tokens", "residence", "occupancy_max"):
                assert np.array_equal(getattr(a, name), getattr(b, name)), f"{name} of {where}"
            for one, other in zip(a.log or (), b.log or (), strict=True):
                check_logs(one, other)
            # Without a log unbounded channels have no credits, and most takes go unnoticed.
            peaks = compiled.run(bound, on, observe=PEAKS).observed
            assert peaks is not None, where
            assert np.array_equal(a.residence, peaks.residence), where
            assert np.array_equal(a.occupancy_max, peaks.occupancy_max), where
    assert kinds["EngineResult"] > 70
    assert kinds["DeadlockError"]


@pytest.mark.parametrize("seed", range(SEED, SEED + 12))
def test_small_rings_observe_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rings and queues that grow, visits that end early."""
    monkeypatch.setattr(observer, "PER_TOKEN", 1)
    monkeypatch.setattr(observer, "SPARE", 0)
    bound = random_graph(seed)
    on = machines(seed, None)
    golden = outcome(lambda: interpreter.run(bound, on, observe=LOGGED))
    if isinstance(golden, SimulationError):
        return
    kernel = compiled.Simulation(bound, on, observe=LOGGED, ring=1).run()
    assert golden.observed is not None
    assert kernel.observed is not None
    for name in ("tokens", "residence", "occupancy_max"):
        assert np.array_equal(getattr(golden.observed, name), getattr(kernel.observed, name))


@pytest.mark.parametrize("seed", [5228, 5334, 5450, 5522])
def test_stamps_that_are_not_as_late_as_others(seed: int) -> None:
    """Empty folds of tiles take as long as others; blanks in place of absent tiles do not."""
    bound = random_graph(seed)
    compared = 0
    for capacity in CAPACITIES:
        on = machines(seed, capacity)
        golden = outcome(lambda on=on: interpreter.run(bound, on, observe=PEAKS))
        if isinstance(golden, EngineResult):
            kernel = compiled.run(bound, on, observe=PEAKS)
            assert golden.observed is not None
            assert kernel.observed is not None
            assert np.array_equal(golden.observed.occupancy_max, kernel.observed.occupancy_max)
            compared += 1
    assert compared


@counts(small=125, deep=250)
def test_paced_streams_bring_at_most_one_token_a_cycle(count: int) -> None:
    """Of broadcasts that are so at times: unless a token comes or leaves late."""
    streams = nodes = 0
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed)
        on = machines(seed, CAPACITIES[seed % len(CAPACITIES)])
        engine = interpreter.Interpreter(bound, on, observe=LOGGED)
        outcome(engine.run)
        watches = [channel.watch for channel in engine.channels]
        paced, at_times = paced_streams(bound.graph, on)
        for node, stream in at_times.items():
            seen = watches[stream]
            assert seen is not None
            for out in bound.graph.nodes[node].outputs:
                made = None if out is None else watches[out]
                if made is not None and made.puts == seen.stamps[: len(made.puts)]:
                    assert (np.diff(made.puts) > 0).all(), f"graph {seed}, stream {out}"
                    nodes += 1
        for stream in paced:
            seen = watches[stream]
            assert seen is not None
            assert (np.diff(seen.puts) > 0).all(), f"graph {seed}, stream {stream}"
            streams += len(seen.puts) > 1
    assert streams > 2 * count
    assert nodes > count // 13


@counts(small=100, deep=200)
def test_latencies_are_those_of_the_run(count: int) -> None:
    """A token is stamped one cycle or the result's latency after its put, if no put waits."""
    late = 0
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed)
        on = (SLOW, replace(Machine.comal(), alu_latency=3))[seed % 2]
        engine = interpreter.Interpreter(bound, on, observe=LOGGED)
        if isinstance(outcome(engine.run), SimulationError):
            continue
        for channel, latency in zip(engine.channels, latencies(bound.graph, on), strict=True):
            assert channel.watch is not None
            delays = np.subtract(channel.watch.stamps, channel.watch.puts)
            assert set(delays.tolist()) <= {1, latency}, f"graph {seed}, stream {channel.id}"
            late += latency > 1
    assert late > count // 2
