"""Runs of others: found by program, data and machine, checked, and judged by the engine."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.dataflow.machine import Machine
from fuseloom.exploration.store import Outcome, RunLabel, RunStore, data_hash
from fuseloom.exploration.sweep.plan import run_identity
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.shared import (
    EstimatedSchedules,
    StoredRuns,
    judge,
    look,
    missing,
    slim,
)
from tests.workbench.outcomes import outcome


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    return tmp_path / "runs.sqlite"


def put(path, session, cycles=1_000, engine=None, estimated=None, record=None, schedule=None):
    """Keep a run of the session's design that never was; its key."""
    built = session.built
    identity = run_identity(
        built.compilation.source or built.compilation.program,
        built.resolved if schedule is None else schedule,
        data_hash(built.data),
        session.machine,
    )
    if engine is not None:
        identity = replace(identity, engine=engine)
    record = slim(outcome(cycles, session=session)) if record is None else record
    with RunStore(path) as store:
        assert store.put(identity, Outcome.of(record), RunLabel(estimated=estimated))
    return identity.key


def seen(session, path, **how):
    """Return a session's current view of the store."""
    session.take_in(look(session.built, str(path), session.shared, **how))
    return session.shared


def judged(session):
    for found in judge(session.built, session.shared, session.judged):
        session.judged = found
    return session.judged


def test_a_run_of_a_command_is_the_design_s_own(path):
    assert main(["simulate", "--model", "gcn", "--data", "karate", "--keep"]) == 0
    assert (
        main(["simulate", "--model", "gcn", "--data", "karate", "--preset", "full", "--keep"]) == 0
    )
    session = Session("gcn", "karate")
    session.preset("full")
    assert session.record is None
    shared = seen(session, path)
    assert (shared.total, len(shared.runs), shared.trouble) == (2, 2, "")
    record = session.record
    assert record is not None
    assert record.name == "full"
    assert record.run.ok
    assert session.latest is record or session.latest == record
    assert not session.stale
    session.undo()
    assert session.record is None or session.record.run.cycles != record.run.cycles


def test_every_kept_schedule_gives_its_own_run_when_it_is_taken_over(path, capsys):
    """The run is found with or without look-ups, in any order, from a sweep or a command."""
    command = ["explore", "--model", "gcn", "--data", "karate", "--simulate", "--json"]
    command += ["--vary", "preset=partial,full", "--vary", "order=first,best"]
    assert main(command) == 0
    schedule = path.parent / "plain.schedule"
    schedule.write_text("fuse T1..H; order T1..H: i,k,p,n; fuse T5..Y; locate off")
    assert main(["simulate", "--model", "gcn", "--schedule", str(schedule), "--keep"]) == 0
    capsys.readouterr()
    session = Session("gcn", "karate")
    shared = seen(session, path)
    assert shared.total >= 4
    for run in session.others:
        assert session.take_kept(run.key), session.message
        assert session.built.resolved == run.schedule
        assert session.record is not None
        assert session.record.run.cycles == run.cycles
        assert "was taken over; Undo goes back" in session.message
    for _ in range(len(session.others)):
        session.undo()
    assert session.built.preset_name == "partial"


def test_other_programs_data_and_machines_are_not_seen(path):
    session = Session("gcn", "karate")
    put(path, session)
    others = [
        Session("gcn", "karate", seed=1),
        Session("gcn", "karate", machine=Machine.preset("hbm2")),
        Session("graphsage", "random"),
    ]
    edited = Session("gcn", "karate")
    assert edited.set_program(str(session.built.program).replace("b2: 4 dense", "b2: 4 compressed"))
    for other in [*others, edited]:
        assert seen(other, path).total == 0
        assert other.others == []
    assert seen(session, path).total == 1


def test_another_engine_s_run_is_marked_and_never_the_design_s_own(path):
    session = Session("gcn", "karate")
    key = put(path, session, engine="0.0.1+0123456789ab")
    seen(session, path)
    assert session.record is None
    (other,) = session.others
    assert (other.key, other.engine) == (key, "0.0.1+0123456789ab")
    session.preset("full")
    assert session.take_kept(key)
    assert "0.0.1+0123456789ab has done it: press Run" in session.message
    assert session.record is None
    put(path, session, cycles=2_000)
    seen(session, path)
    (mine,) = session.others  # a schedule is shown once, by this engine if it has run it
    assert (mine.engine, mine.cycles) == ("", 2_000)
    assert session.record.run.cycles == 2_000


def test_only_the_design_s_own_is_read_while_nothing_has_changed(path):
    session = Session("gcn", "karate")
    put(path, session, 1_000)
    session.preset("full")
    put(path, session, 2_000)
    shared = seen(session, path, whole=False)
    assert [run.cycles for run in shared.runs] == [2_000]
    session.preset("partial")
    assert [run.cycles for run in seen(session, path, whole=False).runs] == [1_000, 2_000]
    assert seen(session, path, whole=False) == session.shared


