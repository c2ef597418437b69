"""Two designs side by side, in a browser."""

from __future__ import annotations

import pytest

from .conftest import PATIENCE

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def compared(bench):
    """The bench's page with the tab open, enlarged; and the usual choice beside the design."""
    page = bench.page
    page.get_by_role("tab", name="Compare", exact=True).click()
    page.locator("[data-side=left]").wait_for()
    page.keyboard.press("e")
    yield page
    page.keyboard.press("e")


def test_who_opens_it_sees_a_design_to_compare_with(compared, session):
    expect(compared.get_by_label("Design to compare with")).to_have_value("preset unfused")
    expect(compared.locator("[data-side=left] .region")).to_have_count(8)
    expect(compared.locator("[data-side=right] .region")).to_have_count(2)
    row = compared.locator("[data-figure='cycles, estimated'] td")
    expect(row.nth(1)).to_have_text(f"{round(session.estimate.cycles):,}")


BESIDE = """what => {
  const found = []
  const walk = root => { for (const node of root.querySelectorAll('*')) {
    const shown = node.matches(what) && node.getClientRects().length
    if (shown) found.push(node.getBoundingClientRect().x)
    if (node.shadowRoot) walk(node.shadowRoot) } }
  walk(document)
  return found.some(x => x < innerWidth / 2) && found.some(x => x > innerWidth / 2)
}"""
"""The script that checks whether some of these elements are in each half of the window."""


def test_the_same_view_of_both_is_side_by_side(compared):
    for name, what in (("Graphs", "g.node"), ("Tables", ".sheet .frame")):
        compared.locator(f".segments [data-view={name}]").click()
        compared.locator(f"[data-pane=bottom] {what}:visible").first.wait_for(timeout=PATIENCE)
        compared.wait_for_function(BESIDE, arg=what)


def test_a_region_on_the_left_is_shown_and_its_rows_stay(compared, session):
    compared.locator(".segments [data-view=Tables]").click()
    compared.locator("[data-side=left] [data-region='4']").click()
    expect(compared.locator("[data-side=left] [data-region='4']")).to_have_attribute(
        "aria-pressed", "true"
    )
    left = compared.get_by_role("grid", name="Fusion table of region T5", exact=True)
    left.wait_for()
    handle = left.locator("tbody tr").first.locator("[aria-keyshortcuts], button").first
    handle.focus()
    handle.press("Alt+ArrowDown")
    expect(compared.get_by_text("press Load", exact=False).first).to_be_visible()
    assert session.ok


def test_the_left_design_can_be_loaded(compared, session):
    compared.locator("[data-action=load]").click()
    expect(compared.locator("[data-side=right] .region")).to_have_count(8)
    expect(compared.get_by_text("Both designs are the same.")).to_be_visible()
    assert len(session.cuts) == 7
