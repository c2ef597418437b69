"""Help on numbers: whatever shows one says what it is, by mouse and by keys."""

from __future__ import annotations

import re

import pytest

from fuseloom_workbench.base.help import QUANTITIES
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.costs.export import comparison_html
from fuseloom_workbench.state.session import Session

from ..workbench.outcomes import outcome
from .conftest import box_of, patient, serve, show

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def told(page, key: str) -> None:
    """The card says all that the glossary has of it."""
    card, one = page.locator(".whatis"), QUANTITIES[key]
    expect(card).to_have_attribute("data-key", key)
    expect(card).to_be_visible()
    for text in (one.name, one.sentence, one.formula, one.unit, one.source):
        expect(card).to_contain_text(text)


def test_buttons_keep_their_click_and_tell_after_a_while(page, session):
    expect(page.locator(".told b")).to_be_visible()  # nothing is drawn anew after that
    figure = page.locator(".caption [data-help='cycles.estimated']").first
    figure.hover()
    told(page, "cycles.estimated")
    card = page.locator(".whatis")
    expect(card).to_have_attribute("role", "tooltip")
    expect(card).to_contain_text("graph nodes")  # what the title says stays to be read
    expect(figure).to_have_attribute("aria-describedby", "whatis")
    page.mouse.move(600, 700)
    expect(card).to_have_count(0)
    expect(page.locator(".caption").first).to_have_attribute("title", re.compile("FLOPs"))
    page.locator("[data-preset=full] .figure").click()
    expect(page.locator("[data-preset=full]")).to_have_attribute("aria-pressed", "true")
    expect(card).to_have_count(0)


def test_the_menu_of_a_cell_tells_what_its_changes_are(page, session):
    session.preset("unfused")
    cell = page.locator("td.k-SCAN").first
    cell.focus()
    page.keyboard.press("m")
    effect = page.locator(".cellmenu [data-help='cycles.change']").first
    expect(effect).to_be_visible()
    page.keyboard.press("F1")
    told(page, "cycles.change")
    expect(page.locator(".cellmenu")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(cell).to_be_focused()


def test_all_quantities_are_found_by_words(page, session):
    page.keyboard.press("Control+k")
    page.keyboard.type("what is gap")
    expect(page.locator("#palette-list li").first).to_contain_text("Gap")
    page.keyboard.press("Enter")
    told(page, "search.gap")
    page.keyboard.press("ArrowDown")
    told(page, "search.space")
    page.keyboard.press("Escape")
    expect(page.locator(".whatis")).to_have_count(0)


def test_a_long_touch_tells_and_does_not_press(browser):
    context = patient(browser, has_touch=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    show(page, Session("gcn", "karate"))
    figure = page.locator("[data-preset=partial] .figure")
    box = box_of(figure)
    at = [{"x": box["x"] + 4, "y": box["y"] + 4}]
    touch = context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at})
    told(page, figure.get_attribute("data-help"))
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.locator(".whatis")).to_be_visible()
    page.locator("[data-pane=orders] [data-help='orders.legal']").tap()
    told(page, "orders.legal")
    context.close()


def test_one_view_alone_and_a_saved_page_have_help(page, browser, tmp_path):
    session = Session("gcn", "karate")
    session.finish(session.built, outcome(14_000, session=session))
    serve(page, lambda: CostsPanel(session, height=600))
    page.locator("td[data-help='cycles.simulated']").click()
    told(page, "cycles.simulated")
    path = tmp_path / "saved.html"
    path.write_text(comparison_html(session), encoding="utf-8")
    context = patient(browser, offline=True)
    saved = context.new_page()
    saved.goto(path.as_uri())
    saved.locator("text[data-help='intensity']").click()
    told(saved, "intensity")
    context.close()
