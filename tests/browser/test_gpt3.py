"""The bench with a long program: two decoders of GPT-3, forty boxes, eight of them reshapes."""

from __future__ import annotations

import re

import pytest
from panel.tests.util import wait_until

from .conftest import PATIENCE, box_of, page_backend, shows_what_there_is
from .test_explorer import centre, drag

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
DESIGN = "gpt3", "random"
LONG = 2 * PATIENCE


def until(page, condition) -> None:
    wait_until(condition, page, timeout=LONG)


def number_of(session, name: str) -> int:
    return next(k for k, unit in enumerate(session.built.units) if unit.name == name)


def test_all_is_seen_at_once_and_the_map_leads_there(bench):
    page, session = bench.page, bench.session
    units = session.built.units
    expect(page.locator(".kernel")).to_have_count(len(units))
    names = [unit.name for unit in units]
    assert len(set(names)) == len(names), "no two boxes have one name"
    dots = page.locator(".map .dot")
    expect(dots).to_have_count(len(units) + 3 * 2 * 2)  # Q, K and V apart, before and in reshapes
    heads = [box_of(page.locator(f".map .dot:has(text:text-is('{x}p1'))")) for x in "QKV"]
    assert heads[0]["y"] < heads[1]["y"] < heads[2]["y"], "branches, not a line"
    assert max(at["x"] for at in heads) - min(at["x"] for at in heads) < 3
    chain = page.locator("div.chain")
    assert chain.evaluate("c => c.scrollWidth > c.clientWidth")
    seen = page.locator(".map rect.seen")
    before = seen.get_attribute("x")
    page.locator(f".map [data-dot='{number_of(session, 'FFN2 2')}']").click()
    until(page, lambda: session.region == 5)
    expect(page.locator("section.region.shown")).to_contain_text("FFN2 2")
    expect(seen).not_to_have_attribute("x", before)
    box = page.locator(f".kernel[data-kernel='{number_of(session, 'FFN2 2')}']")
    expect(box).to_be_in_viewport()
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]


def test_in_a_low_window_every_box_is_whole(bench):
    page = bench.page
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.locator(".app.low")).to_be_visible()

    def whole() -> None:
        pane = box_of(page.locator("[data-pane=chain]"))
        region = box_of(page.locator("section.region").first)
        assert region["y"] + region["height"] <= pane["y"] + pane["height"]
        assert box_of(page.locator("[data-pane=bottom]"))["height"] >= 180

    wait_until(whole, page, timeout=PATIENCE)


def test_reshapes_are_fences_that_nothing_crosses(bench):
    page, session = bench.page, bench.session
    before = session.design
    fences = page.locator(".kernel.memory")
    expect(fences).to_have_count(4)
    expect(fences.first).to_have_text("split heads")
    expect(fences.first).to_have_attribute("title", re.compile("nothing fuses across"))
    heads = number_of(session, "split heads")
    for gap in (heads, heads + 1):
        expect(page.locator(f"button[data-gap='{gap}']")).to_have_count(0)
    out = number_of(session, "·Wo")  # the boundary behind "merge heads" is the fence itself
    first = number_of(session, "LN1 2")
    bar = page.locator(f"button.bar[data-gap='{first}']")
    bar.scroll_into_view_if_needed()
    bar.focus()
    page.keyboard.press("Delete")  # fused: now the fence is the next boundary to the left
    until(page, lambda: first not in session.cuts)
    expect(page.locator(f"button.seam[data-gap='{first}']")).to_be_focused()  # drawn anew
    page.locator(f"button.seam[data-gap='{out + 1}']").focus()
    page.keyboard.press("Enter")
    bar = page.locator(f"button.bar[data-gap='{out + 1}']")
    expect(bar).to_be_focused()
    page.keyboard.press("ArrowLeft")
    refused = page.locator("[data-pane=chain] .status.bad")
    expect(refused).to_contain_text("nothing fuses across merge heads: a reshape is a fusion")
    expect(bar).to_be_focused()
    assert out + 1 in session.cuts
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: session.design == before)


@pytest.mark.fuzz  # as on the bench of a short program
def test_a_boundary_is_moved_by_mouse_and_keys(bench):
    page, session = bench.page, bench.session
    gap = number_of(session, "LN1 2")
    bar = page.locator(f"button.bar[data-gap='{gap}']")
    bar.scroll_into_view_if_needed()
    drag(page, centre(bar), centre(page.locator(f".gap[data-gap='{gap - 1}']")))
    moved = page.locator(f"button.bar[data-gap='{gap - 1}']")
    expect(moved).to_be_visible()
    assert gap - 1 in session.cuts
    assert gap not in session.cuts
    step = page.locator(".step").last
    expect(step).to_contain_text("×")
    moved.focus()
    page.keyboard.press("ArrowRight")
    expect(bar).to_be_focused()
    until(page, lambda: gap in session.cuts)
    expect(page.locator("section.region")).to_have_count(6)


