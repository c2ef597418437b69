"""The panel of two designs, and the views of both below it."""

from __future__ import annotations

from fuseloom_workbench.compare.compare_panel import comparison
from fuseloom_workbench.state.session import Session


def test_views_of_both_are_made_when_they_are_chosen_and_go_with_the_left_design():
    session = Session("gcn", "karate")
    column = comparison(session)
    panel, below = column
    panel.handle({"kind": "show", "view": "Tables"})
    assert len(below) == 0
    panel.handle({"kind": "compare", "with": "preset full"})
    panel.handle({"kind": "show", "view": "Graphs"})
    assert [row.visible for row in below] == [False, True]
    left, right = below[0]
    assert left.view["name"] != right.view["name"]
    panel.handle({"kind": "compare", "with": ""})
    assert len(below) == 0
