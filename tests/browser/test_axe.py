"""WCAG 2, levels A and AA: axe-core on the whole bench, shadow roots included, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom_workbench.state.session import Session

from .conftest import missing, show

try:
    import axe_playwright_python
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    axe_playwright_python = expect = None

pytestmark = pytest.mark.browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast", "link-in-text-block"]
"""Rules whose answer may differ between the themes."""
_RUN = """async (part, rules) => {
  const found = await axe.run(part, {resultTypes: ['violations'], runOnly: rules})
  return found.violations
    .filter(v => v.impact === 'serious' || v.impact === 'critical')
    .flatMap(v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 200)} ${n.failureSummary}`))
}"""
_PLANT = """part => {
  const nameless = document.createElement('button')
  nameless.id = 'nameless'
  part.append(nameless)
}"""
READY = {
    "Landscape": ".cell b",
    "Compare": "[data-figure=lanes]",
    "Costs": ".mark",
    "Streams": ".token",
    "Timeline": "canvas",
}
"""The elements to wait for, so that a tab is judged with contents."""


_AT_REST = """async () => {
  const roots = root => [root, ...[...root.querySelectorAll('*')]
    .flatMap(element => element.shadowRoot ? roots(element.shadowRoot) : [])]
  const moving = () => roots(document).flatMap(root => root.getAnimations())
    .filter(a => a.playState === 'running' && a.effect?.getComputedTiming().endTime < 1e5)
  for (let turn = 0; turn < 10 && moving().length; turn++)
    await Promise.allSettled(moving().map(a => a.finished))
}"""
"""Waits for transitions that end, those inside shadow roots too."""


def violations(part, rules: list[str] = TAGS) -> list[str]:
    """Return the violations in a part of the page that axe calls serious or critical.

    Of colours at rest: what is on its way from one theme to the other has neither's.
    """
    part.page.evaluate(_AT_REST)
    return part.evaluate(_RUN, rules)


def load_axe(page) -> None:
    """Put axe-core into a page."""
    if axe_playwright_python is None:
        missing("axe-playwright-python is not installed")
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8"))


def test_the_bench_has_no_serious_violation(page):
    show(page, Session("gcn", "karate"))
    page.locator("[data-action=run]").click()
    expect(page.locator(".badge.good").first).to_be_visible()
    load_axe(page)
    judge(page, "rgb(255, 255, 255)", TAGS)
    page.get_by_role("button", name="Light or dark").click()
    judge(page, "rgb(23, 29, 36)", COLOURS)
    page.locator(".top").evaluate(_PLANT)  # what is wrong inside a shadow root is found
    assert any("nameless" in found for found in violations(page.locator(".top")))


def judge(page, ground: str, rules: list[str]) -> None:
    """The page as it is, and then the view of each other tab."""
    expect(page.locator("[data-pane=rail]")).to_have_css("background-color", ground)
    tabs = page.get_by_role("tablist", name="Views").get_by_role("tab")
    for number, name in enumerate(tabs.all_text_contents()):
        tabs.nth(number).click()
        view = page.locator(f"#view{number}")
        if name == "Landscape" and not view.locator(READY[name]).count():
            view.locator("[data-action=map]").click()
        if name in READY:
            expect(view.locator(READY[name]).first).to_be_visible()
        assert violations(view if number else page.locator("html"), rules) == [], name
