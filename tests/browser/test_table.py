"""The fusion table alone on a page: menus of its cells, and the steps of its construction."""

from __future__ import annotations

import re

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.state.session import Session
from fuseloom_workbench.table import menu
from fuseloom_workbench.table.table_grid import FusionTableGrid

from .conftest import PATIENCE, box_of, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def session(page) -> Session:
    session = Session("gcn", "karate")
    serve(page, lambda: FusionTableGrid(session))
    page.locator("td.made").first.wait_for()
    return session


def cell(page, key: str):
    return page.locator(f"td[data-cell='{key}']")


def entry(page, text: str):
    return page.get_by_role("menuitemradio").filter(has_text=text)


def test_a_cells_menu_says_what_it_changes_and_changes_it(page, session, monkeypatch):
    monkeypatch.setattr(menu, "PATIENCE", 60.0)
    cell(page, "X.k").click(button="right")
    expect(entry(page, "Look X.k up")).to_contain_text("changes nothing")
    expect(entry(page, "Scan X.k")).to_contain_text("cycles")
    box = box_of(page.get_by_role("menu"))
    assert box["y"] + box["height"] <= page.viewport_size["height"]
    entry(page, "Scan X.k").click()
    expect(cell(page, "X.k")).to_contain_text("I_k")
    wait_until(lambda: session.built.resolved.endswith("locate T1..H: X.k off"), page)
    cell(page, "X.k").click(button="right")
    expect(entry(page, "Scan X.k")).to_have_attribute("aria-checked", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()
    expect(cell(page, "X.k")).to_be_focused()
    wait_until(lambda: session.menu == ("", ""), page, timeout=PATIENCE)


def test_the_menu_by_keys_and_what_is_refused(page, session):
    cell(page, "A.i").focus()
    page.keyboard.press("m")
    expect(entry(page, "Scan A.i")).to_be_visible()
    for _ in range(8):
        if entry(page, "Deal i to 4 lanes").evaluate("e => e === e.getRootNode().activeElement"):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_until(lambda: "i by 4" in session.built.resolved, page, timeout=PATIENCE)
    expect(page.get_by_role("menu")).to_be_hidden()
    cell(page, "H.val").click(button="right")
    expect(entry(page, "Store H dense")).to_contain_text("may lack coordinates")
    entry(page, "Store H dense").click(force=True)
    expect(page.get_by_role("menu")).to_be_visible()
    assert not any("store H dense" in str(s) for s in session.design.settings)
    cell(page, "A.n").click(button="right")
    expect(page.get_by_role("menu")).to_contain_text("Nothing can be chosen")


def test_a_step_shows_its_cells_before_and_after(page, session):
    page.get_by_role("button", name="Previous step").click()
    page.get_by_role("button", name="Next step").click()
    slider = page.get_by_role("slider", name="Construction step")
    steps = session.current.table.steps
    filled: dict[tuple[str, str], str] = {}
    for step in steps[:-1]:
        again = [change for change in step.changes if change[:2] in filled]
        if again:
            break
        filled |= {(column, row): made.text for column, row, made in step.changes}
    slider.fill(str(steps.index(step) + 1))
    rows = page.locator("table.changed tbody tr")
    expect(rows).to_have_count(len(step.changes))
    column, row, made = again[0]
    line = rows.nth(step.changes.index(again[0]))
    expect(line.locator("td")).to_have_text([filled[column, row], made.text])
    slider.fill(str(len(steps)))
    expect(page.locator("table.changed")).to_have_count(0)


def test_a_refused_order_offers_its_repair(page, session):
    handle = page.locator("tr[data-row='n'] .handle")
    handle.focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("tbody tr").nth(2)).to_have_attribute("data-row", "n")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(".status.bad")).to_contain_text("p must stay outside n")
    page.locator("[data-way]").click()
    wait_until(lambda: "permute T1..H: W1 to n,p" in session.built.resolved, page, timeout=PATIENCE)
    expect(page.locator("[data-way]")).to_have_count(0)
    expect(page.locator("tbody tr").nth(1)).to_have_attribute("data-row", re.compile("n"))
