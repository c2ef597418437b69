"""The answer to why, a change applied and held, and the flame view, by the keyboard alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from panel.tests.util import wait_until

from fuseloom.results.check import Check

from ..workbench.why.answered import fused
from .conftest import PATIENCE, box_of

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def test_an_answer_a_change_and_its_promise(page, session):
    fused(session)
    session.forget(0)  # so that the change has not been run
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


def test_the_flame_view_is_walked_by_keys(page, session):
    fused(session)
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
    nodes = session.current.graph.nodes
    wait_until(lambda: nodes[session.node].label == "Acc1_p", page, timeout=PATIENCE)
    page.keyboard.press("Escape")
    expect(pieces.first).to_contain_text("gcn 49,474")
    page.locator("[data-by=cause]").click()
    expect(page.locator("tfoot")).to_contain_text("+35,605")


def test_beside_a_wrong_result_there_is_no_cause_and_a_way_out(page, session):
    session.choose("spmv", "random")
    session.set_machine("comal")  # with the faults of a published simulator
    page.locator("[data-action=run]").click()
    expect(page.locator(".out .badge.wrong")).to_be_visible(timeout=2 * PATIENCE)
    told = page.locator(".bar > .told")
    expect(told).to_contain_text("Do not trust this number: y[1] is stored")
    expect(told).to_contain_text("Machine comal copies 15 faults of another simulator")
    expect(page.locator("[data-apply]")).to_have_count(0)
    page.get_by_role("tab", name="Why").click()
    frame = page.locator(".frame", has=page.locator(".flame"))
    expect(frame).to_contain_text("The result of this run is wrong")
    expect(frame).not_to_contain_text("No change that was tried")
    page.get_by_role("button", name="Use machine default").click()
    wait_until(lambda: session.machine.name == "default", page, timeout=PATIENCE)
    page.locator("[data-action=run]").click()
    expect(page.locator(".out .badge.good")).to_be_visible(timeout=2 * PATIENCE)
    expect(told).not_to_contain_text("trust")


def test_a_fault_of_the_tool_is_saved_for_a_report(page, session):
    fused(session)
    record = session.record.run
    wrong = Check(0.25, True, None, share=9.0, wrong="Y[0, 0] is 2, and should be 1")
    session.keep(replace(session.record, run=replace(record, check=wrong)))
    expect(page.locator(".bar > .told")).to_contain_text("This is a fault of the tool")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save for a report").click()
    assert waiting.value.suggested_filename == "fuseloom-gcn.json"


@pytest.mark.parametrize("viewport", [{"width": w, "height": w * 9 // 16} for w in (1280, 640)])
def test_a_refusal_and_its_repair_cover_nothing(page, session):
    page.locator("tr[data-row='n'] .handle").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("tbody tr").nth(2)).to_have_attribute("data-row", "n")
    page.keyboard.press("Alt+ArrowUp")
    way = page.locator(".sheet [data-way]").first
    expect(way).to_be_attached()
    status, steps = page.locator(".sheet .status.bad"), page.locator(".sheet .stepper")
    status.scroll_into_view_if_needed()
    above, below = box_of(status), box_of(steps)
    assert above["y"] + above["height"] <= below["y"] + 0.5
    pane = box_of(page.locator(".sheet").first)
    assert below["y"] + below["height"] <= pane["y"] + pane["height"] + 0.5
    inside = status.evaluate(
        "e => e.scrollHeight <= e.clientHeight || getComputedStyle(e).overflowY === 'auto'"
    )
    assert inside