def test_the_own_runs_of_a_session_are_not_shown_twice(path):
    session = Session("gcn", "karate")
    put(path, session, 1_000)
    session.finish(session.built, outcome(1_000, session=session))
    seen(session, path)
    assert session.others == []
    assert session.record is session.latest
    assert session.record.run.regions[0].nodes is not None


@pytest.mark.parametrize(
    ("change", "trouble"),
    [
        (lambda r: {**r, "version": r["version"] + 1}, "a run record of version"),
        (lambda r: {**r, "cycles": r["cycles"] + 1}, "the sum over the regions"),
        (lambda r: {**r, "regions": "none"}, "regions"),
        (lambda r: {"fuseloom": "runs"}, "not a fuseloom run record"),
        (lambda r: [], "not a fuseloom run record"),
        (lambda r: {**r, "regions": [], "cycles": 0, "flops": 0, "bytes": 0, "tokens": 0}, "of an"),
    ],
)
def test_a_record_that_is_not_read_is_left_out_with_its_reason(path, change, trouble):
    session = Session("gcn", "karate")
    put(path, session)
    with sqlite3.connect(path) as raw:
        ((text,),) = raw.execute("SELECT record FROM runs").fetchall()
        raw.execute("UPDATE runs SET record = ?", (json.dumps(change(json.loads(text))),))
    raw.close()
    (run,) = seen(session, path).runs
    assert run.run is None
    assert trouble in run.trouble
    assert session.record is None
    assert session.others == [run]
    assert session.take_kept(run.key)


def test_a_record_of_other_regions_is_not_the_design_s_own(path):
    session = Session("gcn", "karate")
    other = Session("gcn", "karate", schedule="")
    put(path, session, record=slim(outcome(session=other)))
    (run,) = seen(session, path).runs
    assert run.run is not None
    assert session.record is None


def test_what_others_wrote_is_not_drawn(path):
    session = Session("gcn", "karate")
    record = outcome(session=session)
    first = replace(record.regions[0], memory={"reads": "<script>"}, timeline={"width": "x"})
    put(path, session, record=replace(record, regions=(first, *record.regions[1:])))
    (run,) = seen(session, path).runs
    assert (session.record, run.run) == (None, None)
    assert run.trouble.startswith("run.regions[0].")


@pytest.mark.parametrize("harm", ["gone", "no store", "damaged", "newer"])
def test_a_store_that_cannot_be_read_is_said_and_what_was_seen_stays(path, harm):
    session = Session("gcn", "karate")
    put(path, session)
    before = seen(session, path).runs
    match harm:
        case "gone":
            path.unlink()
        case "no store":
            path.write_text("no store at all")
        case "damaged":
            content = bytearray(path.read_bytes())
            for page in range(4096, len(content), 4096):
                content[page : page + 64] = b"\xff" * 64
            path.write_bytes(content)
        case "newer":
            with sqlite3.connect(path) as raw:
                raw.execute("PRAGMA user_version = 99")
            raw.close()
    shared = seen(session, path)
    assert shared.trouble.startswith("Kept runs are not read: ")
    assert str(path) in shared.reason
    assert str(path) not in shared.trouble
    assert shared.runs == before
    assert session.record is not None


def test_damaged_rows_are_counted(path):
    session = Session("gcn", "karate")
    put(path, session)
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE runs SET changed = 'never'")
    raw.close()
    shared = seen(session, path)
    assert shared.runs == ()
    assert "1 of the kept runs cannot be read" in shared.trouble


def test_presets_are_named_and_missing_estimates_made(path):
    session = Session("gcn", "karate")
    put(path, session, 3_000)
    expected = session.estimate.cycles
    session.preset("unfused")
    put(path, session, 6_000, estimated=5_500.0)
    put(path, session, 7_000, schedule="fuse T1..H; melt everything")
    put(path, session, 8_000, schedule="fuse T1..nowhere")
    seen(session, path)
    assert len(missing(session.shared, session.judged)) == 3
    found = judged(session)
    by_cycles = {run.cycles: run for run in session.others}
    assert session.name_of(by_cycles[3_000]) == "partial"
    assert session.name_of(by_cycles[6_000]) == "unfused"
    assert session.name_of(by_cycles[7_000]) == f"kept {by_cycles[7_000].key[:6]}"
    assert session.estimated_of(by_cycles[3_000]) == expected
    assert session.estimated_of(by_cycles[6_000]) == 5_500.0
    assert session.estimated_of(by_cycles[7_000]) is None
    assert "melt" in found.refused[by_cycles[7_000].key]
    assert "nowhere" in found.refused[by_cycles[8_000].key]
    assert missing(session.shared, found) == []
    assert session.unfused_cycles(session.built.problem) == 6_000
    before = session.design
    for cycles in (7_000, 8_000):
        assert not session.take_kept(by_cycles[cycles].key)
        assert session.design == before


def test_what_belongs_to_another_problem_is_not_taken_in():
    session = Session("gcn", "karate")
    session.take_in(StoredRuns("another", total=7))
    assert session.shared == StoredRuns()
    session.judged = EstimatedSchedules("another", names={"": "full"})
    assert session.others == []
