"""The causes of a run's cycles, and the cost of finding them."""

from __future__ import annotations

import pytest

from fuseloom.errors import FuseloomError
from fuseloom_workbench.why.path import start_text
from fuseloom_workbench.why.path_panel import PathPanel

from ..outcomes import outcome


def test_the_path_panel_lists_what_the_cycles_went_on(explained):
    panel = PathPanel(explained)
    view = panel.view["path"]
    path = explained.record.run.regions[0].path
    assert len(view["rows"]) == path["summaries"]
    assert sum(row["share"] for row in view["rows"]) == pytest.approx(1)
    first = path["what_if"][0]
    assert view["head"].startswith(
        f"Bottleneck: {first['label']} works for {first['own']:,} cycles"
    )
    assert panel.view["channels"][0]["capacity"] in ("512", "unbounded")
    panel.handle({"kind": "select", "node": view["rows"][0]["node"]})
    assert explained.node == view["rows"][0]["node"]
    explained.select_node(-1)


def test_a_path_known_in_part_says_so(explained):
    text = start_text({"start": 900, "cycles": 1000})
    assert "known from 900 cycles on, the last 10.00%" in text


def test_a_run_that_was_not_explained_can_be(session):
    panel = PathPanel(session)
    assert not panel.view["ready"]
    session.finish(session.built, outcome(session=session))
    assert panel.view["ready"]
    assert panel.view["path"] == {}


def test_what_takes_too_long_to_explain_is_not_started(session, monkeypatch):
    session.finish(session.built, outcome(session=session))
    panel = PathPanel(session)
    assert "a log of every wait, less than a second" in panel.view["takes"]
    assert not panel.view["too_long"]
    monkeypatch.setattr("fuseloom_workbench.state.machines.expected_seconds", lambda *_: 1e4)
    session.refuse(FuseloomError("look again"))
    assert "about 167 minutes, more than the limit of about 15 minutes" in panel.view["takes"]
    panel.handle({"kind": "explain"})
    assert not panel.backend.runner.running
    assert panel.backend.runner.status == ""
