"""A newcomer's first five minutes on the whole bench: each step in Python, and as it is seen."""

from __future__ import annotations

import json
import re

import panel as pn
import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.base.page import words_of
from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, serve
from .test_explorer import centre, drag

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
LONG = 2 * PATIENCE


def until(page, condition) -> None:
    wait_until(condition, page, timeout=LONG)


def tab(page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute(
        "aria-selected", "true"
    )


def test_the_first_five_minutes(page, tmp_path):
    sessions: list[Session] = []

    def served():
        """The session of before; of an address that names a design, one of its own."""
        requests = requests_of(words_of(pn.state.session_args))
        if requests or not sessions:
            sessions.append(Session("gcn", "karate"))
            for name, *arguments in requests:
                carry_out(sessions[-1], name, arguments)
            return explorer(sessions[-1])
        return explorer(sessions[0])

    serve(page, served)
    page.goto(f"{page.url}?tour")
    page.locator("g.node").first.wait_for(timeout=LONG)
    session = sessions[0]
    for step in (
        takes_the_tour, reads_what_is_expected, runs_the_full_fusion, asks_why_it_is_slow,
        applies_a_change_that_holds, drags_a_boundary, drags_a_row, is_refused_once,
        opens_a_cells_menu, looks_at_the_graph, steps_through_streams, looks_at_the_timeline,
        pins_and_compares, compares_in_costs_and_why,
    ):  # fmt: skip
        step(page, session)
    saves_and_reloads(page, session, tmp_path)
    shares_an_address(page, session, sessions)


def takes_the_tour(page, session):
    card = page.locator(".tour-card")
    expect(card).to_contain_text("New here?")
    page.get_by_role("button", name="Take the tour (2 minutes)").first.click()
    for number in range(1, 9):
        expect(card).to_contain_text(f"Step {number} of 8")
        expect(page.locator(".tour-ring")).to_be_visible()
        title = card.get_by_role("heading").inner_text()
        if title == "More than one move":
            chosen = page.get_by_role("tab", name="Landscape")
            expect(chosen).to_have_attribute("aria-selected", "true")
        card.get_by_role("button", name="Finish" if number == 8 else "Next").click()
    expect(card).to_be_hidden()
    expect(page.locator(".tour-ring")).to_be_hidden()
    assert session.travels == (False, False), "a tour changes nothing"
    assert page.evaluate("localStorage.getItem('fuseloom:tour')") == "seen"
    tab(page, "Graph")


def reads_what_is_expected(page, session):
    assert session.record is None
    expect(page.locator(".cycles")).to_have_text(f"est. {session.estimate.cycles:,.0f} cycles")
    for name in ("Costs", "Why", "Timeline"):  # what is empty says what to do
        tab(page, name)
        view = page.get_by_role("tabpanel", name=name)
        told = view.get_by_text(re.compile(r"\bRun\b")).locator("visible=true")
        expect(told.first).to_be_visible()
    tab(page, "Graph")


def runs_the_full_fusion(page, session):
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    page.locator("[data-action=run]").click()
    badge = page.locator(".out:not(.stale) .badge.good")
    expect(badge).to_contain_text("matches the dense reference", timeout=LONG)
    assert session.record.name == "full"
    assert session.record.run.ok
    expect(page.locator(".cycles")).to_have_text(f"{session.record.run.cycles:,} cycles")
    expect(page.locator("[data-preset=full] .figure")).to_have_text(
        f"{session.record.run.cycles:,}"
    )


def asks_why_it_is_slow(page, session):
    tab(page, "Why")
    total = session.record.run.cycles
    expect(page.locator(".bar > .told")).to_contain_text("156 rows of H instead of 34")
    expect(page.locator("tr[data-tensor=H][title]")).to_contain_text("156")
    expect(page.locator(".flame .piece").first).to_contain_text(f"gcn {total:,}")
    regions = page.locator(".flame .piece.region").evaluate_all(
        "all => all.map(p => +/: ([\\d,]+) of/.exec(p.title)[1].replaceAll(',', ''))"
    )
    assert sum(regions) == total, "the parts are the whole"
    assert "Cut before A·H" in session.suggested


def applies_a_change_that_holds(page, session):
    page.locator("tr button[data-apply='Cut before A·H']").click()
    expect(page.locator("[data-promise=open]")).to_contain_text("promised est.")
    expect(page.locator("section.region")).to_have_count(2)
    assert session.promised is not None
    assert session.cuts == (4,)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-promise=held]")).to_be_visible(timeout=LONG)
    assert session.promised.least <= session.record.run.cycles < session.promised.now
    assert [run.name for run in session.records.values()] == ["full", "yours 1"]


