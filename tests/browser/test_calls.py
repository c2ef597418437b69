"""The page of library calls as a visitor uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuseloom_workbench.calls.asked import CallsQuestion
from fuseloom_workbench.calls.backend import CallsBackend
from fuseloom_workbench.calls.page import calls_page

from .conftest import PATIENCE, serve
from .test_axe import COLOURS, TAGS, violations

try:
    import axe_playwright_python
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    axe_playwright_python = expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def show(page):
    """Opens the page on a question; at the end its process is ended."""
    backends: list[CallsBackend] = []

    def opened(**changes) -> CallsBackend:
        def made():
            backends.append(CallsBackend(CallsQuestion().changed(changes)))
            return calls_page(backends[-1])

        serve(page, made)
        page.locator("[aria-label=Python] code").first.wait_for(timeout=2 * PATIENCE)
        return backends[-1]

    yield opened
    for backend in backends:
        backend.close()


BLUR = {"pipeline": "blur", "extents": "h=64,w=48", "tile": 16}


def factor(page, name: str):
    row = page.locator("tr").filter(has=page.get_by_role("rowheader", name=name, exact=True))
    return row.locator("td").last


def test_a_softmax_is_looked_at_and_measured(page, show):
    show(extents="h=128,w=64")
    expect(page.get_by_role("img", name=re.compile("t5 = divide_per_row"))).to_be_visible()
    expect(factor(page, "t3")).to_have_text("1.00 ×")
    page.get_by_role("button", name="Measure it").click()
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text(re.compile("Fuse|Do not fuse"), timeout=2 * PATIENCE)
    expect(page.get_by_text("whole calls, room that is there")).to_be_visible()
    line = page.locator("[aria-label=pipeline] .line").filter(has_text="compute exp_matrix")
    line.hover()
    lit = page.locator("[aria-label=Python] .line.lit")
    expect(lit).to_have_text(re.compile(r"exp_matrix\(t2_part, t3_part\)"))
    page.get_by_label("Language").select_option("cpp")
    page.locator("[aria-label=pipeline] .line").filter(has_text="compute max_rows").hover()
    lit = page.locator("[aria-label='C++'] .line.lit")
    expect(lit).to_have_text(re.compile(r"routines::max_rows\(A_part, 64, t1_part\);"))
    page.get_by_role("button", name="Sweep sizes of tiles").click()
    curve = page.get_by_role("img", name=re.compile("Time by size of tiles"))
    expect(curve).to_be_visible(timeout=2 * PATIENCE)
    expect(curve.locator("circle")).to_have_count(5)
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8"))
    for rules in (TAGS, COLOURS):  # light and dark
        assert violations(page.locator("main"), rules) == []
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.locator("header button").last.click()


def test_tiles_are_played(page, show):
    show(**BLUR)
    said = page.get_by_role("status").filter(has_text="call 1 of 8 drawn: blur_rows")
    expect(said).to_contain_text("18 × 48 of t1")
    page.get_by_role("slider", name="Call").fill("7")
    expect(
        page.get_by_text("call 8 of 8 drawn: blur_columns computes 16 × 48 of t2")
    ).to_be_visible()
    expect(page.locator("rect.now")).to_have_count(1)
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text("call 8 of 8 drawn")).to_be_hidden()
    page.get_by_role("button", name="Pause").click()


def test_commands_are_chosen_dragged_and_refused(page, show):
    show(**BLUR)
    expect(factor(page, "t1")).to_have_text("1.09 ×")
    menu = page.get_by_role("group", name="Commands that could come next")
    expect(menu.get_by_label(re.compile("reuse t1 0: .*depends on j"))).to_have_attribute(
        "aria-disabled", "true"
    )
    menu.get_by_role("button", name="reorder 0 1", exact=True).click()
    items = page.get_by_role("list", name="Schedule").get_by_role("listitem")
    expect(items).to_have_text([re.compile("reorder 0 1")])
    menu.get_by_role("button", name="reuse t1 1", exact=True).click()
    expect(factor(page, "t1")).to_have_text("1.00 ×")
    items.nth(1).drag_to(items.nth(0), target_position={"x": 20, "y": 2})
    expect(items).to_have_text([re.compile("reuse t1 1"), re.compile("reorder 0 1")])
    items.nth(1).press("Alt+ArrowUp")
    expect(items).to_have_text([re.compile("reorder 0 1"), re.compile("reuse t1 1")])
    expect(items.nth(0)).to_be_focused()
    page.get_by_role("button", name="Remove reuse t1 1").click()
    expect(factor(page, "t1")).to_have_text("1.09 ×")
    field = page.get_by_label("Add a command")
    field.fill("parallelize 9")
    field.press("Enter")
    told = page.get_by_role("status").filter(has_text="✕")
    expect(told).to_contain_text("no loop at level 9")


def test_an_annotation_is_edited_checked_and_taken_back(page, show):
    show(**BLUR)
    area = page.get_by_label("Annotation", exact=True)
    text = area.input_value()
    area.fill(text.replace("cols: m + 2", "cols m + 2"))
    expect(page.locator(".mark u")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="does not fit here")).to_be_visible()
    area.fill(text.replace("m + 2", "m + 1"))
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_text("cols m_len + 1").first).to_be_visible()
    page.get_by_role("button", name="Check on random parts").click()
    expect(page.locator("pre.wrong")).to_contain_text("blur_rows")
    page.get_by_role("button", name="The library's").click()
    expect(area).to_have_value(text)
    expect(page.get_by_text("cols m_len + 2").first).to_be_visible()
