"""The price of every boundary, before and while it is touched."""

from __future__ import annotations

import pytest

from .conftest import PATIENCE
from .test_explorer import centre

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
LONG = 2 * PATIENCE


def priced(page):
    """Wait until every price of the design shown is known."""
    expect(page.locator(".chain[data-priced=true]")).to_be_visible(timeout=LONG)


def price(page, gap, to):
    return page.locator(f".price[data-from='{gap}'][data-to='{to}']")


def test_every_boundary_says_what_a_move_of_it_changes(page, session):
    expect(price(page, 4, 0)).to_have_text("+35.6 k", timeout=LONG)
    priced(page)
    expect(page.locator(".price")).to_have_count(7)
    expect(page.locator(".price.unknown")).to_have_count(0)
    seam = page.locator("button.seam[data-gap='1']")
    told = (
        "Cut the region here\nCut: est. 19,041 cycles (+5,177, 0.73×); computing +5,494, "
        "fill, drain, waits −317; −40,624 B of memory traffic"
    )
    expect(seam).to_have_attribute("title", told)
    page.get_by_label("Prices of boundaries in").select_option("bytes on chip")
    expect(price(page, 4, 0)).to_have_text("+400")
    expect(price(page, 0, 2)).to_have_class("price same")
    page.get_by_label("Prices of boundaries in").select_option("cycles")
    expect(price(page, 4, 0)).to_have_class("price down")
    session.preset("full")  # other prices, of another design
    expect(price(page, 0, 4)).to_have_text("−35.6 k", timeout=LONG)
    expect(price(page, 0, 4)).to_have_class("price up")


def test_the_number_under_the_hand_is_what_comes(page, session):
    priced(page)
    (x, y), (goal, _) = (
        centre(page.locator("button.bar[data-gap='4']")),
        centre(page.locator(".gap[data-gap='5']")),
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 10, y, steps=4)
    preview = page.locator(".preview")
    expect(preview).to_have_text("As it is")
    page.mouse.move(goal, y, steps=4)
    expect(preview).to_contain_text("Between A·H and ·W2")
    expect(preview).to_contain_text("est. 51,142 cycles +37,278, 0.27×")
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    page.mouse.up()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(goal, y, steps=8)
    page.mouse.up()
    expect(page.locator("button.bar[data-gap='5']")).to_be_visible()
    assert round(session.estimate.cycles) == 51_142


def test_what_comes_while_the_hand_rests_is_told(page, session):
    """Here the difference to A, which is pinned meanwhile."""
    priced(page)
    page.locator("[data-action=run]").click()
    expect(page.locator(".badge.good").first).to_be_visible(timeout=LONG)
    (x, y), (goal, _) = (
        centre(page.locator("button.bar[data-gap='4']")),
        centre(page.locator(".gap[data-gap='5']")),
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(goal, y, steps=4)
    preview = page.locator(".preview")
    expect(preview).to_contain_text("est. 51,142 cycles")
    expect(preview).not_to_contain_text("against A")
    session.pin(0)
    expect(preview).to_contain_text(f"{51_142 - session.record.run.cycles:+,} against A")
    page.keyboard.press("Escape")
    page.mouse.up()


def test_gaps_where_a_boundary_cannot_go_are_dark(page, session):
    session.set_cuts([2, 5])
    expect(page.locator("button.bar")).to_have_count(2)
    priced(page)
    x, y = centre(page.locator("button.bar[data-gap='2']"))
    goal, _ = centre(page.locator(".gap[data-gap='6']"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(goal, y, steps=8)
    dark = page.locator(".gap.illegal")
    expect(dark).to_have_count(3)
    assert {dark.nth(k).get_attribute("data-gap") for k in range(3)} == {"5", "6", "7"}
    expect(page.locator(".preview")).to_contain_text("Another boundary stands between")
    page.keyboard.press("Escape")
    page.mouse.up()


def test_prices_leave_room_for_the_kernels_on_a_narrow_screen(page, session):
    page.set_viewport_size({"width": 1024, "height": 768})
    for name in ("full", "partial"):
        session.preset(name)
        expect(page.locator("section.region")).to_have_count(len(session.regions))
        priced(page)
        wide = page.locator(".chain[data-priced]").evaluate("c => [c.scrollWidth, c.clientWidth]")
        assert wide[0] <= wide[1] + 4, name
