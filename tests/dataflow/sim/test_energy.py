"""Energy of runs: per run, region and node, with and without a memory."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow.sim.energy import run_actions, run_counts, run_energy
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.records import program_record
from fuseloom.results.record import RunRecord

GCN, DATA = fl.load("gcn", "karate")
COMPILED = fl.compile(GCN.program, GCN.presets["partial"])


@pytest.mark.parametrize("preset", ["default", "hbm2", "ddr4", "comal-hbm"])
def test_nodes_add_up_to_regions_and_regions_to_the_run(preset: str) -> None:
    machine = fl.Machine.preset(preset)
    run = fl.simulate(COMPILED, DATA, machine)
    for region in run.regions:
        actions = run_actions(region.result, machine, region.copied)
        assert actions == region.actions
        nodes = sum(actions.of_nodes()) + sum(a.joules for a in actions.copies)
        assert region.energy.joules == pytest.approx(nodes)
        assert region.energy.seconds == region.cycles / machine.clock_hz
        assert run_energy(region.result, machine, region.copied) == region.energy
    assert run.energy.joules == pytest.approx(sum(r.energy.joules for r in run.regions))
    assert run.energy.edp == run.energy.joules * run.energy.seconds
    assert run.energy.edp > sum(r.energy.edp for r in run.regions)
    assert ("activate" in run.energy.actions) is (preset in ("hbm2", "ddr4"))


def test_a_memory_is_counted_as_it_moved() -> None:
    machine = fl.Machine.preset("hbm2")
    run = fl.simulate(COMPILED, DATA, machine)
    for region in run.regions:
        stats = region.result.memory
        assert stats is not None
        rows = sum(channel.activates for channel in stats.channels)
        counts = run_counts(region.result, region.copied)
        assert (counts.moved, counts.activates) == (stats.bytes, rows)
        moved = 8 * 3.48e-12 * (stats.bytes + region.copied)
        assert region.energy.actions["memory"] == pytest.approx(moved)


def test_the_record_has_it() -> None:
    run = fl.simulate(COMPILED, DATA)
    record = program_record(run, None, Detail(nodes=True))
    assert record.energy == run.energy
    assert [r.energy for r in record.regions] == [r.energy for r in run.regions]
    for region, ran in zip(record.regions, run.regions, strict=True):
        assert region.nodes is not None
        assert tuple(row["energy"] for row in region.nodes) == ran.actions.of_nodes()
    assert RunRecord.from_json(record.to_json()) == record
