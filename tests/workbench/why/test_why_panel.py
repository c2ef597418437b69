"""The tab Why, without a browser."""

from __future__ import annotations

from fuseloom_workbench.why.why_panel import WhyPanel

from .answered import fused
from .test_why_bar import bar_of


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
