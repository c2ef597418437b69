"""Panels that say why a run took its cycles."""

from __future__ import annotations

import pytest

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.why import finding
from fuseloom_workbench.why.panels import PathPanel, WhyBar, WhyPanel
from fuseloom_workbench.why.path import start_text

from ..outcomes import outcome
from .answered import found, fused


def bar_of(session):
    backend = LocalBackend(session)
    backend._later.keep("why", finding.key(session), found())
    return WhyBar(backend)


@pytest.mark.deep  # takes seconds
def test_it_shows_the_answer_and_applies_a_change():
    session = fused()
    bar = bar_of(session)
    assert bar.view["answer"]["head"].startswith("A·X to relu are computed once per non-zero of A")
    assert bar.view["buttons"][0]["text"] == "Cut before A·H"
    bar.handle({"kind": "apply", "text": "Cut before A·H"})
    assert [r.name for r in session.regions] == ["T1..H", "T5..Y"]
    assert bar.view["promise"]["text"].startswith("est. ")
    assert session.undo()
    assert [r.name for r in session.regions] == ["T1..Y"]


@pytest.mark.deep  # takes seconds
def test_nonsense_is_not_carried_out():
    session = fused()
    bar = bar_of(session)
    before = session.design
    for request in ({"kind": "apply"}, {"kind": "apply", "text": 3}, {"kind": "melt"}):
        bar.receive(request)
    assert session.design == before


def test_a_piece_of_the_flame_selects_its_node():
    session = fused()
    panel = WhyPanel(bar_of(session).backend)
    flame = panel.view["flame"]
    node = flame["parts"][0]["parts"][0]["parts"][0]["parts"][0]
    panel.handle({"kind": "select", "region": node["region"], "node": node["node"]})
    assert session.node == node["node"]
    assert session.current.graph.nodes[session.node].label == "Acc1_p"


def test_changes_are_applied_from_the_table():
    session = fused()
    panel = WhyPanel(bar_of(session).backend)
    texts = [s["text"] for s in panel.view["suggestions"]]
    assert {"Cut before A·H", "Acc1_p twice as fast"} <= set(texts)
    panel.handle({"kind": "apply", "text": "Cut before A·H"})
    assert len(session.regions) == 2
    panel.handle({"kind": "select", "region": 1})
    assert session.region == 1


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
