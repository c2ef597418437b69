"""Components without a browser: what they draw, and what they do with requests."""

from __future__ import annotations

import json

import pytest

from engine.dataflow.compiler import compile_region
from engine.dataflow.samml.dot import to_dot
from engine.dataflow.table.cells import CellKind
from workbench.cost_plot import CostPlot
from workbench.drawing import edge_list
from workbench.fusion_chain import FusionChain
from workbench.graph_view import GraphView
from workbench.node_details import NodeDetails
from workbench.orders_panel import OrdersPanel
from workbench.run_panel import RunPanel
from workbench.runs_table import RunsTable
from workbench.session import Session
from workbench.table_grid import FILLS, FusionTableGrid
from workbench.text_editor import TextEditor

from .test_session import outcome


@pytest.fixture
def session():
    return Session("gcn", "karate")


@pytest.mark.parametrize(
    "component",
    [FusionChain, FusionTableGrid, OrdersPanel, GraphView, RunPanel, RunsTable, TextEditor],
)
def test_views_are_plain_data(session, component):
    json.dumps(component(session).view)


@pytest.mark.parametrize(
    "component", [FusionChain, FusionTableGrid, OrdersPanel, GraphView, RunPanel, RunsTable]
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
    component(session)._handle_msg(request_)
    assert session.design == design
    assert session.node == -1
    assert session.region == 0


def test_the_chain_shows_regions_with_estimates(session):
    view = FusionChain(session).view
    assert [u["region"] for u in view["units"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert all("cycles" in r["estimate"] for r in view["regions"])
    assert view["regions"][0]["fill"] != view["regions"][1]["fill"]
    assert sum(r["share"] for r in view["regions"]) == pytest.approx(1)


def test_refusals_show_where_the_request_came_from(session):
    chain, grid = FusionChain(session), FusionTableGrid(session)
    grid.handle({"kind": "move", "row": "n", "to": 0})
    assert not grid.status["ok"]
    assert "because W1 is stored" in grid.status["message"]
    assert chain.status["ok"]
    chain.handle({"kind": "move", "gap": 4, "to": 0})
    assert not chain.status["ok"]
    assert grid.status["ok"]


def test_the_steps_end_in_the_finished_table(session):
    grid = FusionTableGrid(session)
    cells = {}
    for step in grid.view["steps"]:
        for column, row, kind, text, target in step["changes"]:
            cells[column, row] = (kind, text, target)
    table = session.current.table
    assert cells == {k: (c.kind.name, c.text, c.target) for k, c in table.cells.items()}
    assert set(FILLS) == set(CellKind)


def test_orders_are_ranked_and_counted(session):
    panel = OrdersPanel(session)
    view = panel.view
    assert view["total"] == f"{session.current.pog.count():,}"
    assert view["ready"]
    figures = [e["cycles"] for e in view["entries"] if not e["reason"]]
    assert figures[0]
    assert [bool(e["reason"]) for e in view["entries"]] == sorted(
        bool(e["reason"]) for e in view["entries"]
    )
    assert [e["chosen"] for e in view["entries"]].count(True) == 1
    other = next(e for e in view["entries"] if not e["chosen"] and not e["reason"])
    panel.handle({"kind": "choose", "order": other["order"]})
    assert session.built.region_order(0) == tuple(other["order"])
    assert next(e for e in panel.view["entries"] if e["chosen"])["order"] == other["order"]


def test_each_entry_stands_for_the_orders_of_one_graph(session):
    session.preset("full")
    view = OrdersPanel(session).view
    orders = [tuple(e["order"]) for e in view["entries"]]
    assert len(set(orders)) == len(orders)
    graphs = [compile_region(session.current.region, order).graph for order in orders]
    assert len({str(graph) for graph in graphs}) == len(graphs)
    assert not any(e["reason"] for e in view["entries"])
    fused = [e["alike"] for e in view["entries"]]
    assert any("more with the same graph" in text for text in fused) or view["all"]


def test_the_graph_view_draws_every_node(session):
    view = GraphView(session)
    graph = session.current.graph
    for node in graph.nodes:
        assert f'id="n{node.id}"' in view.view["svg"]
    assert len(view.view["edges"]) == len(graph.streams)
    assert set(view.heat["expected"]) == {f"n{n.id}" for n in graph.nodes}
    assert view.heat["busy"] == {}
    session.finish(session.built, outcome(session=session))
    assert view.heat["busy"]["n0"] == pytest.approx(0.03)  # 3 of 100 cycles
    session.select_node(3)
    assert view.selected == "n3"


def test_names_from_a_program_stay_text_in_dot(session):
    dot = to_dot(session.current.graph, clusters=True, rankdir="TB").source
    assert dot.count("subgraph") == len(
        {n.origin.split(".")[0] for n in session.current.graph.nodes if "." in n.origin}
    )
    assert len(edge_list(session.current.graph)) == dot.count(" -> ")


def test_details_compare_estimate_and_run(session):
    details = NodeDetails(session)
    assert "Select a cell" in details.html()
    session.select_cell("T1", "p")
    assert "Press Run to measure" in details.html()
    session.finish(session.built, outcome(session=session))
    assert "3 cycles" in details.html()
    assert "50%" in details.html()


def test_the_run_panel_marks_stale_results(session):
    panel = RunPanel(session)
    assert panel.view["result"] == {}
    session.finish(session.built, outcome(12_345, session=session))
    result = panel.view["result"]
    assert result["cycles"] == "12,345 cycles"
    assert result["badge"] == "matches the dense reference (max. rel. error 3e-7)"
    assert not result["stale"]
    session.add_boundary(1)
    assert panel.view["result"]["stale"]
    session.finish(session.built, outcome(7, ok=False, session=session))
    assert panel.view["result"]["badge"].startswith("MISMATCH: stored coordinates")


def test_the_plot_and_the_table_hold_every_run(session):
    plot, table = CostPlot(session), RunsTable(session)
    session.finish(session.built, outcome(200, session=session))
    session.preset("unfused")
    session.finish(session.built, outcome(300, session=session))
    session.add_boundary(3)
    session.remove_boundary(2)
    session.finish(session.built, outcome(250, session=session))
    names = {n: list(s.data["name"]) for n, s in plot.sources.items()}
    assert names == {
        "unfused": ["unfused"],
        "partial": ["partial"],
        "full": [],
        "other preset": [],
        "yours": ["yours 1"],
    }
    assert [r["speedup"] for r in table.view["runs"]] == ["1.50×", "1.00×", "1.20×"]
    table.handle({"kind": "recall", "number": 0})
    assert session.built.preset_name == "partial"


def test_editors_apply_and_answer_in_place(session):
    program, schedule = TextEditor(session), TextEditor(session, what="schedule")
    schedule.handle({"kind": "apply", "text": "fuse T1..Y"})
    assert schedule.answer["ok"]
    assert session.built.preset_name == "full"
    text = program.view["text"].replace("T2[i,n] = T1", "T2[i,n] = T9")
    program.handle({"kind": "apply", "text": text})
    assert not program.answer["ok"]
    assert text.splitlines()[program.answer["line"] - 1].startswith("T2")


def test_broken_cycles_are_told_with_the_other_ways(session):
    text = "B: 4x4 csr\nC: 4x4 dense\nA[i,j] = B[i,k] * C[k,j]\nE[i,j] = B[i,k] * A[k,j]\noutput E"
    assert session.set_program(text), session.message
    assert session.set_schedule("fuse A..E; order A: i,j,k; order E: i,j,k"), session.message
    (repair,) = OrdersPanel(session).view["repairs"]
    assert repair.startswith("the cycle of j, k is broken: produce A in another order")
    assert "other ways: materialise A" in repair
