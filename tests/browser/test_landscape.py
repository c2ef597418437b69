"""The map of pairs of moves, in a browser."""

from __future__ import annotations

import pytest
from panel.tests.util import wait_until

from .conftest import PATIENCE

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def landscape(bench):
    """The bench's page with the map of its design."""
    page = bench.page
    page.get_by_role("tab", name="Landscape", exact=True).click()
    page.locator("[data-action=map]").click()
    expect(page.locator("[data-pair]")).to_have_count(28)
    expect(page.locator(".cell.unknown")).to_have_count(0, timeout=2 * PATIENCE)
    yield page
    page.locator("[data-action=close]").click()
    expect(page.locator("[data-pair]").first).to_be_hidden()


def test_places_are_told_of_and_taken_by_keys(landscape, session):
    landscape.locator("[data-pair='4,4']").focus()
    expect(landscape.get_by_role("heading", name="Fuse at relu | A·H")).to_be_visible()
    landscape.keyboard.press("ArrowLeft")
    landscape.keyboard.press("ArrowLeft")
    text = landscape.locator("[data-pair='2,4']").get_attribute("aria-label")
    landscape.keyboard.press("Enter")
    wait_until(lambda: session.cuts == (2,), landscape, timeout=PATIENCE)
    assert f"est. {round(session.estimate.cycles):,} cycles" in text
    expect(landscape.locator("[data-pair='2,4']")).to_contain_text("●")
    expect(landscape.locator("[data-action=map]")).to_have_text("Map this design instead")


def test_a_named_design_leads_to_its_place(landscape):
    landscape.locator("[data-mark='preset full']").click()
    expect(landscape.locator("[data-pair='4,4']")).to_be_focused()


def test_nothing_is_estimated_before_it_is_asked_for(bench):
    bench.page.get_by_role("tab", name="Landscape", exact=True).click()
    expect(bench.page.get_by_text("Estimates 28 designs", exact=False)).to_be_visible()
    assert bench.session.mapped is None
