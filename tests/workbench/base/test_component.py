"""The common properties of components: plain data, refusals in place, safety from nonsense."""

from __future__ import annotations

import json

import pytest

from fuseloom_workbench.chain.fusion_chain import FusionChain
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.graph.graph_view import GraphView
from fuseloom_workbench.input.text_editor import TextEditor
from fuseloom_workbench.orders.orders_panel import OrdersPanel
from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.table.table_grid import FusionTableGrid


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    "component",
    [FusionChain, FusionTableGrid, OrdersPanel, GraphView, RunPanel, CostsPanel, TextEditor],
)
def test_views_are_plain_data(session, component):
    json.dumps(component(session).view)


@pytest.mark.parametrize(
    "component", [FusionChain, FusionTableGrid, OrdersPanel, GraphView, RunPanel, CostsPanel]
)
@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        {},
        {"kind": 3},
        {"kind": "unknown"},
        {"kind": "move"},
        {"kind": "move", "gap": "4", "to": None},
        {"kind": "move", "row": 3, "to": "x"},
        {"kind": "select", "node": "n99999"},
        {"kind": "select", "node": "e1"},
        {"kind": "select", "row": "i", "column": "nowhere"},
        {"kind": "show", "region": 99},
        {"kind": "choose", "order": 7},
        {"kind": "recall", "number": 12},
    ],
)
def test_nonsense_from_a_browser_changes_nothing(session, component, request_):
    design = session.design
    component(session).receive(request_)
    assert session.design == design
    assert session.node == -1
    assert session.region == 0


def test_refusals_show_where_the_request_came_from(session):
    chain, grid = FusionChain(session), FusionTableGrid(session)
    grid.handle({"kind": "move", "row": "n", "to": 0})
    assert not grid.status["ok"]
    assert "because W1 is stored" in grid.status["message"]
    assert chain.status["ok"]
    chain.handle({"kind": "move", "gap": 4, "to": 0})
    assert not chain.status["ok"]
    assert grid.status["ok"]


def test_a_script_is_not_translated_in_the_browser(session):
    """Panel translates what has no name of a bundle; of two scripts, the names differ."""
    chain, costs = (made(session).get_root() for made in (FusionChain, CostsPanel))
    again = FusionChain(session).get_root()
    assert chain.bundle.startswith("FusionChain-")
    assert chain.bundle == again.bundle
    assert costs.bundle not in (None, chain.bundle)
    assert "export function render" in chain.esm or "export default" in chain.esm
