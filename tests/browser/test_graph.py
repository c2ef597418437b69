"""The graph in a browser: folding, finding, comparing, walking, giving up."""

from __future__ import annotations

import re

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.graph.graph_view import GraphView
from fuseloom_workbench.state.session import Session
from tests.workbench.outcomes import outcome

from .conftest import PATIENCE, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def graph(page) -> Session:
    """The graph of GCN's first layer, alone on a page."""
    session = Session("gcn", "karate")
    serve(page, lambda: GraphView(session, min_height=420))
    expect(page.locator("g.node")).to_have_count(38, timeout=2 * PATIENCE)
    return session


def choose(page, label: str, value: str) -> None:
    page.get_by_label(label, exact=True).select_option(value)


def select_scanner(page) -> None:
    """Click on the scanner of the first level, wherever the drawing has been opened."""
    page.get_by_role("button", name="Fit the whole graph").click()
    page.locator("g.node#n2").click()


def test_kernels_fold_to_boxes_and_open_again(page, graph):
    choose(page, "Folding", "kernel")
    boxes = page.locator("g.node.folded")
    expect(boxes).to_have_count(4)
    expect(page.locator("g.node")).to_have_count(4)
    members = GraphView(graph).view["boxes"]["k:T2"]["members"]
    estimate = graph.estimate.regions[0].nodes
    most = max(estimate[int(key.removeprefix("n"))].cycles for key in members)
    expect(boxes.filter(has_text="·W1")).to_contain_text(
        f"{len(members)} nodes · est. {round(most):,} cy"
    )
    expect(page.locator("text.count").first).to_have_text(re.compile("^[2-9]$"))
    boxes.filter(has_text="relu").click()
    expect(page.locator("g.frame")).to_contain_text("relu")
    expect(page.locator("g.node.folded")).to_have_count(3)
    page.locator("g.frame .title").click()
    expect(page.locator("g.frame")).to_have_count(0)
    box = page.locator(".box")
    box.focus()
    page.keyboard.press("n")
    expect(page.locator("g.node.at")).to_have_class(re.compile("folded"))
    page.keyboard.press("Enter")
    expect(boxes).to_have_count(3)
    choose(page, "Folding", "open")
    expect(page.locator("g.node")).to_have_count(38)
    select_scanner(page)
    wait_until(lambda: graph.node == 2, page, timeout=PATIENCE)
    page.keyboard.press("f")
    expect(page.locator("g.node.folded.selected")).to_have_count(1)
    assert graph.node == 2, "what is selected stays so in its box"


def test_nodes_are_found_also_in_boxes(page, graph):
    choose(page, "Folding", "kernel")
    expect(page.locator("g.node")).to_have_count(4)
    find = page.get_by_label("Find a node")
    page.locator(".box").focus()
    page.keyboard.press("/")
    expect(find).to_be_focused()
    find.fill("Acc1_p")
    expect(page.locator(".found")).to_have_text("1 node")
    expect(page.locator("g.folded.hit")).to_have_count(1)
    find.press("Enter")
    expect(page.locator("g.node.hit.selected")).to_contain_text("Acc1_p")
    label = graph.current.graph.nodes[graph.node].label
    assert label == "Acc1_p"
    choose(page, "Folding", "open")
    expect(page.locator("g.node")).to_have_count(38)
    find.fill("W1")
    expect(page.locator(".found")).to_have_text(re.compile("nodes of tensor W1"))
    find.press("Enter")
    expect(page.locator(".found")).to_have_text(re.compile("1 of .* of tensor W1"))
    find.press("Enter")
    expect(page.locator(".found")).to_have_text(re.compile("2 of .* of tensor W1"))
    find.fill("melt")
    expect(page.locator(".found")).to_have_text("no such node")


def test_what_is_new_and_missing_is_marked_and_counted(page, graph):
    graph.finish(graph.built, outcome(session=graph))
    graph.pin(0)
    graph.set_schedule("fuse T1..H; fuse T5..Y; locate off")
    choose(page, "Compare with", "A")
    told = page.locator(".remark")
    expect(told).to_contain_text("Against run A (partial): ")
    new, missing = page.locator("g.node.new"), page.locator("g.node.missing")
    counts = re.search(r"([\d,]+) are new .*; ([\d,]+) of", told.inner_text())
    expect(new).to_have_count(int(counts[1]))
    expect(missing).to_have_count(int(counts[2]))
    expect(missing.locator("text.sign").first).to_have_text("−")
    expect(page.locator(".legend")).to_contain_text("+ new")
    before = graph.node
    page.get_by_role("button", name="Fit the whole graph").click()
    missing.first.click()
    expect(page.locator("g.node.at.missing")).to_have_count(1)
    assert graph.node == before
    choose(page, "Compare with", "")
    expect(told).to_be_empty()
    expect(missing).to_have_count(0)


def test_keys_walk_along_edges_and_zoom(page, graph):
    select_scanner(page)
    wait_until(lambda: graph.node == 2, page, timeout=PATIENCE)
    page.get_by_role("button", name="Readable size").click()
    page.locator(".box").focus()
    readers = {graph.current.graph.consumer[s] for s in graph.current.graph.nodes[2].outputs if s}
    page.keyboard.press("ArrowRight")
    wait_until(lambda: graph.node in readers, page, timeout=PATIENCE)
    page.keyboard.press("ArrowLeft")
    wait_until(lambda: graph.node == 2, page, timeout=PATIENCE)
    expect(page.locator(".said")).to_contain_text(graph.current.graph.nodes[2].label)
    expect(page.locator(".box")).to_have_attribute("aria-activedescendant", "n2")
    port = page.locator("svg.picture > g")
    readable = port.get_attribute("transform")
    expect(page.locator(".map")).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator(".map")).to_be_hidden()
    expect(port).not_to_have_attribute("transform", readable)
    fitted = port.get_attribute("transform")
    page.keyboard.press("+")
    expect(port).not_to_have_attribute("transform", fitted)
    page.keyboard.press("Escape")
    wait_until(lambda: graph.node == -1, page, timeout=PATIENCE)
    choose(page, "Colour by", "expected")
    expect(page.locator(".legend")).to_contain_text("cycles, est.; boxes: their busiest node")
    nameless = page.locator("button, select, input").evaluate_all(
        "all => all.filter(b => !(b.getAttribute('aria-label') || b.labels?.length)).length"
    )
    assert nameless == 0


def test_a_long_drawing_is_cancelled_and_the_one_before_stays(page, graph):
    graph.fold({f"k:{name}": False for name in ("T1", "T2", "T3", "H", "T5", "T6", "T7", "x")})
    graph.set_schedule("fuse T1..Y; parallel i by 8")
    cancel = page.get_by_role("button", name="Cancel the drawing")
    expect(page.locator(".banner")).to_contain_text("s of about")
    cancel.click()
    expect(page.locator(".banner")).to_contain_text("Cancelled: this is the drawing of before")
    expect(page.locator("g.node")).to_have_count(38)
    select_scanner(page)
    expect(page.locator(".box.stale")).to_have_count(1)
    assert graph.node == -1, "keys of the old drawing mean other nodes"
    page.get_by_role("button", name="Fold every kernel").click()
    expect(page.locator("g.node.folded")).to_have_count(8)
    expect(page.locator(".banner")).to_be_hidden()
