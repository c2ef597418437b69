"""The Search tab in a browser: a search from start to end, its curve, its finds, and why not."""

from __future__ import annotations

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.search.search_panel import SearchPanel
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def test_a_search_for_less_area_under_rules(page):
    """By keys alone: the objective, a budget, rules with a fault, then without."""
    session = Session("spmm", "random")
    serve(page, lambda: SearchPanel(session))
    objective = page.get_by_label("Objective")
    objective.focus(timeout=2 * PATIENCE)
    page.keyboard.type("area")
    expect(objective).to_have_value("area")
    expect(page.get_by_label("Leave zeros of results out")).to_be_hidden()
    page.get_by_text("Budgets and rules").focus()
    page.keyboard.press("Enter")
    energy = page.get_by_label("Energy at most, J")
    energy.fill("little")
    rules = page.get_by_label("Rules that every region keeps")
    rules.fill("split T Z")
    rules.press("Control+Enter")
    expect(energy).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert").filter(has_text="is no number")).to_be_visible()
    energy.fill("1e-3")
    energy.press("Enter")
    expect(rules).to_have_attribute("aria-invalid", "true", timeout=2 * PATIENCE)
    expect(page.get_by_role("alert").filter(has_text="nothing assigns Z")).to_be_visible()
    rules.fill("order i")
    page.get_by_label("Stop after, s").fill("600")
    page.get_by_role("radio", name="Exhaustive").click()
    rules.press("Control+Enter")
    told = "None of those searched that keep the budget and the rules takes fewer lookup tables"
    expect(page.locator(".said")).to_contain_text(told, timeout=2 * PATIENCE)
    wait_until(lambda: session.record is not None, page, timeout=PATIENCE)
    luts = f"{session.record.run.area.luts:,.0f}"
    expect(page.locator(".foot")).to_contain_text(f"best {luts} LUTs · bound ≥ {luts} LUTs")
    expect(page.locator("tbody td.figure").first).to_have_text(luts)
    expect(page.get_by_role("columnheader", name="area, LUTs")).to_be_visible()
    page.get_by_role("button", name="Ask for the design shown").click()
    expect(page.locator(".answer")).to_contain_text("looked at more than cycles")
    page.get_by_role("radio", name="Random").click()
    expect(objective).to_be_hidden()
    expect(rules).to_be_hidden()


def test_a_search_from_its_start_to_why_not(page):
    session = Session("spmm", "random", schedule="order T: i,j,k")
    serve(page, lambda: SearchPanel(session))
    page.get_by_role("radio", name="Auto").focus(timeout=2 * PATIENCE)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Exhaustive")).to_be_focused()
    expect(page.get_by_label("Stop at a gap of, %")).to_be_hidden()
    seconds = page.get_by_label("Stop after, s")
    seconds.fill("0")
    seconds.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="out of bounds")).to_be_visible()
    seconds.fill("30")
    page.get_by_role("button", name="Start search").click()
    expect(page.locator(".said")).to_have_text(
        "None of those searched takes fewer, that is proved.", timeout=2 * PATIENCE
    )
    expect(page.locator(".foot")).to_contain_text("gap 0.0 %")
    expect(page.locator("path.best")).to_have_count(1)
    expect(page.locator("path.bound")).to_have_count(1)
    expect(page.locator(".space")).to_be_visible()
    expect(page.get_by_label("looked at:")).to_be_visible()
    wait_until(lambda: session.record is not None, page, timeout=PATIENCE)
    page.get_by_role("button", name="Ask for the design shown").click()
    expect(page.locator(".fate")).to_contain_text("As good as the best")
    expect(page.locator(".answer")).to_contain_text("in the space that was searched")
    page.get_by_text("Another schedule, as text").click()
    page.get_by_label("A schedule to ask about").fill("order T: i,j,k; parallel i by 2")
    page.get_by_role("button", name="Ask for this text").click()
    expect(page.locator(".answer")).to_contain_text("2 lanes")
    session.set_schedule("order T: i,j,k")
    page.locator("[data-load]").first.click()
    wait_until(lambda: session.record is not None, page, timeout=PATIENCE)
