"""A region's run as plain data: bounded, and every cycle accounted for."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import (
    BINS,
    EVENT_BINS,
    Detail,
    channel_data,
    node_data,
    observation,
    owner,
    path_data,
    timeline,
)
from fuseloom.dataflow.sim.observe import ACTIVITIES, Observe, Observed
from fuseloom.dataflow.sim.ports import READ, WRITE
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.records import traced_regions
from fuseloom.models import gcn, karate


@pytest.fixture(scope="module")
def run() -> Run:
    """A GCN on HBM2 with a log."""
    model = gcn()
    compiled = compile_program(model.program, model.presets["partial"])
    machine = Machine.preset("hbm2")
    return simulate(compiled, karate(), machine, engine="interpreter", observe=Observe(log=True))


@pytest.mark.deep  # takes seconds
def test_a_path_accounts_for_every_cycle(run: Run) -> None:
    for region in run.regions:
        data = path_data(region.path, Detail())
        assert sum(row["cycles"] for row in data["summary"]) == region.cycles
        assert sum(data["shares"].values()) == pytest.approx(1)
        assert len(data["segments"]) == data["pieces"]
        ends = [(s["start"], s["stop"]) for s in data["segments"]]
        assert (ends[0][0], ends[-1][1]) == (0, region.cycles)
        assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
        gains = [guess["gain"] for guess in data["what_if"]]
        assert gains == sorted(gains, reverse=True)
        assert data["what_if"][0]["node"] == region.path.bottleneck


def test_a_long_path_is_cut_to_its_longest_segments(run: Run) -> None:
    path = run.regions[0].path
    data = path_data(path, Detail(segments=5, rows=2))
    assert data["pieces"] == len(path.segments) > 5
    kept = sorted((s["cycles"] for s in data["segments"]), reverse=True)
    assert kept == sorted((s.cycles for s in path.segments), reverse=True)[:5]
    starts = [s["start"] for s in data["segments"]]
    assert starts == sorted(starts)
    assert data["summaries"] == len(path.summary()) > 2
    assert len(data["summary"]) == len(data["what_if"]) == 2


def test_ports_belong_to_the_node_they_serve(run: Run) -> None:
    (region, *_) = traced_regions(run)
    graph = region.result.graph
    rows = node_data(region, run.regions[0].actions)
    ports = [n for n in graph.nodes if n.op in (READ, WRITE)]
    assert ports
    for port in ports:
        served = graph.nodes[rows[port.id]["owner"]]
        assert served.op not in (READ, WRITE)
        assert port.label.startswith(served.label)
    assert all(owner(graph, n) == n.id for n in graph.nodes if n not in ports)


def test_channels_come_fullest_first(run: Run) -> None:
    region, *_ = traced_regions(run)
    rows = channel_data(region, run.machine)
    assert [row["most"] for row in rows] == sorted((r["most"] for r in rows), reverse=True)
    assert {row["stream"] for row in rows} == {s.id for s in region.result.graph.streams}
    for row in rows:
        assert row["consumer"]["node"] == region.result.graph.consumer[row["stream"]]
        assert 0 <= row["mean"] <= max(row["most"], 1)


@pytest.mark.parametrize("bins", [1, BINS - 1, BINS, BINS + 1, 3 * BINS + 1, EVENT_BINS])
def test_a_timeline_has_few_bins_and_all_cycles(bins: int) -> None:
    cycles = np.random.default_rng(bins).integers(0, 9, (3, 5, bins))
    data = timeline(Observed(4, cycles, np.zeros(0, np.int64)))
    assert data["events"] is None
    factor = data["width"] // 4
    for number, name in enumerate(ACTIVITIES):
        rows = np.array(data["cycles"][name])
        assert rows.shape == (3, -(-bins // factor))
        assert rows.shape[1] <= BINS
        wanted = np.add.reduceat(cycles[:, number], range(0, bins, factor), axis=1)
        assert np.array_equal(rows, wanted)


@pytest.mark.deep  # takes seconds
def test_a_timeline_names_the_file_of_its_events(tmp_path: Path) -> None:
    compiled = compile_program(gcn().program, gcn().presets["partial"])
    observe = observation(explain=False, events=tmp_path / "run.events")
    run = simulate(compiled, karate(), engine="interpreter", observe=observe)
    for number, region in enumerate(run.regions):
        data = timeline(region.result.observed)
        assert data["events"] == str(tmp_path / f"run.{number}.events")
        assert Path(data["events"]).is_file()
