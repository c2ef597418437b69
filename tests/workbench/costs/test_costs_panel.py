"""The component: what it asks for, what it sends, and what it ignores."""

from __future__ import annotations

import json

import pytest

from fuseloom_workbench.costs import export
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.state.shared import SharedRun, StoredRuns

from ..outcomes import outcome


@pytest.mark.deep  # takes seconds
def test_a_click_goes_to_a_run_of_ones_own_or_of_others(session):
    panel = CostsPanel(session)
    session.finish(session.built, outcome(200, session=session))
    session.preset("full")
    drawn = panel.drawn
    for number in (-1, 1, "0", None, 0.0):
        panel.handle({"kind": "recall", "number": number})
        assert session.built.preset_name == "full"
    panel.handle({"kind": "recall", "number": 0})
    assert session.built.preset_name == "partial"
    assert panel.drawn == drawn  # runs are not sent again
    assert json.loads(panel.look)["current"] == "run:0"
    schedule = session.built.resolved
    session.choose("gcn", seed=1)
    session.preset("unfused")
    session.take_in(
        StoredRuns(
            session.built.problem, runs=(SharedRun("b" * 64, schedule, 1_500, 9.0, "", 0.0),)
        )
    )
    for request in ({}, {"key": 7}, {"key": None}, {"key": "d" * 64}, {"key": "x" * 300}):
        panel.handle({"kind": "take", **request})
        assert session.built.preset_name == "unfused"
    panel.handle({"kind": "take", "key": "b" * 64})
    assert session.built.resolved == schedule
    session.undo()
    assert session.built.preset_name == "unfused"


def test_a_page_of_the_runs_that_are_shown_is_sent(session, monkeypatch):
    panel, sent = CostsPanel(session), []
    monkeypatch.setattr(panel, "_send_msg", sent.append)
    session.finish(session.built, outcome(200, session=session))
    session.preset("full")
    session.finish(session.built, outcome(300, session=session))
    panel.handle({"kind": "export", "runs": ["run:1", 7, None, "run:99"]})
    (message,) = sent
    assert "full" in message["text"]
    assert '"name": "partial"' not in message["text"]
    panel.handle({"kind": "export", "runs": []})
    assert "no runs to compare" in sent[-1]["refused"]
    monkeypatch.setattr(export, "LARGEST", 1_000)
    panel.handle({"kind": "export", "runs": ["run:1"]})
    assert "choose fewer runs" in sent[-1]["refused"]
