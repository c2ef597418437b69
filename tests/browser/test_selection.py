"""One selection in all views: kernels, cells, nodes, rows of the timeline."""

from __future__ import annotations

import re

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.state.areas import node_area

from .conftest import PATIENCE

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser

LIT = re.compile(r"\blit\b")


def test_a_kernel_opens_its_card_and_leads_to_its_nodes(bench, session):
    page = bench.page
    page.locator("[data-kernel='1']").click()
    wait_until(lambda: session.kernel == 1, page, timeout=PATIENCE)
    details = page.locator("[data-pane=details]")
    expect(details).to_contain_text("Kernel ·W1")
    expect(page.locator("[data-kernel='1']")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("tab", name="Costs").click()
    details.get_by_role("button", name="Show its nodes").click()
    hits = page.locator("g.node.hit:visible")
    hits.first.wait_for()
    assert set(hits.evaluate_all("all => all.map(g => g.dataset.statement)")) == {"T2"}
    expect(page.locator("th.mine").first).to_be_in_viewport()
    page.locator("[data-kernel='1']").press("Enter")
    expect(details).to_contain_text("Region 1")
    expect(page.locator("g.node.hit")).to_have_count(0)


def test_a_kernel_of_another_region_shows_that(bench, session):
    page = bench.page
    page.locator("[data-kernel='6']").focus()
    page.keyboard.press("Enter")
    wait_until(lambda: session.region == 1, page, timeout=PATIENCE)
    expect(page.locator("[data-kernel='6']")).to_be_focused()
    expect(page.locator("th.mine").first).to_be_in_viewport()


def test_a_node_and_a_cell_mark_their_kernel(bench, session):
    page = bench.page
    session.select_cell("W1", "p")
    expect(page.locator("[data-kernel='1']")).to_have_attribute("aria-pressed", "true")
    session.select_cell("A", "i")
    luts = node_area(session.current.graph, session.current.graph.nodes[session.node],
                     session.machine).node.luts  # fmt: skip
    area = page.locator("[data-pane=details] td[data-help=area]").first
    expect(area).to_have_text(f"{luts:,.0f} LUTs")
    expect(page.locator("[data-kernel='0']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-kernel='1']")).to_have_attribute("aria-pressed", "false")


def test_what_the_pointer_is_on_is_lit_everywhere(bench):
    page = bench.page
    kernel = page.locator("[data-kernel='2']")
    node = page.locator("g.node[data-statement=T3]").first
    head = page.locator("[data-pane=table] thead tr:last-child th[data-statement=T3]").first
    row = page.locator("[data-pane=details] li[data-statement=T3]")
    kernel.hover()
    for part in (kernel, node, head, row):
        expect(part).to_have_class(LIT)
    page.locator("[data-kernel='3']").hover()
    expect(node).not_to_have_class(LIT)
    row.hover()
    expect(kernel).to_have_class(LIT)
    page.mouse.move(2, 2)
    expect(page.locator(".lit")).to_have_count(0)


def test_the_table_opens_where_most_cycles_are(bench, session):
    page = bench.page
    page.locator("[data-preset=full]").click()
    page.get_by_role("grid", name="Fusion table of region T1..Y").wait_for()
    heads = page.locator("[data-pane=table] .kernels th[data-statement=T2]")
    expect(heads.first).to_be_in_viewport(ratio=0.9)


def test_the_text_of_the_program_is_lit_and_leads_to_its_kernels(bench, session):
    page = bench.page
    page.get_by_role("tab", name="Input").click()
    text = page.get_by_label("program text")
    text.wait_for()
    line = page.locator(".numbers [data-statement=T3]")
    page.locator("[data-kernel='2']").hover()
    expect(line).to_have_class(LIT)
    page.mouse.move(2, 2)
    expect(line).not_to_have_class(LIT)
    at, paper = line.bounding_box(), text.bounding_box()
    page.mouse.move(paper["x"] + 60, at["y"] + at["height"] / 2)
    expect(page.locator("[data-kernel='2']")).to_have_class(LIT)
    expect(line).to_have_class(LIT)
    page.mouse.move(2, 2)
    expect(page.locator(".lit")).to_have_count(0)
    line.click()
    expect(page.locator("[data-kernel='2']")).to_have_attribute("aria-pressed", "true")


def test_the_streams_are_lit(bench):
    page = bench.page
    page.get_by_role("tab", name="Streams").click()
    node = page.locator(".drawing g.node[data-statement=T3]:visible").first
    node.wait_for()
    page.locator("[data-kernel='2']").hover()
    expect(node).to_have_class(LIT)
    page.mouse.move(2, 2)
    expect(node).not_to_have_class(LIT)


def test_the_graph_opens_where_most_cycles_are(bench, session):
    page = bench.page
    page.locator("[data-preset=full]").click()
    page.get_by_role("grid", name="Fusion table of region T1..Y").wait_for()
    busiest = session.estimate.regions[0].bottleneck.node
    expect(page.locator(f"g.node#n{busiest}:visible")).to_be_in_viewport(ratio=0.9)