def drags_a_boundary(page, session):
    bar, goal = page.locator("button.bar[data-gap='4']"), page.locator(".gap[data-gap='3']")
    drag(page, centre(bar), centre(goal))
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    expect(page.locator(".caption").first).to_contain_text("T1..T3")
    assert session.cuts == (3,)
    expect(page.locator(".badge.old").first).to_contain_text("stale")
    page.keyboard.press("Control+z")
    expect(page.locator("button.bar[data-gap='4']")).to_be_visible()
    assert session.cuts == (4,)


def drags_a_row(page, session):
    page.locator("button.caption[data-region='0']").click()
    grid = page.locator("table[role=grid]")
    expect(grid).to_have_attribute("aria-label", re.compile("T1..H"))
    rows = grid.locator("tbody tr[data-row]")
    first = session.current.order
    expect(rows.nth(1)).to_have_attribute("data-row", first[1])
    drag(page, *(centre(rows.nth(k).locator(".handle")) for k in (2, 1)))
    expect(rows.nth(1)).to_have_attribute("data-row", first[2])
    until(page, lambda: session.current.order == (first[0], first[2], first[1], first[3]))
    page.keyboard.press("Control+z")
    expect(rows.nth(1)).to_have_attribute("data-row", first[1])
    assert session.current.order == first


def is_refused_once(page, session):
    before = session.design
    handles = [centre(page.locator(f"tr[data-row='{x}'] .handle")) for x in "ki"]
    drag(page, *handles)
    expect(page.locator(".status.bad")).to_contain_text(
        "i must stay outside k, because A is stored"
    )
    assert session.design == before
    assert not session.ok
    way = page.locator("[data-way]").first
    expect(way).to_be_visible()
    way.click()
    expect(page.locator(".status.bad")).to_have_count(0)
    until(page, lambda: session.design != before and session.ok)
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: session.design == before)


def opens_a_cells_menu(page, session):
    cell = page.locator("td[data-cell='X.k']")
    cell.click(button="right")
    scan = page.get_by_role("menuitemradio").filter(has_text="Scan X.k")
    expect(scan).to_contain_text("cycles")
    scan.click()
    until(page, lambda: session.built.resolved.endswith("locate T1..H: X.k off"))
    expect(page.get_by_role("menu")).to_be_hidden()
    expect(cell).to_contain_text("I_k")
    page.get_by_role("button", name="Undo").click()
    expect(cell).not_to_contain_text("I_k")
    until(page, lambda: session.record is not None)


def looks_at_the_graph(page, session):
    tab(page, "Graph")
    view = page.get_by_role("tabpanel", name="Graph")
    nodes = view.locator("g.node")
    expect(nodes).to_have_count(len(session.current.graph.nodes))
    page.get_by_label("Folding", exact=True).select_option("kernel")
    expect(nodes).to_have_count(4)
    until(page, lambda: sum(dict(session.drawing.folds).values()) == 4)
    page.get_by_label("Find a node").fill("Acc1_p")
    page.get_by_label("Find a node").press("Enter")
    expect(view.locator("g.node.selected")).to_contain_text("Acc1_p")
    until(page, lambda: session.current.graph.nodes[session.node].label == "Acc1_p")
    expect(page.locator(".node-details")).to_contain_text("sparse accumulator")
    page.get_by_label("Colour by", exact=True).select_option("busy")
    expect(view.locator(".legend")).to_contain_text("cycles")
    page.get_by_label("Folding", exact=True).select_option("open")
    expect(nodes).to_have_count(len(session.current.graph.nodes))


