"""One walk through each page of the workbench: what every change must leave working."""

from __future__ import annotations

import pytest

from fuseloom_workbench.figures.page import figures_page
from fuseloom_workbench.networks.backend import NetworkBackend
from fuseloom_workbench.networks.page import networks_page
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, serve, show

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.walk


def test_explorer(page):
    """Move a fusion boundary, look at the table and the estimate, simulate, look at the costs."""
    session = show(page, Session("gcn", "karate"))
    expect(page.locator("table[role=grid]")).to_be_visible()
    page.locator("button.bar[data-gap='4']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    expect(page.locator(".caption").first).to_contain_text("T1..T3")
    page.locator("[data-action=run]").click()
    badge = page.locator(".badge.good").first
    expect(badge).to_contain_text("matches the dense reference", timeout=2 * PATIENCE)
    expect(page.locator(".cycles")).to_have_text(f"{session.record.run.cycles:,} cycles")
    page.get_by_role("tab", name="Costs").click()
    expect(page.get_by_role("tab", name="Costs")).to_have_attribute("aria-selected", "true")


def test_figures(page, tmp_path):
    """Simulate the smallest size of a figure; its claim holds."""
    serve(page, lambda: figures_page(tmp_path / "runs.sqlite"))
    expect(page.get_by_text("not run yet")).to_be_visible(timeout=2 * PATIENCE)
    page.get_by_role("button", name="Simulate what is missing").click()
    expect(page.locator("tr.good").first).to_contain_text("holds", timeout=2 * PATIENCE)
    expect(page.get_by_text("all of it is there")).to_be_visible()


def test_networks(page):
    """Solve a network, choose another nest, and drag one tensor onto another."""
    backend = NetworkBackend(None)
    try:
        serve(page, lambda: networks_page(backend))
        page.get_by_role("grid", name="Loop nests").wait_for(timeout=2 * PATIENCE)
        expect(page.get_by_role("radio", name="0 unsat")).to_be_visible()
        row = page.locator("tr[data-number='4']")
        row.click()
        expect(page.get_by_text("Nest 5", exact=True)).to_be_visible()
        expect(row).to_have_attribute("aria-selected", "true")
        node = page.locator(".node")
        node.filter(has_text="D(").drag_to(node.filter(has_text="C("))
        expect(page.get_by_label("tree", exact=True)).to_have_value("((A B) (C D))")
    finally:
        backend.close()
