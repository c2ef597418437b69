"""A recording is the ordinary run, token by token, as far as it goes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.conformance.vectors import bind_vector, load_vectors, unsupported
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.steps import NEVER, Recording, RecordingLimits, record
from fuseloom.dataflow.sim.tokens import same
from fuseloom.errors import SimulationError
from tests.property.random_graphs import random_graph

CONFORMANCE = Path(__file__).parents[3] / "conformance"
KERNELS = [v for v in load_vectors(CONFORMANCE / "kernels.json") if not unsupported(v)]


def agree(recording: Recording, bound: BoundGraph, machine: Machine) -> None:
    """All that the ordinary run says of the cycles kept, and nothing else, is in the recording."""
    bound = with_ports(bound, machine)
    run = interpreter.run(bound, machine, log=True, observe=Observe(log=True))
    assert run.log is not None
    assert run.observed is not None
    assert run.observed.log is not None
    last = recording.last
    if recording.complete:
        assert recording.cycles == run.cycles
        for node, arrays in run.outputs.items():
            for name, array in arrays.items():
                np.testing.assert_array_equal(recording.outputs[node][name], array)
    for number, (record_, seen) in enumerate(zip(recording.streams, run.observed.log, strict=True)):
        stamps, takes = seen.puts.expanded(), seen.takes.expanded()
        taken = record_.taken[record_.taken < NEVER]
        np.testing.assert_array_equal(taken, takes[takes <= last])
        arrived = np.maximum.accumulate(stamps)
        mine = record_.visible[record_.visible < NEVER]
        np.testing.assert_array_equal(mine, arrived[: len(mine)])
        assert len(mine) == np.count_nonzero(arrived <= last)
        assert (record_.put < record_.visible).all()
        for token, (there, _) in zip(record_.tokens, run.log[number], strict=False):
            assert same(token, there) or str(token) == str(there)


@pytest.mark.parametrize("vector", KERNELS, ids=lambda v: v["kind"])
def test_the_vectors_of_the_reference(vector: dict[str, Any]) -> None:
    bound, _ = bind_vector(vector)
    machine = Machine.comal(memory=bool(vector.get("hbm")))
    run = run_graph(bound, machine, "interpreter")
    recording = record(bound, machine, RecordingLimits(cycles=run.cycles + 5, tokens=10**7))
    assert recording.complete
    assert recording.cycles == run.cycles == vector["elapsed"]
    agree(recording, bound, machine)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("capacity", [None, 2])
def test_random_graphs_whole_and_in_part(seed: int, capacity: int | None) -> None:
    bound = random_graph(seed)
    bound = BoundGraph(bound.graph.with_capacity(capacity), bound.arrays)
    machine = Machine.default()
    try:
        recording = record(bound, machine)
    except SimulationError as wrong:
        with pytest.raises(SimulationError, match=re.escape(str(wrong))):
            run_graph(bound, machine, "interpreter")
        return
    if recording.complete:
        agree(recording, bound, machine)
        part = record(bound, machine, RecordingLimits(cycles=max(1, recording.last // 2)))
        assert part.last == max(1, recording.last // 2) or part.complete
        agree(part, bound, machine)
    else:
        with pytest.raises(SimulationError) as stuck:
            run_graph(bound, machine, "interpreter")
        assert recording.note == str(stuck.value)


@pytest.mark.parametrize("machine", ["hbm2", "comal with memory"])
@pytest.mark.parametrize("cycles", [10_000, 60, 25])
def test_machines_with_memory(machine: str, cycles: int) -> None:
    vector = next(v for v in KERNELS if v["kind"] == "example_spmv")
    bound, _ = bind_vector(vector)
    made = Machine.preset("hbm2") if machine == "hbm2" else Machine.comal(memory=True)
    recording = record(bound, made, RecordingLimits(cycles=cycles))
    assert recording.complete == (cycles == 10_000)
    agree(recording, bound, made)


def counting(tokens: int, capacity: int | None = None) -> BoundGraph:
    stream = " ".join(map(str, range(tokens)))
    return bench_graph("repsig", f"{stream} S0 D", capacity=capacity)


def test_a_recording_ends_after_its_cycles() -> None:
    recording = record(counting(900), Machine.default(), RecordingLimits(cycles=700))
    assert not recording.complete
    assert recording.last == 700
    assert recording.note == "showing the first 700 cycles: a recording holds at most 700 cycles"
    assert max(len(stream.tokens) for stream in recording.streams) == 701
    agree(recording, counting(900), Machine.default())


def test_a_recording_holds_no_more_than_its_tokens() -> None:
    recording = record(counting(900), Machine.default(), RecordingLimits(tokens=1_000))
    assert not recording.complete
    assert 990 <= recording.tokens <= 1_000
    assert f"first {recording.last:,} cycles" in recording.note
    assert "at most 1,000 tokens" in recording.note
    agree(recording, counting(900), Machine.default())


@pytest.mark.deep  # takes seconds
def test_far_more_tokens_than_allowed_are_never_made() -> None:
    """A source runs ahead of its readers, but rests at the cycle where the run is looked at."""
    recording = record(counting(200_000), Machine.default(), RecordingLimits(tokens=100))
    assert recording.tokens <= 100
    assert recording.last < 60


@pytest.mark.parametrize("kept", [(0, 5), (5, 0)])
def test_nothing_cannot_be_kept(kept: tuple[int, int]) -> None:
    with pytest.raises(SimulationError, match="a recording of"):
        RecordingLimits(*kept)
