"""Orders of a region: ranked, counted, chosen; cycles and their repairs."""

from __future__ import annotations

from fuseloom.dataflow.compiler import compile_region
from fuseloom_workbench.orders.orders_panel import OrdersPanel


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


def test_broken_cycles_are_told_with_the_other_ways(session):
    text = "B: 4x4 csr\nC: 4x4 dense\nA[i,j] = B[i,k] * C[k,j]\nE[i,j] = B[i,k] * A[k,j]\noutput E"
    assert session.set_program(text), session.message
    assert session.set_schedule("fuse A..E; order A: i,j,k; order E: i,j,k"), session.message
    (repair,) = OrdersPanel(session).view["repairs"]
    assert repair.startswith("the cycle of j, k is broken: produce A in another order")
    assert "other ways: materialise A" in repair
