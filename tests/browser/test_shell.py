"""The tour and what Ctrl+K finds, on a small bench."""

from __future__ import annotations

import panel as pn
import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.base.page_backend import backend_of
from fuseloom_workbench.chain.fusion_chain import FusionChain
from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.shell.bench import Bench
from fuseloom_workbench.shell.rail import Rail
from fuseloom_workbench.shell.top_bar import TopBar
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, box_of, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def small_bench(session: Session) -> Bench:
    """A bench whose costly panes are empty."""
    backend = backend_of(session)
    run = RunPanel(backend)
    empty = {name: pn.Spacer() for name in ("table", "orders", "details")}
    return Bench(
        run,
        top=TopBar(backend),
        rail=Rail(backend),
        result=run,
        chain=FusionChain(backend),
        tabs=[pn.Spacer(), pn.Spacer()],
        titles=["Graph", "Costs"],
        **empty,
    )


@pytest.fixture
def session(page) -> Session:
    session = Session("gcn", "karate")
    serve(page, lambda: small_bench(session))
    page.locator("section.region").first.wait_for(timeout=2 * PATIENCE)
    return session


def focused(page) -> str:
    """The text of what has the focus."""
    return page.evaluate("""() => {
      let at = document.activeElement
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
      return at?.textContent || ''
    }""")


def test_the_tour_is_offered_once_and_walked_by_keys(page, session):
    card = page.locator(".tour-card")
    expect(card).to_be_hidden()  # a browser that is driven is not asked
    page.goto(page.url + "?tour")
    expect(card).to_contain_text("New here?", timeout=2 * PATIENCE)
    page.get_by_role("button", name="Not now").click()
    expect(card).to_be_hidden()
    assert page.evaluate("localStorage.getItem('fuseloom:tour')") == "seen"
    page.get_by_role("button", name="Keys", exact=True).click()
    page.get_by_role("button", name="Take the tour").click()
    expect(card).to_contain_text("Step 1 of 7")  # a bench without Landscape has a step less
    assert focused(page) == "Next"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(card.get_by_role("heading")).to_have_text("Run")
    ring, run = (box_of(page.locator(s)) for s in (".tour-ring", "[data-action=run]"))
    assert abs(ring["x"] + ring["width"] / 2 - run["x"] - run["width"] / 2) < 4
    assert abs(ring["y"] + ring["height"] / 2 - run["y"] - run["height"] / 2) < 4
    page.keyboard.press("ArrowLeft")
    expect(card.get_by_role("heading")).to_have_text("Fusion boundaries")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    card.get_by_role("button", name="Next").click()
    expect(card.get_by_role("button", name="Finish")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(page.locator(".tour-ring")).to_be_hidden()


def test_the_tour_notices_what_is_done(page, session):
    page.get_by_role("button", name="Keys", exact=True).click()
    page.get_by_role("button", name="Take the tour").click()
    card, done = page.locator(".tour-card"), page.locator(".tour-task.done")
    forward = card.get_by_role("button", name="Next")
    page.locator("[data-kernel='1']").click()
    expect(done).to_contain_text("Details tell what it takes")
    forward.click()
    expect(done).to_have_count(0)
    page.locator("button.seam[data-gap='2']").click()
    expect(done).to_contain_text("The estimate on top")
    wait_until(lambda: 2 in session.cuts, page, timeout=PATIENCE)
    card.get_by_role("button", name="Back").click()
    forward.click()
    expect(done).to_have_count(0)
    session.set_cuts([])  # to fuse everything is a move, too
    expect(done).to_contain_text("The estimate on top")
    forward.click()
    page.locator("[data-action=run]").click()
    expect(done).to_contain_text("what was expected", timeout=2 * PATIENCE)
    forward.click()
    expect(done).to_have_count(0)


def test_what_is_typed_is_found_and_done(page, session):
    preset = page.locator("[data-preset=unfused]")
    preset.focus()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find or do anything")
    expect(field).to_be_focused()
    options = page.locator("[role=option]")
    page.keyboard.type("preset full")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    expect(field).to_be_hidden()
    expect(page.locator("[data-preset=full]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("section.region")).to_have_count(1)
    page.get_by_role("button", name="Find or do anything").click()
    page.keyboard.type("view")
    expect(options).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "palette-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Costs")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("no such thing")
    expect(options).to_have_count(0)
    expect(page.locator(".palette [role=status]")).to_contain_text("Nothing")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Costs")).to_be_focused()


def test_a_view_is_given_all_the_room_and_gives_it_back(page, session):
    chain, views = page.locator("[data-pane=chain]"), page.locator("[data-pane=bottom]")
    before = box_of(views)
    page.keyboard.press("e")
    expect(chain).to_be_hidden()
    wait_until(lambda: box_of(views)["height"] > before["height"] + 200, page, timeout=PATIENCE)
    result = box_of(page.locator("[data-pane=result]"))
    assert abs(box_of(views)["y"] - result["y"] - result["height"]) <= 2
    page.get_by_role("button", name="Restore the panes").click()
    expect(chain).to_be_visible()
    wait_until(lambda: box_of(views) == before, page, timeout=PATIENCE)
    page.keyboard.press("Control+k")
    page.keyboard.type("enlarge")
    page.keyboard.press("Enter")
    expect(chain).to_be_hidden()


def test_a_cut_is_found_by_its_kernel(page, session):
    regions = len(session.regions)
    page.keyboard.press("Control+k")
    page.keyboard.type("cut before +b1")
    expect(page.locator("[role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("section.region")).to_have_count(regions + 1)
