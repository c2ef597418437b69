"""The explorer as a visitor uses it: with the pointer, and with the keyboard alone."""

from __future__ import annotations

import re

import pytest
from panel.io.state import state
from panel.tests.util import wait_until

from .conftest import PATIENCE, box_of, shows_what_there_is

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def seen(page):
    """Return a visitor's view of a design: table, graph, estimate."""
    return (
        page.locator("table[role=grid] thead").inner_text(),
        page.locator("svg.picture").evaluate("picture => picture.innerHTML.length"),
        page.locator(".caption").first.inner_text(),
    )


def centre(locator):
    box = box_of(locator)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, what, where):
    page.mouse.move(*what)
    page.mouse.down()
    page.mouse.move((what[0] + where[0]) / 2, (what[1] + where[1]) / 2, steps=4)
    page.mouse.move(*where, steps=4)
    page.mouse.up()


def run_and_wait(page, press):
    press()
    badge = page.locator(".badge.good").first
    expect(badge).to_contain_text("matches the dense reference", timeout=2 * PATIENCE)
    expect(page.locator("[data-action=run]")).to_be_enabled()


@pytest.mark.parametrize(
    "moved",
    [True, pytest.param(False, marks=pytest.mark.fuzz)],
    ids=["dragged", "pressed"],
)
def test_escape_in_a_drag_leaves_the_boundary_where_it_is(page, session, moved):
    bar = page.locator("button.bar[data-gap='4']")
    cuts, (x, y) = session.cuts, centre(bar)
    page.mouse.move(x, y)
    page.mouse.down()
    if moved:
        page.mouse.move(x - 40, y, steps=4)
        expect(page.locator(".chain.dragging")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".chain.dragging")).to_have_count(0)
    page.mouse.up()
    page.wait_for_function("() => new Promise(done => setTimeout(done))")
    bar.focus()
    page.keyboard.press("ArrowLeft")  # what is asked for later is carried out later
    expect(page.locator("button.bar[data-gap='3']")).to_be_focused()
    assert len(session.cuts) == len(cuts)
    goal = centre(page.locator(".gap[data-gap='4']"))
    drag(page, centre(page.locator("button.bar[data-gap='3']")), goal)
    expect(page.locator("button.bar[data-gap='4']")).to_be_visible()  # a drag is one again
    page.locator("button.bar[data-gap='4']").click()
    expect(page.locator("button.bar")).to_have_count(0)  # and a click a click


