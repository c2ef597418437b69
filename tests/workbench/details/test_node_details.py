"""The details of a selected node."""

from __future__ import annotations

from html import escape

from fuseloom.dataflow import rtl
from fuseloom.dataflow.why.spots import spots
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.details.node_details import NodeDetails
from fuseloom_workbench.details.view import view
from fuseloom_workbench.graph.graph_view import GraphView
from fuseloom_workbench.state.areas import node_area
from fuseloom_workbench.state.estimate_figures import recomputation_of
from fuseloom_workbench.state.records import ports_of
from fuseloom_workbench.state.session import Session

from ..outcomes import outcome


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
    heat = GraphView(explained).heat["heat"]
    region = explained.record.run.regions[0]
    node = next(n for n in region.rows if ports_of(region, n))
    waits = sum(p["stall_memory"] for p in ports_of(region, node))
    expected = min(region.cycles, region.rows[node]["stall_memory"] + waits)
    assert heat["stall_memory"][f"n{node}"] == expected
    explained.select_node(node)
    text = NodeDetails(explained).html()
    for name in ("waits for memory", "its memory ports wait", "idle after its end"):
        assert name in text
    assert f"{waits:,} cycles" in text
    took = 1e12 * sum(p["energy"] for p in (region.rows[node], *ports_of(region, node)))
    guess = sum(a.count * a.picojoules for a in explained.estimate.regions[0].actions.nodes[node])
    assert count(took, "pJ") in text
    assert count(guess, "pJ") in text
    explained.select_node(-1)


def test_the_hardware_of_a_node_is_told(session, monkeypatch):
    details = NodeDetails(session)
    session.set_machine("size-M")
    graph = session.current.graph
    node = next(n for n in graph.nodes if n.params.get("fn") == "mul")
    session.select_node(node.id)
    found = node_area(graph, node, session.machine)
    channels = sum(area.luts for area in found.channels.values())
    assert found.node.dsps
    for value, unit in (
        (found.node.luts, "LUTs"), (channels, "LUTs"), (found.node.flip_flops, "FFs"),
        (found.node.dsps, "DSPs"),
    ):  # fmt: skip
        assert f"<td data-help='area'>{count(value, unit)}</td>" in details.html()
    session.set_machine("comal")
    session.select_node(0)
    assert "No area in hardware" in details.html()
    assert "copies deviations" in details.html()
    session.set_machine("default")
    monkeypatch.setattr(rtl, "find_spec", lambda name: None)
    session.select_node(0)
    assert "(pip install &#x27;fuseloom[rtl]&#x27;)" in details.html()
    session.select_node(-1)
    assert "in hardware" not in details.html(), "asked for only where a node is looked at"


def test_the_statement_of_a_cell_and_of_a_node_is_shown(session):
    details = NodeDetails(session)
    session.select_cell("T2", "n")
    assert "<code>T2[i,n] = T1[i,p] * W1[p,n]</code>" in details.html()
    assert "·W1" in details.html()
    node = next(n.id for n in session.current.graph.nodes if n.label == "Acc1_p")
    session.select_node(node)
    assert "T2[i,n] = T1[i,p] * W1[p,n]" in details.html()


def test_without_a_selection_the_region_is_told(session):
    """Its cost, and the cycles of each statement's busiest node."""
    session.preset("partial")
    details = NodeDetails(session)
    text = details.html()
    expected = session.estimate.regions[0]
    assert "Region 1: T1..H" in text
    assert f"{round(expected.cycles):,} cycles" in text
    assert "<code>T2[i,n] = T1[i,p] * W1[p,n]</code><span class='quiet'> ·W1</span>" in text
    assert "<span data-help='node.busy'>10,676 cycles</span>" in text
    assert max(node.cycles for node in expected.nodes) == 10_676
    session.select_region(1)
    assert "Region 2: T5..Y" in details.html()
    session.finish(session.built, outcome(session=session))
    run = session.record.run.regions[1]
    for value, unit in ((run.cycles, "cycles"), (run.bytes, "bytes"), (run.flops, "FLOPs")):
        assert f">{value:,.0f} {unit}</td></tr>" in details.html()


def test_a_kernel_has_a_card(session):
    session.preset("full")
    session.select_kernel(1)
    html = view(session)["html"]
    assert "Kernel ·W1" in html
    assert "T2[i,n]" in html
    nodes = [n for n, spot in enumerate(spots(session.current)) if spot.statement == "T2"]
    (expected,) = session.estimate.regions
    assert f"{max(round(expected.nodes[n].cycles) for n in nodes):,} cycles" in html
    assert f"{len(nodes)} nodes" in html
    (again,) = (r for r in recomputation_of(session.built) if r.tensor == "T2")
    assert f"{again.factor:.3g}×" in html
    assert "data-show='nodes'" in html


def test_every_kernel_of_every_preset_has_one(session):
    for preset in session.presets:
        session.preset(preset)
        for number, unit in enumerate(session.built.units):
            session.select_kernel(number)
            assert f"Kernel {escape(unit.name)}" in view(session)["html"]


def test_a_kernel_that_memory_does_says_so():
    session = Session("gpt3")
    number = next(k for k, unit in enumerate(session.built.units) if unit.memory)
    session.select_kernel(number)
    assert "memory does it" in view(session)["html"]
