"""The label of data that are not the real ones."""

from __future__ import annotations

from fuseloom.models.datasets import VARIABLE
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.input.data_label import DataLabel
from fuseloom_workbench.running.run_panel import RunPanel

from ..outcomes import outcome


def test_a_stand_in_is_labelled_everywhere(session, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    label, table, run = DataLabel(session), CostsPanel(session), RunPanel(session)
    assert label.html() == ""
    assert session.choose("gcn", "cora"), session.message
    warning = "stand-in: NOT the real graph, Cora (stand-in, seed 0)"
    assert warning in label.html()
    assert label._pane.visible
    record = session.finish(session.built, outcome(session=session))
    assert record.standin
    assert table.view["runs"][-1]["standin"] == warning
    assert run.view["result"]["standin"] == warning
