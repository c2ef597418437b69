"""All pages of a server: doors between them, one top line, one theme, no serious violation."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from benchmarks.paint import PAINT
from benchmarks.visitors import Server
from fuseloom.models import load_model
from fuseloom.program.printer import print_program
from fuseloom_workbench.base.page import PAGE_LINKS
from fuseloom_workbench.base.tokens import THEMES, tokens

from .conftest import PATIENCE
from .test_axe import load_axe, violations

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser

READY = {
    "explorer": "g.node",
    "figures": "text=Dataflow orders of a nested product",
    "networks": "[role=grid]",
    "patterns": "table[aria-label=Rules]",
    "calls": "[aria-label=Python] code",
    "kernels": "[aria-label=Schedules] tr.now",
    "compare": "table[aria-label=Comparison]",
}
"""The elements to wait for, so that a page is judged with contents."""


@pytest.fixture(scope="module")
def server():
    with Server() as running:
        yield running
        assert not running.faults()


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5))})"


def open_page(page, server, name: str) -> None:
    page.goto(f"{server.url}/{name}")
    page.locator(READY[name]).first.wait_for(timeout=2 * PATIENCE)


def top_line(page):
    return page.locator(".bar:has(.brand)").first


def is_in(page, theme: str) -> None:
    """The top line has the colours of a theme."""
    expect(top_line(page)).to_have_css("color", rgb(tokens(theme)["ink"]))


def test_the_first_page_leads_to_all_others(page, server):
    page.goto(server.url)
    expect(page.get_by_role("heading", level=1)).to_contain_text("what fusion does")
    doors = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(doors).to_have_count(len(PAGE_LINKS))
    for number, (name, link) in enumerate(PAGE_LINKS.items()):
        expect(doors.nth(number)).to_contain_text(link.text)
        expect(doors.nth(number)).to_have_attribute("href", name)
    page.get_by_role("link", name="spmm").click()
    page.wait_for_url("**/explorer?model=spmm*")
    page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)


def test_every_page_leads_to_every_other(page, server):
    """And the theme that was chosen on the first is that of every page."""
    page.emulate_media(color_scheme="dark")
    page.goto(server.url)
    is_in(page, "dark")
    page.get_by_label("Light or dark").click()
    is_in(page, "light")
    open_page(page, server, "networks")
    for name in ("figures", "patterns", "calls", "kernels", "compare", "explorer"):
        is_in(page, "light")
        menu = page.get_by_label("Fuseloom: pages")
        menu.focus()
        page.keyboard.press("Enter")
        there = page.get_by_role("navigation", name="Pages")
        expect(there).to_be_visible()
        page.keyboard.press("Escape")
        expect(there).to_be_hidden()
        expect(menu).to_be_focused()
        menu.click()
        expect(there.get_by_role("link")).to_have_count(len(PAGE_LINKS) + 1)
        there.get_by_role("link", name=PAGE_LINKS[name].title).click()
        page.wait_for_url(f"**/{name}*")
        page.locator(READY[name]).first.wait_for(timeout=2 * PATIENCE)
    expect(page).to_have_title(PAGE_LINKS["explorer"].full_title)
    is_in(page, "light")
    page.get_by_label("Light or dark").click()
    is_in(page, "dark")
    page.get_by_label("Fuseloom: pages").click()
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.url == f"{server.url}/"
    is_in(page, "dark")


@pytest.mark.parametrize("name", ["", *PAGE_LINKS])
def test_every_page_tells_when_it_was_painted(page, server, name):
    """Its time is measured by ``python -m benchmarks.paint``, and not here."""
    page.goto(f"{server.url}/{name}")
    page.wait_for_function(f"{PAINT} > 0", timeout=2 * PATIENCE)


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_walk_with_one_program(page, server, theme, width):
    """From home to the explorer and to the comparison, into a page of one system, and back."""
    page.emulate_media(color_scheme="dark" if theme == "light" else "light")
    page.set_viewport_size({"width": width, "height": 900})

    def choose(name: str) -> None:
        page.get_by_label("Fuseloom: pages").click()
        title = PAGE_LINKS[name].title if name else "Home"
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=title).click()

    page.goto(server.url)
    page.get_by_label("Light or dark").click()  # chosen, so that other tabs have it, too
    page.get_by_role("link", name="spmm").click()
    page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)
    is_in(page, theme)
    choose("compare")
    table = page.locator(READY["compare"])
    table.wait_for(timeout=2 * PATIENCE)
    page.goto(f"{server.url}/compare?example=mttkrp")
    table.wait_for(timeout=2 * PATIENCE)
    is_in(page, theme)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=PAGE_LINKS["networks"].title).last.click()
    there = opened.value
    there.set_default_timeout(2 * PATIENCE)
    there.locator(READY["networks"]).first.wait_for()
    is_in(there, theme)
    expect(there.locator("body")).to_contain_text("B")
    wide = there.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide[0] <= wide[1]
    there.close()
    choose("")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.url == f"{server.url}/"


def test_an_edited_program_goes_to_the_comparison_and_back(page, server):
    """Its text, its data and its schedule go with it, by keys alone."""
    text = print_program(load_model("gcn").program).replace("relu(", "exp(")
    schedule = "fuse T1..T3"
    words = {"model": "gcn", "data": "karate", "program": text, "schedule": schedule}
    page.goto(f"{server.url}/explorer?{urlencode(words)}")
    page.locator(READY["explorer"]).first.wait_for(timeout=2 * PATIENCE)
    link = page.get_by_role("link", name="Five ways", exact=True)
    expect(link).to_have_attribute("href", re.compile("schedule=fuse.T1..T3"))
    page.get_by_label("Data", exact=True).first.select_option("random")
    expect(link).to_have_attribute("href", re.compile("data=random"))
    page.get_by_role("button", name="Undo").click()
    expect(link).to_have_attribute("href", re.compile("data=karate"))

    def follow(at, link):
        link.focus()
        with at.context.expect_page() as opened:
            at.keyboard.press("Enter")
        opened.value.set_default_timeout(2 * PATIENCE)
        return opened.value

    there = follow(page, link)
    expect(there.get_by_label("Text of the program")).to_have_value(text, timeout=2 * PATIENCE)
    expect(there.get_by_text("12 statements, data karate, seed 0")).to_be_visible()
    expect(there.get_by_text("is the row “the explorer's schedule” of Dataflow")).to_be_visible()
    there.get_by_role("button", name="Compare", exact=True).click()
    row = there.get_by_role("table", name="Comparison").get_by_role("rowheader")
    expect(row.filter(has_text="the explorer's schedule")).to_be_visible(timeout=4 * PATIENCE)
    back = follow(there, there.get_by_role("link", name="Open in Fusion explorer"))
    back.locator(READY["explorer"]).first.wait_for()
    again = back.get_by_role("link", name="Five ways", exact=True)
    expect(again).to_have_attribute("href", link.get_attribute("href"))


@pytest.mark.parametrize("name", ["", "figures", "networks"])
def test_no_page_has_a_serious_violation_and_each_fits(page, server, name):
    """In both themes, and in windows of every width.  The bench has tests of its own."""
    page.emulate_media(color_scheme=THEMES[0])
    if name:
        open_page(page, server, name)
    else:
        page.goto(server.url)
    load_axe(page)
    for theme in THEMES:
        is_in(page, theme)
        assert violations(page.locator("html")) == [], theme
        page.get_by_label("Light or dark").click()
    for width in (1024, 1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1], width
        assert re.match("⋈", top_line(page).inner_text())
