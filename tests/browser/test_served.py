"""The server's own page in a browser: its policy holds, and it notices when the server is gone."""

from __future__ import annotations

import re

import pytest

from benchmarks.visitors import Server
from fuseloom.cli import main

from .conftest import PATIENCE, patient
from .test_costs import PRINT

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server():
    """One server for all tests that leave it as it was."""
    with Server() as running:
        yield running


def open_page(page, server):
    page.goto(f"{server.url}/explorer")
    page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)


SEEN: dict[Server, int] = {}
"""Characters of a server's log that earlier tests have looked at: each answers for its own."""


def leave(page, server):
    """Close the page, with what it remembers: the next one has the same address."""
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
    page.goto("about:blank")
    since, SEEN[server] = SEEN.get(server, 0), len(server.log_text())
    faults = server.faults(since)
    assert not faults, "\n".join(faults)


def fits_in_both_themes(page):
    for _ in range(2):
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.get_by_label("Light or dark").click()


def test_the_served_page_works_under_its_policy(page, server):
    page.add_init_script(PRINT)
    open_page(page, server)
    page.locator("button.bar[data-gap='4']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("button.bar[data-gap='3']")).to_be_focused()
    expect(page.locator("table[role=grid]")).to_have_attribute("aria-label", re.compile("T1..T3"))
    page.locator("[data-action=run]").click()
    good = page.locator(".out:not(.stale) .badge.good")
    expect(good).to_contain_text("matches the dense reference", timeout=2 * PATIENCE)
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator("canvas[role=application]")).to_be_visible()
    page.locator("[data-action=events]").click()  # the server keeps them, and answers windows
    bars = page.locator("canvas[data-bars=true]")
    expect(bars).to_be_visible(timeout=2 * PATIENCE)
    bars.focus()
    page.keyboard.press("+")
    expect(page.locator(".range")).to_contain_text("every interval")
    page.get_by_role("tab", name="Costs").click()
    expect(page.locator("tr[data-run='0']")).to_be_visible()
    for action in ("svg", "export"):
        with page.expect_download() as saved:
            page.locator(f"[data-action={action}]").click()
        assert "yours 1" in saved.value.path().read_text()
    page.locator("[data-action=pdf]").click()
    assert "<svg" in page.evaluate("printed")
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        fits_in_both_themes(page)
    leave(page, server)


def test_a_reload_goes_on_with_the_design_and_its_runs(page, server):
    """And an address that is opened there names another design."""
    open_page(page, server)
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    page.locator("[data-action=run]").click()
    result = page.locator(".out:not(.stale)")
    expect(result.locator(".badge.good")).to_be_visible(timeout=2 * PATIENCE)
    cycles = result.locator(".cycles").inner_text()
    page.get_by_label("Pin full as A").click()
    expect(page.locator(".tag.a")).to_be_visible()
    for _ in range(2):  # what was resumed is resumed again
        page.reload()
        expect(page.locator("section.region")).to_have_count(1, timeout=2 * PATIENCE)
        expect(result.locator(".cycles")).to_have_text(cycles, timeout=2 * PATIENCE)
        expect(page.locator(".tag.a")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("section.region")).to_have_count(2)
    page.get_by_role("button", name="Redo").click()
    expect(page.locator("section.region")).to_have_count(1)

    page.goto(f"{server.url}/explorer?model=gcn&data=karate&preset=unfused&machine=hbm2")
    expect(page.locator("section.region")).not_to_have_count(1, timeout=2 * PATIENCE)
    expect(page.get_by_label("Machine").first).to_have_value("hbm2")
    leave(page, server)


RETURNS = ("reload", "back", "reconnect", "share")
"""Ways in which a page comes again: by itself, ..., under the address that Share gave it."""


def test_a_page_that_was_not_edited_keeps_its_runs(page, server):
    """In whichever way it comes again, one after another."""
    open_page(page, server)
    regions = page.locator("section.region").count()
    page.locator("[data-action=run]").click()
    result = page.locator(".out:not(.stale)")
    expect(result.locator(".badge.good")).to_be_visible(timeout=2 * PATIENCE)
    cycles = result.locator(".cycles").inner_text()
    for way in RETURNS:
        match way:
            case "reload":
                page.reload()
            case "share":
                page.get_by_role("button", name="Share", exact=True).click()
                page.wait_for_url("**/explorer?model=*")
                page.reload()
            case "back":
                page.goto("about:blank")
                page.go_back()
            case "reconnect":
                page.evaluate(
                    "() => sessionStorage.setItem(`fuseloom:${location.pathname}:recover`, 'yes')"
                )
                page.reload()
        page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)
        expect(result.locator(".cycles")).to_have_text(cycles, timeout=2 * PATIENCE)
        expect(page.locator("section.region")).to_have_count(regions)
    leave(page, server)


KEPT = """() => {
  const kept = sessionStorage.getItem(`fuseloom:${location.pathname}`)
  return kept && JSON.parse(kept).past.length > 0
}"""
"""A script: true if the browser has kept a design with a step to undo."""


def test_a_run_that_another_process_keeps_appears_and_is_taken_over(page, tmp_path, monkeypatch):
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    with Server("--keep-runs") as server:
        open_page(page, server)
        page.get_by_role("tab", name="Costs").click()
        expect(page.get_by_text("No run yet.")).to_be_visible()
        cuts = page.locator("button.bar")
        expect(cuts).to_have_count(1)
        design = ["--model", "gcn", "--data", "karate", "--preset", "full"]
        assert main(["simulate", *design, "--keep"]) == 0
        row = page.locator("tr[data-kept]")
        expect(row).to_have_count(1)
        expect(row.locator(".badge.kept")).to_be_visible()
        expect(row.get_by_role("button")).to_have_text("full")  # once the engine has named it
        row.get_by_role("button").click()
        expect(cuts).to_have_count(0)
        result = page.locator(".out:not(.stale)")
        expect(result.locator(".badge.good")).to_contain_text("matches the dense reference")
        expect(result).to_contain_text("from the run store")
        expect(row).to_contain_text("(shown)")
        page.get_by_role("button", name="Undo").click()
        expect(cuts).to_have_count(1)
        expect(page.locator(".status", has_text="taken over")).to_have_count(0)

        row.get_by_role("button").focus()  # the keyboard can do the same
        page.keyboard.press("Enter")
        expect(cuts).to_have_count(0)
        expect(row.get_by_role("button")).to_be_focused()
        fits_in_both_themes(page)
        page.goto("about:blank")
        assert not server.faults()


def test_a_page_notices_that_its_server_is_gone_and_goes_on(browser, server):
    """The last test of the server."""
    page = patient(browser).new_page()  # a lost server makes errors on the console
    open_page(page, server)
    page.locator("button.bar[data-gap='4']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    page.wait_for_function(KEPT)
    server.kill()
    lost = page.locator(".line.lost")
    expect(lost).to_contain_text("connection to the server was lost")
    lost.get_by_role("button", name="Reconnect").click()
    expect(lost).to_contain_text("not answer")
    with Server(port=server.port):
        expect(lost).to_contain_text("answers again")
        lost.get_by_role("button", name="Reconnect").click()
        expect(page.locator("button.bar[data-gap='3']")).to_be_visible(timeout=2 * PATIENCE)
        expect(page.locator(".line.lost")).to_have_count(0)
    page.context.close()
