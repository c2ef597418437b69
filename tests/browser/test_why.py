"""The answer to why, a change applied and held, and the flame view, by the keyboard alone."""

from __future__ import annotations

import pytest

from ..workbench.why.answered import fused
from .conftest import PATIENCE, show

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def test_an_answer_a_change_and_its_promise(page):
    session = fused()
    session.forget(0)  # so that the change has not been run
    show(page, session)
    told = page.locator(".bar > .told")
    expect(told).to_contain_text("156 rows of H instead of 34")
    change = page.locator("button.change[data-apply='Cut before A·H']")
    change.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-promise=open]")).to_contain_text("promised est. 1")
    assert [r.name for r in session.regions] == ["T1..H", "T5..Y"]
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-promise=held]")).to_be_visible(timeout=2 * PATIENCE)
    expect(told).to_contain_text("sets the pace")
    page.keyboard.press("Control+z")
    expect(told).to_contain_text("156 rows of H instead of 34")


def test_the_flame_view_is_walked_by_keys(page):
    session = fused()
    show(page, session)
    page.get_by_role("tab", name="Why").click()
    pieces = page.locator(".flame .piece")
    expect(pieces.first).to_contain_text("gcn 49,474")
    page.locator(".flame [tabindex='0']").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    focused = page.locator(".flame .piece:focus")
    expect(focused).to_have_attribute("aria-label", "node Acc1_p: 48,671 of 49,474 cycles, 98.4 %")
    page.keyboard.press("Enter")
    expect(pieces.first).to_contain_text("Acc1_p")
    page.wait_for_function("() => true")
    assert session.current.graph.nodes[session.node].label == "Acc1_p"
    page.keyboard.press("Escape")
    expect(pieces.first).to_contain_text("gcn 49,474")
    page.locator("[data-by=cause]").click()
    expect(page.locator("tfoot")).to_contain_text("+35,605")
