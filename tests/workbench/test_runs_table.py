"""Runs as rows: which series they belong to, and going back to one."""

from __future__ import annotations

from workbench.runs_table import RunsTable

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
