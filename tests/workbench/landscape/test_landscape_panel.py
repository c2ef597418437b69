"""Requests of the map's panel."""

from __future__ import annotations

import pytest

from fuseloom_workbench.landscape.landscape_panel import LandscapePanel
from fuseloom_workbench.state.session import Session


def test_it_asks_for_a_map_and_takes_places_of_it():
    panel = LandscapePanel(Session("gcn", "karate"))
    panel.handle({"kind": "map", "on": True})
    assert panel.session.mapped is panel.session.built
    panel.handle({"kind": "take", "gaps": [2, 4]})
    assert panel.session.cuts == (2,)
    panel.handle({"kind": "map", "on": False})
    assert panel.session.mapped is None


@pytest.mark.parametrize(
    "request_", [{"kind": "take", "gaps": [1]}, {"kind": "take", "gaps": "ab"}, {"kind": "map"}]
)
def test_what_is_no_request_does_nothing(request_):
    panel = LandscapePanel(Session("gcn", "karate"))
    before = panel.session.answers
    panel.handle(request_)
    assert panel.session.answers == before