def steps_through_streams(page, session):
    tab(page, "Streams")
    view = page.get_by_role("tabpanel", name="Streams")
    expect(view.locator(".token").first).to_be_visible(timeout=LONG)
    clock = view.locator(".clock")
    expect(clock).to_have_text("cycle 0")
    view.locator(".ground").focus()
    for _ in range(3):
        page.keyboard.press(".")
    expect(clock).to_have_text("cycle 3")
    page.keyboard.press(",")
    expect(clock).to_have_text("cycle 2")
    expect(view.locator(".side h3")).to_contain_text("Acc1_p")
    until(page, lambda: session.current.graph.nodes[session.node].label == "Acc1_p")
    until(page, lambda: session.moment[0] <= 2)  # the first tokens are what was asked for


def looks_at_the_timeline(page, session):
    tab(page, "Timeline")
    canvas = page.get_by_role("tabpanel", name="Timeline").locator("canvas")
    expect(canvas).to_have_attribute("data-to", str(session.record.run.cycles))
    canvas.focus()
    page.keyboard.press("+")
    expect(canvas).not_to_have_attribute("data-to", str(session.record.run.cycles))
    page.keyboard.press("0")
    expect(canvas).to_have_attribute("data-to", str(session.record.run.cycles))


def pins_and_compares(page, session):
    page.get_by_label("Pin yours 1 as A").click()
    expect(page.locator(".tag.a")).to_be_visible()
    assert session.reference.name == "yours 1"
    page.locator("div[data-run] .entry", has_text="full").click()
    expect(page.locator("section.region")).to_have_count(1)
    until(page, lambda: session.record is not None and session.record.name == "full")
    slower = session.record.run.cycles / session.reference.run.cycles
    expect(page.locator(".out .down")).to_contain_text(f"{slower:.2f}")
    expect(page.locator(".out .down")).to_contain_text("slower than A (yours 1)")
    expect(page.locator(".gap.theirs")).to_have_count(1)


def compares_in_costs_and_why(page, session):
    tab(page, "Costs")
    view = page.get_by_role("tabpanel", name="Costs")
    expect(view.locator("tr[data-run]")).to_have_count(2)
    expect(view.locator("tr.pinned")).to_contain_text("yours 1")
    expect(view.locator("tr", has_text="(shown)")).to_contain_text("full")
    expect(view.locator("[data-plot=pareto] .mark")).to_have_count(2)
    tab(page, "Why")
    more = session.record.run.cycles - session.reference.run.cycles
    expect(page.locator("tfoot")).to_contain_text(f"+{more:,}")


def saves_and_reloads(page, session, tmp_path):
    with page.expect_download() as under_way:
        page.get_by_role("button", name="Save").click()
    kept = tmp_path / "session.json"
    under_way.value.save_as(kept)
    design = json.loads(kept.read_text())["design"]
    assert design["cuts"] == []
    before = session.design
    page.goto(page.url.split("?")[0])  # what a newcomer's bookmark says
    expect(page.locator("section.region")).to_have_count(1, timeout=LONG)
    page.reload()
    expect(page.locator("section.region")).to_have_count(1, timeout=LONG)
    expect(page.locator("div[data-run]")).to_have_count(2)
    expect(page.locator(".tag.a")).to_be_visible()
    expect(page.locator(".cycles")).to_have_text(f"{session.record.run.cycles:,} cycles")
    assert session.design == before
    assert session.reference.name == "yours 1"
    expect(page.locator(".tour-card")).to_be_hidden()


def shares_an_address(page, session, sessions):
    page.get_by_role("button", name="Share").click()
    expect(page.locator(".news")).to_contain_text("ddress")
    assert "preset=full" in page.url
    second = page.context.new_page()
    second.set_viewport_size(page.viewport_size)
    second.goto(page.url)
    expect(second.locator("section.region")).to_have_count(1, timeout=LONG)
    expect(second.locator("[data-preset=full]")).to_have_attribute("aria-pressed", "true")
    assert sessions[-1] is not session
    assert sessions[-1].design == session.design
    assert not sessions[-1].records, "an address has no runs"
    expect(second.locator("div[data-run]")).to_have_count(0)