def test_what_leaves_the_boundaries_is_drawn_after_a_drag(page, session):
    """Numbers that arrive while a boundary is in hand take it out of nobody's hand."""
    (x, y), goal = (
        centre(page.locator("button.bar[data-gap='4']")),
        page.locator(".gap[data-gap='3']"),
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 20, y, steps=4)
    number = page.locator(".chain [data-help='cycles.estimated']").first
    before = number.inner_text()
    session.set_order(0, ("i", "k", "p", "n"))  # another estimate of the same regions
    wait_until(lambda: session.current.order == ("i", "k", "p", "n"), page, timeout=PATIENCE)
    page.mouse.move(centre(goal)[0], y, steps=4)
    expect(page.locator(".chain.dragging")).to_have_count(1)
    assert number.inner_text() == before
    page.mouse.up()
    wait_until(lambda: session.cuts == (3,), page, timeout=PATIENCE)
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()

    (x, y) = centre(page.locator("button.bar[data-gap='3']"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=4)
    session.preset("unfused")  # other boundaries are drawn at once, and the drop counts no more
    expect(page.locator("button.bar[data-gap='1']")).to_be_visible()
    cuts = session.cuts
    page.mouse.up()
    expect(page.locator(".chain.dragging")).to_have_count(0)
    page.wait_for_function("() => new Promise(done => setTimeout(done))")
    assert session.cuts == cuts


GO_ON = """(at, [key, alt, next]) => {
  at.focus()
  const down = new KeyboardEvent('keydown', { key, altKey: alt, bubbles: true, cancelable: true })
  at.dispatchEvent(down)
  at.getRootNode().querySelector(next).focus()
}"""
"""The script that asks by a key, and goes on to another element before the answer is drawn."""


def test_an_answer_leaves_the_focus_where_it_has_gone(page, session):
    page.locator("tr[data-row='p'] .handle").evaluate(
        GO_ON, ["ArrowDown", True, "tr[data-row='n'] .handle"]
    )
    expect(page.locator("tbody tr").nth(2)).to_have_attribute("data-row", "p")
    expect(page.locator("tr[data-row='n'] .handle")).to_be_focused()
    page.locator("button.bar[data-gap='4']").evaluate(
        GO_ON, ["ArrowLeft", False, "button.seam[data-gap='1']"]
    )
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    expect(page.locator("button.seam[data-gap='1']")).to_be_focused()


def test_drag_a_boundary_run_and_be_refused(page, session):
    before = seen(page)
    bar, goal = page.locator("button.bar[data-gap='4']"), page.locator(".gap[data-gap='3']")
    start, end = centre(bar), centre(goal)
    drag(page, start, end)
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    expect(page.locator(".caption").first).to_contain_text("T1..T3")
    page.wait_for_function(
        """size => {
             const all = root => [...root.querySelectorAll('*')].flatMap(
               e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
             const picture = all(document).find(e => e.matches('svg.picture'))
             return picture && picture.innerHTML.length !== size }""",
        arg=before[1],
        polling=20,
    )
    after = seen(page)
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert session.cuts == (3,)

    run_and_wait(page, page.locator("[data-action=run]").click)
    assert session.record is not None
    expect(page.locator(".cycles")).to_have_text(f"{session.record.run.cycles:,} cycles")
    expect(page.locator(".figure.sim").first).to_contain_text("cycles")

    page.locator("button.caption[data-region='1']").click()
    expect(page.locator("table[role=grid]")).to_have_attribute("aria-label", re.compile("H..Y"))
    inner = page.locator("tr[data-row='n'] .handle")
    order = session.current.order
    drag(page, centre(inner), centre(page.locator("tr[data-row='i'] .handle")))
    expect(page.locator(".status.bad")).to_contain_text("must stay outside")
    assert session.current.order == order
    rows = page.locator("tbody tr[data-row]").evaluate_all("all => all.map(r => r.dataset.row)")
    assert tuple(rows) == session.current.table.rows

    page.get_by_role("button", name="Undo").click()
    wait_until(lambda: session.cuts == (4,), page, timeout=PATIENCE)
    expect(page.locator(".badge.old")).to_contain_text("stale")


def test_a_better_schedule_is_found_and_loaded(page, session):
    page.locator("[data-preset=unfused]").click()
    expect(page.locator("section.region")).to_have_count(8)
    unfused = session.estimate.cycles
    search = page.locator("[data-action=search]")
    expect(search).to_have_text("Find a better schedule")
    search.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-action=cancel]")).to_be_focused()
    expect(page.locator("span.said")).to_contain_text("searching")
    page.keyboard.press("Enter")
    expect(page.locator("span.said")).to_contain_text("cancelled")
    expect(page.locator("section.region")).to_have_count(8)

    search.click()
    wait_until(lambda: session.record is not None, page, timeout=2 * PATIENCE)
    assert session.record.run.cycles < unfused
    assert session.record.searched
    expect(page.locator(".badge.good").first).to_contain_text("matches the dense reference")
    told = page.locator(".status", has_text="was found; Undo goes back")
    expect(told).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("section.region")).to_have_count(8)


def test_a_button_pressed_while_a_change_is_under_way_is_obeyed_under_the_lock(
    page, session, caplog
):
    """Panel then hands it on in a coroutine, and those do not hold the document's lock."""
    run_and_wait(page, page.locator("[data-action=run]").click)
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator("canvas[role=application]")).to_be_visible()
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    ((_, _, document, _), *_) = state._views.values()

    async def nothing() -> None:
        pass

    state._change_callbacks[document] = {"a change": nothing}
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("section.region")).to_have_count(2)
    expect(page.locator("canvas[role=application]")).to_be_visible()
    assert "_pending_writes" not in caplog.text
    del state._change_callbacks[document]


