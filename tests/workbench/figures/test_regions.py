"""Regions of figures, opened as the explorer opens them."""

from __future__ import annotations

import pytest

from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Panel, RecipeResults
from fuseloom.experiments.registry import RECIPES
from fuseloom_workbench.figures.regions import session_at, shown_region

ASKED = ExperimentSize.SMOKE, AccountingMode.PAPER
SHOWN = [
    panel
    for number in ("5", "9")
    for panel in RECIPES[number].panels(RecipeResults({}), *ASKED)
    if panel.region is not None
]
"""The tables and graphs of regions that figures show."""


@pytest.mark.parametrize("panel", SHOWN, ids=lambda p: p.title)
def test_the_session_has_the_very_region(panel: Panel) -> None:
    assert panel.region is not None
    session = session_at(panel.region)
    assert session.ok, session.message
    assert session.current.name == panel.region.name
    shown = session.current.table if panel.kind == "table" else session.current.graph
    assert str(shown) == panel.text


def test_a_region_has_a_link() -> None:
    table = next(panel for panel in SHOWN if panel.kind == "table")
    assert table.region is not None
    head, drawn = shown_region(table.title, table.kind, table.region)
    assert "explorer?model=graphsage&data=random" in head.object
    assert drawn.view["name"] == "N1..N2"
