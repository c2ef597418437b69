"""Help on numbers in every view: whatever shows one says what it is, by mouse and by keys.

All tests look at one bench, which has two runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom_workbench.base.help import QUANTITIES

from .test_help import told

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
TABS = (
    "Graph", "Costs", "Landscape", "Compare", "Why", "Timeline", "Streams", "Memory", "Search",
    "Input",
)  # fmt: skip
PARTS = {
    ".top": "factor.step",
    "[data-pane=rail]": "cycles.simulated",
    "[data-pane=result]": "error.estimate",
    "[data-pane=chain]": "cycles.estimated",
    "[data-pane=orders]": "orders.legal",
    "[data-pane=details]": "node.busy",
    "Graph": "node.busy",
    "Costs": "on_chip",
    "Landscape": "cycles.change",
    "Compare": "on_chip",
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
    "Landscape": ".scale span",
    "Compare": "[data-figure=lanes]",
    "Why": "tfoot",
    "Timeline": ".legend .key",
    "Streams": ".port",
    "Memory": "dl.figures",
    "Search": ".foot span",
    "Input": ".about",
}
"""The elements to wait for, so that a view is judged with numbers in it."""


@pytest.fixture(scope="module")
def twice(opened):
    """The bench after two runs on a machine with a memory, one pinned."""
    page, session = opened.page, opened.session
    session.set_machine("hbm2")
    session.preset("full")
    expect(page.locator("section.region")).to_have_count(1)
    run = page.locator("[data-action=run]")
    run.click()
    expect(page.locator("div[data-run]")).to_have_count(1)
    page.locator("[data-preset=partial]").click()
    expect(page.locator(".stale, .out[hidden]").first).to_be_attached()
    run.click()
    expect(page.locator("div[data-run]")).to_have_count(2)
    page.get_by_role("button", name="Pin full as A").click()
    expect(page.locator(".cycles")).to_be_visible()
    expect(page.get_by_text("than A (full)").first).to_be_visible()
    return page


@pytest.fixture
def ran(twice):
    """That bench with its first view open, and a cell selected."""
    page = twice
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Graph", exact=True).click()
    page.locator("[data-preset=partial]").click()
    page.locator("td.k-COMPUTE, td.k-REDUCED, td.k-ACCUMULATE, td.k-SCAN").first.click()
    expect(page.locator("[data-pane=details] [data-help]").first).to_be_visible()
    return page


def part_of(page, name: str):
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
    if name == "Landscape" and not part.locator(READY[name]).count():
        part.locator("[data-action=map]").click()
    if name == "Input":
        part.locator("details").evaluate_all("folds => folds.forEach(f => { f.open = true })")
    expect(part.locator(READY[name]).first).to_be_visible()
    return part


def test_every_number_has_help(ran):
    """No exceptions but options of menus, and texts that people edit."""
    page = ran
    seen = set()
    for name in TABS:
        part_of(page, name)
        lost, found = page.evaluate(_NUMBERS, [UNITS, LONGEST])
        assert lost == [], name
        assert set(found) <= QUANTITIES.keys()
        seen |= set(found)
    assert len(seen) > 30


def test_the_mouse_opens_help_in_every_view(ran):
    page = ran
    for name, key in PARTS.items():
        mark = part_of(page, name).locator(f"[data-help='{key}']:visible").first
        mark.scroll_into_view_if_needed()
        acts = mark.evaluate(
            "node => !!node.closest('button, label, [role=button], [role=treeitem], g.node')"
        )
        mark.hover() if acts else mark.click()
        told(page, key)
        page.keyboard.press("Escape")
        expect(page.locator(".whatis")).to_have_count(0)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.fuzz)])
def test_keys_alone_open_help_in_views(ran, every):
    """In panes and views, of which some stand for the others: the mouse is in each."""
    page = ran
    for name, key in [*PARTS.items()][::every]:
        part_of(page, name)
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


def test_numbers_without_help_are_found(ran):
    """The first test can fail."""
    page = ran
    page.locator(".rail h3").first.evaluate("node => node.append('12 cycles')")
    page.locator(".cycles").evaluate("node => delete node.dataset.help")
    lost, _ = page.evaluate(_NUMBERS, [UNITS, LONGEST])
    assert len(lost) == 2
