"""Help on numbers: whatever shows one says what it is, by mouse and by keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from panel.tests.util import serve_component

from workbench.base.help import QUANTITIES
from workbench.costs.costs_panel import CostsPanel
from workbench.costs.export import comparison_html
from workbench.state.session import Session

from ..workbench.outcomes import outcome
from .conftest import show

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser

LONGEST = 320
"""Characters of a mark: one around a whole pane would explain nothing."""
_NUMBERS = Path(__file__).with_name("numbers.js").read_text("utf-8")
UNITS = (
    r"\d[\d,.]*\s?(?:[kMGT]\s?)?"
    r"(?:cycles?\b|cy\b|tokens?\b|bytes?\b|B\b|kB\b|MB\b|GB/s|FLOPs?\b|µs|ms\b|MHz|×|%)"
)
"""A number with a unit, as people write it."""
TABS = ("Graph", "Costs", "Why", "Timeline", "Streams", "Memory", "Search", "Input")
PARTS = {
    ".top": "factor.step",
    "[data-pane=rail]": "cycles.simulated",
    "[data-pane=result]": "error.estimate",
    "[data-pane=chain]": "cycles.estimated",
    "[data-pane=orders]": "orders.legal",
    "[data-pane=details]": "node.busy",
    "Graph": "node.busy",
    "Costs": "on_chip",
    "Why": "path.pieces",
    "Timeline": "node.waits",
    "Streams": "streams.cycle",
    "Memory": "memory.hits",
    "Search": "search.bound",
    "Input": "machine.capacity",
}
"""Panes and views, and a number that each of them shows."""
READY = {
    "Graph": ".legend .scale",
    "Costs": ".mark",
    "Why": "tfoot",
    "Timeline": ".legend .key",
    "Streams": ".port",
    "Memory": "dl.figures",
    "Search": ".foot span",
    "Input": ".about",
}
"""What is waited for, so that a view is judged with numbers in it."""


def ran(page) -> None:
    """The bench after two runs on a machine with a memory, one pinned; with a cell selected."""
    session = Session("gcn", "karate")
    session.set_machine("hbm2")
    session.preset("full")
    show(page, session)
    run = page.locator("[data-action=run]")
    run.click()
    expect(page.locator("[data-run]")).to_have_count(1)
    page.locator("[data-preset=partial]").click()
    expect(page.locator(".stale, .out[hidden]").first).to_be_attached()
    run.click()
    expect(page.locator("[data-run]")).to_have_count(2)
    page.get_by_role("button", name="Pin full as A").click()
    expect(page.locator(".cycles")).to_be_visible()
    expect(page.get_by_text("than A (full)").first).to_be_visible()
    page.locator("td.k-COMPUTE, td.k-REDUCED, td.k-ACCUMULATE, td.k-SCAN").first.click()
    expect(page.locator("[data-pane=details] [data-help]").first).to_be_visible()


def opened(page, name: str):
    """The part of that name, its view open and drawn."""
    if name not in TABS:
        return page.locator(name)
    part = page.locator(f"#view{TABS.index(name)}")
    page.get_by_role("tab", name=name, exact=True).click()
    if name == "Graph":
        part.get_by_label("Colour by").select_option("busy")
    if name == "Search" and not part.locator(READY[name]).count():
        part.get_by_label("Stop after, s").fill("3")
        part.locator("[data-action=start]").click()
        expect(part.locator("[data-action=stop]")).to_be_visible()
        expect(part.locator("[data-action=start]")).to_be_visible()
        part.locator("[data-action=why]").click()
        expect(part.locator(".fate")).to_be_visible()
    if name == "Input":
        part.locator("details").evaluate_all("folds => folds.forEach(f => { f.open = true })")
    expect(part.locator(READY[name]).first).to_be_visible()
    return part


def told(page, key: str) -> None:
    """The card says all that the glossary has of it."""
    card, one = page.locator(".whatis"), QUANTITIES[key]
    expect(card).to_have_attribute("data-key", key)
    expect(card).to_be_visible()
    for text in (one.name, one.sentence, one.formula, one.unit, one.source):
        expect(card).to_contain_text(text)


def test_every_number_has_help(page):
    """No exceptions but options of menus, and texts that people edit."""
    ran(page)
    seen = set()
    for name in TABS:
        opened(page, name)
        lost, found = page.evaluate(_NUMBERS, [UNITS, LONGEST])
        assert lost == [], name
        assert set(found) <= QUANTITIES.keys()
        seen |= set(found)
    assert len(seen) > 30


def test_numbers_without_help_are_found(page):
    """The test before this one can fail."""
    ran(page)
    page.locator(".rail h3").first.evaluate("node => node.append('12 cycles')")
    page.locator(".cycles").evaluate("node => delete node.dataset.help")
    lost, _ = page.evaluate(_NUMBERS, [UNITS, LONGEST])
    assert len(lost) == 2


def test_the_mouse_opens_help_in_every_view(page):
    ran(page)
    for name, key in PARTS.items():
        mark = opened(page, name).locator(f"[data-help='{key}']:visible").first
        mark.scroll_into_view_if_needed()
        acts = mark.evaluate(
            "node => !!node.closest('button, label, [role=button], [role=treeitem], g.node')"
        )
        mark.hover() if acts else mark.click()
        told(page, key)
        page.keyboard.press("Escape")
        expect(page.locator(".whatis")).to_have_count(0)


def test_keys_alone_open_help_in_every_view(page):
    ran(page)
    for name, key in PARTS.items():
        opened(page, name)
        if name == ".top":
            page.locator(".step").first.focus()
        elif name in TABS:
            page.get_by_role("tab", name=name, exact=True).focus()
        else:
            page.evaluate("document.activeElement?.blur()")
            for _ in range(7):
                page.keyboard.press("F6")
                if page.locator(f"{name}:focus").count():
                    break
        page.keyboard.press("F1")
        card = page.locator(".whatis")
        expect(card).to_be_focused()
        for _ in QUANTITIES:
            if card.get_attribute("data-key") == key:
                break
            before = card.get_attribute("data-key")
            page.keyboard.press("ArrowDown")
            expect(card).not_to_have_attribute("data-key", before)
        told(page, key)
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        assert page.locator(f"{name}:focus, .step:focus, .tab:focus").count(), "the focus is back"


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
    context = browser.new_context(has_touch=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    show(page, Session("gcn", "karate"))
    figure = page.locator("[data-preset=partial] .figure")
    box = figure.bounding_box()
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
    serve_component(page, lambda: CostsPanel(session, height=600))
    page.locator("td[data-help='cycles.simulated']").click()
    told(page, "cycles.simulated")
    path = tmp_path / "saved.html"
    path.write_text(comparison_html(session), encoding="utf-8")
    context = browser.new_context(offline=True)
    saved = context.new_page()
    saved.goto(path.as_uri())
    saved.locator("text[data-help='intensity']").click()
    told(saved, "intensity")
    context.close()
