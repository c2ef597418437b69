"""The open menu as plain data."""

from __future__ import annotations

import pytest

from fuseloom_workbench.state import commands
from fuseloom_workbench.table import menu


def entries(session) -> dict:
    return {e["key"]: e for e in menu.view(session)["entries"]}


@pytest.mark.deep  # takes seconds
def test_entries_say_what_they_change(session):
    assert menu.view(session) == {"cell": [], "entries": []}
    commands.carry_out(session, "open_menu", ["X", "k"])
    shown = menu.view(session)
    assert shown["cell"] == ["X", "k"]
    found = entries(session)
    expected = round(session.estimate.cycles)
    assert found["locate"]["effect"] == "changes nothing"
    session.choose_at("X", "k", "scan")
    more = round(session.estimate.cycles) - expected
    assert found["scan"]["effect"] == f"est. +{more:,} cycles"
    assert session.menu == ("", "")  # a change closes it
    session.open_menu("X", "k")
    assert entries(session)["scan"]["chosen"]


def test_what_is_refused_says_why(session):
    session.open_menu("H", "val")
    assert "may lack coordinates" in entries(session)["store dense"]["refused"]
    session.open_menu("no", "such")
    assert menu.view(session)["entries"] == []


def test_without_time_entries_come_without_estimates(session, monkeypatch):
    monkeypatch.setattr(menu, "PATIENCE", -1.0)
    session.open_menu("A", "i")
    assert [e["effect"] for e in menu.view(session)["entries"]][1:] == ["not estimated"] * 3