@pytest.mark.fuzz  # as on the bench of a short program
def test_presets_change_regions_and_their_estimates(bench):
    page, session = bench.page, bench.session
    for name in ("full", "unfused", "partial"):
        page.locator(f"[data-preset={name}]").click()
        until(page, lambda name=name: session.built.preset_name == name)
        expect(page.locator("section.region")).to_have_count(len(session.regions))
        expect(page.locator(f"[data-preset={name}]")).to_have_attribute("aria-pressed", "true")
        said = page.locator(".panel .cycles")
        expect(said).to_have_text(f"est. {session.estimate.cycles:,.0f} cycles")
    expect(page.locator(".step")).to_have_count(4)


def test_a_large_graph_folds_by_itself_opens_and_is_searched(bench):
    page, session = bench.page, bench.session
    view = page.get_by_role("tabpanel", name="Graph")
    nodes = view.locator("g.node")
    expect(nodes).to_have_count(len(session.current.graph.nodes))
    page.get_by_label("all regions").check()
    every = sum(len(region.graph.nodes) for region in session.regions)
    assert every > 150
    expect(view.locator("g.node.folded").first).to_be_visible(timeout=LONG)
    assert nodes.count() < 150
    find = page.get_by_label("Find a node")
    find.fill("Wg2")
    expect(view.locator(".found")).to_contain_text("of tensor Wg2")
    hits = view.locator("g.node.hit")
    expect(hits.first).to_be_visible()
    box = view.locator("g.node.folded").first
    count = nodes.count()
    view.locator(".box").focus()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    until(page, lambda: nodes.count() != count)
    assert box.count() == 1
    find.fill("")
    assert session.drawing.whole


def test_many_orders_are_ranked_and_one_is_chosen_by_keys(bench):
    page, session = bench.page, bench.session
    page.locator("button.caption[data-region='1']").click()
    until(page, lambda: session.region == 1)
    pane = page.locator("[data-pane=orders]")
    expect(pane.locator(".head")).to_contain_text("10 legal orders of region S1..O1")
    page.locator("button.caption[data-region='2']").click()
    expect(pane.locator(".head")).to_contain_text("180 legal orders", timeout=LONG)
    expect(pane.locator(".head")).to_contain_text("ranked by estimated cycles", timeout=LONG)
    until(page, lambda: not page_backend(session).part("later")["orders"])
    shows_what_there_is(page, session)  # a better one that is found later comes before the others
    best = pane.locator("button.entry").first
    expect(best).to_contain_text("best")
    best.focus()
    page.keyboard.press("ArrowDown")
    second = pane.locator("button.entry").nth(1)
    expect(second).to_be_focused()
    order = tuple(second.get_attribute("data-order").split(","))
    page.keyboard.press("Enter")
    until(page, lambda: session.current.own_order == order)
    chosen = pane.locator("[role=radio][aria-checked=true]")
    expect(chosen).to_have_attribute("data-order", ",".join(order), timeout=LONG)


@pytest.mark.fuzz  # as on the bench of a short program
def test_a_run_fills_timeline_costs_and_why_by_keys_alone(bench):
    page, session = bench.page, bench.session
    page.locator("[data-pane=table]").focus()
    page.keyboard.press("Control+Enter")
    good = page.locator(".out:not(.stale) .badge.good")
    expect(good).to_contain_text("matches the dense reference", timeout=LONG)
    run = session.record.run
    assert run.ok
    expect(page.locator(".figure.sim")).to_have_count(len(session.regions))
    page.locator("[data-pane=table]").focus()
    page.keyboard.press("6")
    canvas = page.get_by_role("tabpanel", name="Timeline").locator("canvas")
    expect(canvas).to_have_attribute("data-to", str(run.cycles))
    canvas.focus()
    page.keyboard.press("+")
    expect(canvas).not_to_have_attribute("data-to", str(run.cycles))
    page.locator("[data-pane=table]").focus()
    page.keyboard.press("2")
    row = page.get_by_role("tabpanel", name="Costs").locator("tr[data-run='0']")
    expect(row).to_contain_text(f"{run.cycles:,}")
    page.locator("[data-pane=table]").focus()
    page.keyboard.press("5")
    pieces = page.locator(".flame .piece.region")
    parts = pieces.evaluate_all(
        "all => all.map(p => +/: ([\\d,]+) of/.exec(p.title)[1].replaceAll(',', ''))"
    )
    assert sum(parts) == run.cycles
