"""Runs as rows: which series they belong to, and going back to one."""

from __future__ import annotations

from dataclasses import replace

from workbench.runs_table import RunsTable
from workbench.shared import Judged, Shared, SharedRun

from .outcomes import outcome


def test_rows_say_what_ran_and_which_is_shown(session):
    table = RunsTable(session)
    assert table.view["runs"] == []
    session.finish(session.built, outcome(1_234, session=session))
    session.preset("unfused")
    (row,) = table.view["runs"]
    assert (row["name"], row["cycles"], row["current"]) == ("partial", "1,234", False)
    assert row["sign"] == "◆"
    assert row["machine"] == "default"
    table.handle({"kind": "recall", "number": row["number"]})
    assert session.built.preset_name == "partial"
    assert table.view["runs"][0]["current"]


def test_without_an_unfused_run_there_is_no_speed_up(session):
    session.finish(session.built, outcome(200, session=session))
    assert RunsTable(session).view["runs"][0]["speedup"] == "—"


def test_rows_that_do_not_exist_are_not_recalled(session):
    session.finish(session.built, outcome(200, session=session))
    session.preset("full")
    table = RunsTable(session)
    for number in (-1, 1, "0", None, 0.0):
        table.handle({"kind": "recall", "number": number})
        assert session.built.preset_name == "full"


def test_runs_of_others_are_apart_and_a_click_takes_one_over(session):
    table = RunsTable(session)
    schedule = session.built.resolved
    session.preset("unfused")
    record = outcome(3_000, session=session)
    unchecked = replace(record, check=None)
    base = SharedRun("a" * 64, session.built.resolved, 3_000, 2_000.0, "", 0.0, record)
    runs = (
        base,
        SharedRun("b" * 64, schedule, 1_500, None, "", 86_400.0, unchecked),
        SharedRun("c" * 64, "fuse T1..T2", 999, None, "0.0.1+a", 0.0, None, "of version 9"),
    )
    session.take_in(Shared(session.built.problem, runs=runs, total=3))
    names = {base.schedule: "unfused"}
    session.judged = Judged(session.built.problem, names, {}, {"c" * 64: "no such index"})
    view = table.view
    assert (view["runs"], view["note"], view["trouble"]) == ([], "", "")
    third, second, first = view["kept"]  # of the fewest cycles first
    assert (first["name"], first["current"], first["speedup"], first["ok"]) == (
        "unfused", True, "1.00×", True,
    )  # fmt: skip
    assert (second["cycles"], second["speedup"], second["estimated"]) == ("1,500", "2.00×", "—")
    assert (second["ok"], second["check"]) == (None, "not compared with the dense reference")
    assert second["when"] == "1970-01-02 00:00 UTC"
    assert (third["speedup"], third["flops"], third["ok"]) == ("—", "—", None)
    assert (third["engine"], third["check"]) == ("0.0.1+a", "of version 9")
    assert third["refused"] == "this engine does not take its schedule: no such index"

    for request in ({}, {"key": 7}, {"key": None}, {"key": "d" * 64}, {"key": "x" * 300}):
        table.handle({"kind": "take", **request})
        assert session.built.preset_name == "unfused"
    table.handle({"kind": "take", "key": "b" * 64})
    assert session.built.resolved == schedule
    assert [row["current"] for row in table.view["kept"]] == [False, True, False]
    session.undo()
    assert session.built.preset_name == "unfused"


def test_a_part_of_many_is_said_and_trouble_too(session):
    runs = tuple(
        SharedRun(f"{k:064x}", f"fuse T1..H # {k}", 100 + k, 1.0, "", 0.0) for k in range(80)
    )
    trouble = "Kept runs are not read: the disk has failed"
    session.take_in(Shared(session.built.problem, runs=runs, total=20_000, trouble=trouble))
    view = RunsTable(session).view
    assert view["note"].startswith("showing 80 of 20,000 kept runs: the last 60 and the 20 of")
    assert view["trouble"] == trouble
