"""Worker processes: results, refusals, cancelling, dying."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.space.design_costs import region_area
from fuseloom_workbench.running.worker import Runner, SimulationJob
from fuseloom_workbench.state.session import Session
from tests.waiting import PATIENCE, until_async
from tests.workbench.jobs import alone


def job(session, explain=False):
    return SimulationJob(session.compilation, session.built.data, session.machine, explain)


def test_a_run_gives_plain_data_and_a_check():
    session = Session("spmm", "random")
    shares = []
    runner = Runner()
    runner.param.watch(lambda event: shares.append(event.new), "share")
    result = alone(runner.run(job(session)))
    assert result is not None
    assert result.ok
    assert result.cycles > 0
    assert len(result.regions) == len(session.regions)
    nodes = result.regions[0].nodes
    assert {row["node"] for row in nodes} == {n.id for n in session.current.graph.nodes}
    assert shares[-1] == 1
    assert not runner.running
    (region,) = session.regions
    assert result.area == region_area(region.graph, session.machine, session.built.data)
    assert result.area.known


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("die", "the simulator stopped: MemoryError: no space left"),
        ("vanish", "the simulator stopped: it ended with code 3"),
        ("refuse", "tokens ran out (hint: run less)"),
    ],
)
def test_a_run_that_fails_says_why(target, text):
    runner = Runner()
    runner.target = f"tests.workbench.targets:{target}"
    assert alone(runner.run(job(Session("spmv")))) is None
    assert runner.failed
    assert runner.status == text
    assert not runner.running


def test_cancel_is_quick_and_leaves_no_process():
    async def scenario():
        runner = Runner()
        runner.target = "tests.workbench.targets:sleep"
        task = asyncio.create_task(runner.run(job(Session("spmv"))))
        await until_async(lambda: task.done() or runner.share >= 0.5, "the job reports a share")
        assert not task.done(), runner.status
        process = runner._child._process
        runner.cancel()
        assert await asyncio.wait_for(task, PATIENCE) is None
        return runner, process

    runner, process = alone(scenario())
    assert runner.status == "cancelled"
    assert not runner.failed
    assert process.wait(PATIENCE) != 0


def test_a_run_has_a_limit():
    runner = Runner(limit=0.5)
    runner.target = "tests.workbench.targets:sleep"
    assert alone(runner.run(job(Session("spmv")))) is None
    assert runner.failed
    assert "stopped after 0.5 s" in runner.status


def test_a_run_on_a_memory_tells_what_it_did():
    session = Session("spmm", "random", machine=Machine.preset("hbm2"))
    result = alone(Runner().run(job(session)))
    direct = simulate(session.compilation, session.built.data, session.machine)
    (region,), (expected,) = result.regions, direct.regions
    assert region.memory == json.loads(json.dumps(expected.result.memory.to_dict()))
    assert region.memory["bytes"] > 0
    assert region.path is None
    own = {n.id for n in session.current.graph.nodes}
    ports = [row for row in region.nodes if row["node"] not in own]
    assert ports
    for row in ports:  # each serves the node its label begins with
        served = session.current.graph.nodes[row["owner"]]
        assert row["label"].startswith(served.label)
    assert all(row["owner"] == row["node"] for row in region.nodes if row["node"] in own)


@pytest.mark.parametrize("machine", ["default", "hbm2"])
def test_timelines_add_up_to_the_counters(machine):
    session = Session("gcn", "karate", machine=Machine.preset(machine))
    result = alone(Runner().run(job(session)))
    for region in result.regions:
        for name, cycles in region.timeline["cycles"].items():
            for row, bins in zip(region.nodes, cycles, strict=True):
                if name != "idle":
                    assert sum(bins) == row[name]


@pytest.mark.parametrize("machine", ["default", "hbm2"])
def test_an_explained_run_accounts_for_every_cycle(machine):
    session = Session("gcn", "karate", machine=Machine.preset(machine))
    result = alone(Runner().run(job(session, explain=True)))
    for compiled, region in zip(session.regions, result.regions, strict=True):
        path = region.path
        assert path["start"] == 0
        assert sum(row["cycles"] for row in path["summary"]) == region.cycles
        assert sum(path["shares"].values()) == pytest.approx(1)
        assert {int(n) for n in path["shares"]} <= {n.id for n in compiled.graph.nodes}
        ends = [(s["start"], s["stop"]) for s in path["segments"]]
        assert ends[0][0] == 0
        assert ends[-1][1] == region.cycles
        assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
        assert path["what_if"][0]["gain"] == path["what_if"][0]["own"] // 2
        assert len(region.channels) >= len(compiled.graph.streams)


def test_a_memory_of_queues_refuses_tiles():
    session = Session("gpt3", "bigbird", machine=Machine.preset("comal-hbm"))
    assert session.set_schedule("block 2"), session.message
    runner = Runner()
    assert alone(runner.run(job(session))) is None
    assert runner.failed
    assert "a memory of queues moves words, not tiles (hint:" in runner.status