def test_the_keyboard_can_do_the_same(page, session):
    page.locator("button.bar[data-gap='4']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("button.bar[data-gap='3']")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("button.bar[data-gap='4']")).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.locator("button.seam[data-gap='4']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("button.bar[data-gap='4']")).to_be_focused()
    wait_until(lambda: session.cuts == (4,), page, timeout=PATIENCE)

    session.set_order(0, ("i", "k", "p", "n"))
    expect(page.locator("tbody tr").nth(1)).to_have_attribute("data-row", "k")
    page.locator("tr[data-row='k'] .handle").focus()
    page.keyboard.press("Alt+ArrowDown")
    wait_until(lambda: session.current.order == ("i", "p", "k", "n"), page, timeout=PATIENCE)
    expect(page.locator("tr[data-row='k'] .handle")).to_be_focused()
    page.locator("tr[data-row='n'] .handle").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("tbody tr").nth(2)).to_have_attribute("data-row", "n")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(".status.bad")).to_contain_text("p must stay outside n, because W1")
    assert session.current.order == ("i", "p", "n", "k")

    grid = "tr[data-row='p'] .handle"
    page.locator(grid).focus()
    session.set_order(0, ("i", "k", "p", "n"))  # drawn anew by someone else's change
    expect(page.locator("tbody tr").nth(1)).to_have_attribute("data-row", "k")
    expect(page.locator(grid)).to_be_focused()

    page.locator("[data-cell='A.i']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-cell='X.i']")).to_be_focused()
    expect(page.locator("[data-cell='A.i']")).not_to_have_class(re.compile("selected"))
    page.keyboard.press("Enter")
    expect(page.locator("[data-cell='X.i']")).to_have_class(re.compile("selected"))
    expect(page.locator(".node-details")).to_contain_text("repeater")

    page.locator("[data-action=run]").focus()
    run_and_wait(page, lambda: page.keyboard.press("Enter"))
    assert session.record is not None


def test_cancel_ends_a_run_at_once(page, session):
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    page.locator("[data-action=run]").click()
    cancel = page.locator("[data-action=cancel]")
    expect(cancel).to_be_visible()
    cancel.click()
    expect(page.locator(".said").first).to_have_text("cancelled")
    assert session.record is None
    expect(page.locator("[data-action=run]")).to_be_enabled()


def test_references_steps_orders_and_graph(page, session):
    page.locator("[data-cell='T1.i']").hover()
    expect(page.locator("[data-cell='A.i']")).to_have_class(re.compile("target"))
    page.get_by_role("button", name="Previous step").click()
    expect(page.locator(".where")).to_contain_text("step 16 of 17")
    page.get_by_label("Construction step").press("Home")
    expect(page.locator("td.empty").first).to_be_visible()

    expect(page.locator(".head")).to_contain_text("5 legal orders")
    page.locator("[data-order='i,p,k,n']").click()
    wait_until(lambda: session.current.order == ("i", "p", "k", "n"), page, timeout=PATIENCE)
    expect(page.locator("[data-order='i,p,k,n']")).to_have_attribute("aria-checked", "true")

    expect(page.locator(".box.behind")).to_have_count(0)

    page.get_by_label("Find a node").fill("Acc1_p")
    page.get_by_label("Find a node").press("Enter")
    expect(page.locator("g.node.selected")).to_have_count(1)
    expect(page.locator(".node-details")).to_contain_text("sparse accumulator")
    page.locator(".box").focus()
    move = page.locator("svg.picture > g")
    old = move.get_attribute("transform")
    page.keyboard.press("+")
    expect(move).not_to_have_attribute("transform", old)
    page.keyboard.press("Escape")
    expect(page.locator("g.node.selected")).to_have_count(0)


def test_a_hidden_graph_is_drawn_when_it_is_shown(page, session):
    page.get_by_role("tab", name="Costs").click()
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    shows_what_there_is(page, session)
    page.get_by_role("tab", name="Graph").click()
    expect(page.locator("g.node")).to_have_count(len(session.current.graph.nodes))
    expect(page.locator("g.node").first).to_be_visible()


def test_texts_show_errors_in_place(page, session):
    page.get_by_role("tab", name="Input").click()
    area = page.get_by_label("schedule text")
    area.fill("fuse T1..H\nmelt T5")
    area.press("Control+Enter")
    expect(page.locator(".numbers .wrong")).to_have_text("✕ 2")
    area.fill("fuse T1..Y")
    area.press("Control+Enter")
    wait_until(lambda: session.cuts == (), page, timeout=PATIENCE)
    expect(page.locator("section.region")).to_have_count(1)


def test_the_page_fits_in_both_themes(page, session):
    page.locator("[data-preset=unfused]").click()
    expect(page.locator("section.region")).to_have_count(8)
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        for _ in range(2):
            wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert wide[0] <= wide[1]
            page.get_by_label("Light or dark").click()
