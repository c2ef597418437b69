"""What is said of a selected node."""

from __future__ import annotations

import pytest

from workbench.graph_view import GraphView
from workbench.node_details import NodeDetails
from workbench.records import ports_of

from .outcomes import outcome


def test_details_compare_estimate_and_run(session):
    details = NodeDetails(session)
    session.set_order(0, ["i", "k", "p", "n"])
    assert "Select a cell" in details.html()
    session.select_cell("T1", "p")
    assert "Press Run to measure" in details.html()
    session.finish(session.built, outcome(session=session))
    assert "3 cycles" in details.html()
    assert "50%" in details.html()


def test_details_and_heat_tell_stalls_by_cause(explained):
    heat = GraphView(explained).heat
    region = explained.record.run.regions[0]
    node = next(n for n in region.rows if ports_of(region, n))
    waits = sum(p["stall_memory"] for p in ports_of(region, node))
    expected = min(1.0, (region.rows[node]["stall_memory"] + waits) / region.cycles)
    assert heat["stall_memory"][f"n{node}"] == pytest.approx(expected)
    explained.select_node(node)
    text = NodeDetails(explained).html()
    for name in ("waits for memory", "its memory ports wait", "idle after its end"):
        assert name in text
    assert f"{waits:,} cycles" in text
    explained.select_node(-1)
