"""All runs as plain data: whose they are, which is shown, and what choices explain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.results.area import AreaUse
from fuseloom_workbench.costs.importance import LEAST
from fuseloom_workbench.costs.view import costs, look
from fuseloom_workbench.state.shared import EstimatedSchedules, SharedRun, StoredRuns

from ..outcomes import outcome


def test_runs_are_told_and_which_of_them_is_shown(session):
    session.finish(session.built, outcome(200, session=session))
    session.preset("unfused")
    assert look(session)["current"] == ""
    session.finish(session.built, outcome(300, session=session))
    session.add_boundary(3)
    session.remove_boundary(2)
    session.finish(session.built, outcome(250, session=session))
    session.pin(0)
    runs = costs(session)["runs"]
    assert [run["name"] for run in runs] == ["partial", "unfused", "yours 1"]
    assert [run["kind"] for run in runs] == ["partial", "unfused", "own"]
    assert [run["speedup"] for run in runs] == [1.5, 1.0, 1.2]
    shown = look(session)
    assert (shown["current"], shown["pinned"]) == ("run:2", "run:0")
    assert {run["problem"] for run in runs} == {shown["problem"]}
    session.set_machine("hbm2")
    assert look(session)["problem"] != shown["problem"]


def test_runs_of_others_come_after_those_of_the_session(session):
    schedule = session.built.resolved
    session.preset("unfused")
    record = outcome(3_000, session=session)
    unchecked = replace(record, check=None)
    record = record.with_areas([AreaUse(8_765.0)] * len(record.regions))
    base = SharedRun("a" * 64, session.built.resolved, 3_000, 2_000.0, "", 0.0, record)
    runs = (
        base,
        SharedRun("b" * 64, schedule, 1_500, None, "", 86_400.0, replace(unchecked)),
        SharedRun("c" * 64, "fuse T1..T2", 999, None, "0.0.1+a", 0.0, None, "of version 9"),
    )
    session.take_in(StoredRuns(session.built.problem, runs=runs, total=3))
    names = {base.schedule: "unfused"}
    session.judged = EstimatedSchedules(
        session.built.problem, names, {}, {"c" * 64: "no such index"}
    )
    view = costs(session)
    assert (view["note"], view["trouble"]) == ("", "")
    third, second, first = view["runs"]  # of the fewest cycles first
    assert look(session)["current"] == first["id"] == f"kept:{base.key}"
    assert (first["name"], first["speedup"], first["ok"]) == ("unfused", 1.0, True)
    assert [run["area"] for run in (first, second, third)] == [8_765.0, None, None]
    assert (second["speedup"], second["estimated"], second["lanes"]) == (2.0, None, 1)
    assert (second["ok"], second["check"]) == (None, "not compared with the dense reference")
    assert second["when"] == "1970-01-02 00:00 UTC"
    assert (third["speedup"], third["flops"], third["ok"]) == (None, None, None)
    assert (third["engine"], third["check"]) == ("0.0.1+a", "of version 9")
    assert third["refused"] == "this engine does not take its schedule: no such index"


def test_a_part_of_many_is_said_and_trouble_too(session):
    runs = tuple(
        SharedRun(f"{k:064x}", f"fuse T1..H # {k}", 100 + k, 1.0, "", 0.0) for k in range(80)
    )
    trouble = "Kept runs are not read: the disk has failed"
    session.take_in(StoredRuns(session.built.problem, runs=runs, total=20_000, trouble=trouble))
    view = costs(session)
    assert view["note"].startswith("showing 80 of 20,000 kept runs: the last 60 and the 20 of")
    assert view["trouble"] == trouble


@pytest.mark.deep  # takes seconds
def test_choices_are_weighed_once_there_are_enough_right_runs(session):
    for k in range(LEAST):
        session.set_cuts([4] if k % 2 else [])
        session.set_machine(f'base = "default"\nname = "m{k // 2}"\nalu_latency = {1 + k // 2}')
        assert session.ok, session.message
        told = costs(session)["importance"]
        assert (told["runs"], told["shares"]) == (k, [])
        cycles = 100 + k if k % 2 else 1_000 + k
        session.finish(session.built, outcome(cycles, session=session))
    told = costs(session)["importance"]
    assert told["runs"] == told["least"] == LEAST
    best, *_ = told["shares"]
    assert best["choice"] == "cut before A·H"
    assert best["share"] > 0.99
    *_, last = session.records.values()
    wrong = outcome(5, ok=False, session=session)
    session.records = {**session.records, last.configuration: replace(last, run=wrong)}
    assert costs(session)["importance"]["runs"] == LEAST - 1
    session.choose("gcn", seed=7)
    assert costs(session)["importance"]["runs"] == 0
