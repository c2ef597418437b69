"""Stepping through a run in a browser: buttons, keys, tokens, the story of a node."""

from __future__ import annotations

import re

import pytest
from panel.tests.util import wait_until

from fuseloom.dataflow.sim.steps import record_region
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.streams.streams_view import StreamsView, streams

from .conftest import PATIENCE, serve, visited

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def spmv(page) -> Session:
    """SpMV with the first token on its edges."""
    session = Session("spmv")
    serve(page, lambda: StreamsView(session, height=420))
    expect(page.locator(".token")).to_have_count(1, timeout=2 * PATIENCE)
    return session


STILL = """async () => {
  const all = root => [...root.querySelectorAll('*')].flatMap(
    e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
  const places = () => all(document).filter(e => e.matches('.token'))
    .map(e => e.getAttribute('transform') + e.textContent).join()
  for (let frames = 0, before = ''; frames < 30;) {
    await new Promise(requestAnimationFrame)
    const now = places()
    frames = now === before ? frames + 1 : 0
    before = now
  }
}"""
"""Wait until no token has come, gone or moved for 30 frames."""
FRAMES = """async () => {
  for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame)
}"""
"""Let 30 frames be drawn, in which something would move if it did."""


def tokens(page) -> list[str]:
    """Texts on the edges, when nothing moves any more."""
    page.evaluate(STILL)
    return sorted(page.locator(".token text").all_text_contents())


def button(page, name: str):
    return page.get_by_role("button", name=name)


def test_stepping_with_buttons_and_keys(page, spmv):
    clock = page.locator(".clock")
    expect(clock).to_have_text("cycle 0")
    assert tokens(page) == ["0"]
    button(page, "On one cycle").click()
    expect(clock).to_have_text("cycle 1")
    assert tokens(page) == ["0", "0", "D"], "the root's reference is copied, its end is put"
    for _ in range(8):
        page.keyboard.press(".")
    expect(clock).to_have_text("cycle 9")
    there = tokens(page)
    page.keyboard.press(",")
    expect(clock).to_have_text("cycle 8")
    assert tokens(page) != there
    page.keyboard.press(".")
    assert tokens(page) == there, "back and on again is the same"
    button(page, "To the start").click()
    expect(clock).to_have_text("cycle 0")
    assert tokens(page) == ["0"]
    page.keyboard.press(",")
    expect(clock).to_have_text("cycle 0")


def test_tokens_are_those_of_the_recording(page, spmv):
    built = spmv.built
    recording = record_region(built.compilation, 0, built.data, built.design.machine)
    scrub = page.get_by_role("slider", name="Cycle")
    for cycle in (5, 17, 30, 37):
        scrub.fill(str(cycle))
        expect(page.locator(".clock")).to_have_text(f"cycle {cycle}")
        drawn = tokens(page)
        hidden = page.locator(".count text").all_text_contents()
        held = [len(stream.held(cycle)) for stream in recording.streams]
        assert len(drawn) + sum(int(text[1:]) for text in hidden) == sum(held)


def test_playing_goes_on_to_the_end_and_can_be_paused(page, spmv):
    clock = page.locator(".clock")
    page.get_by_role("combobox", name="Speed").select_option("8")
    page.locator(".ground").focus()
    page.keyboard.press(" ")
    expect(button(page, "Pause")).to_be_visible()
    expect(clock).to_have_text(re.compile("cycle [2-9]"))
    page.keyboard.press(" ")
    expect(button(page, "Play")).to_be_visible()
    paused = clock.inner_text()
    page.evaluate(FRAMES)
    assert clock.inner_text() == paused
    button(page, "Play").click()
    expect(clock).to_have_text("cycle 38")
    expect(button(page, "Play")).to_be_visible()
    expect(page.locator(".token")).to_have_count(0)


def test_the_selected_node_tells_what_it_did(page, spmv):
    reducer = next(n for n in spmv.current.graph.nodes if n.op == "reduce")
    page.locator(f"g.node#n{reducer.id}").click()
    expect(page.locator(".side h3")).to_contain_text("Red j")
    told = page.locator(".told")
    expect(told).to_contain_text("Waits: no token on its input, from * y.")
    wait_until(lambda: spmv.node == reducer.id, page, timeout=PATIENCE)
    button(page, "next action").click()
    expect(page.locator(".clock")).to_have_text("cycle 10")
    expect(told).to_contain_text("It began the sum with −0.17888.")
    button(page, "next action").click()
    expect(told).to_contain_text("It added −0.36411 to the sum: now −0.54299.")
    expect(page.locator(".past li").first).to_contain_text("began the sum")
    expect(page.locator(".strip")).to_have_count(2)
    button(page, "action before").click()
    expect(page.locator(".clock")).to_have_text("cycle 10")
    page.locator(".ground").focus()
    page.keyboard.press("n")
    expect(page.locator(".side h3")).to_have_text(re.compile(r"Drop y\s*waits"))  # all has come
    wait_until(lambda: spmv.node != reducer.id, page, timeout=PATIENCE)
    spmv.select_node(reducer.id)
    expect(page.locator(".side h3")).to_contain_text("Red j")


def test_without_motion_tokens_jump(page, spmv):
    page.emulate_media(reduced_motion="reduce")
    button(page, "On one cycle").click()
    places = "marks => marks.map(m => m.getAttribute('transform'))"
    first = page.locator(".token").evaluate_all(places)
    page.evaluate(FRAMES)
    assert page.locator(".token").evaluate_all(places) == first


def test_tokens_move_along_their_edge(page, spmv):
    page.emulate_media(reduced_motion="no-preference")
    step = """async () => {
      const all = root => [...root.querySelectorAll('*')].flatMap(
        e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
      all(document).find(e => e.matches?.('button[title^="On one cycle"]')).click()
      const seen = new Set()
      for (const until = performance.now() + 500; performance.now() < until;) {
        const tokens = all(document).filter(e => e.matches?.('.token'))
        tokens.forEach(e => seen.add(e.getAttribute('transform')))
        await new Promise(requestAnimationFrame)
      }
      return seen.size }"""
    assert page.evaluate(step) > 6


def test_a_long_run_comes_in_chunks_and_says_what_is_left_out(page):
    session = visited(page, Session("gcn", "karate"), lambda it: StreamsView(it, height=420))
    expect(page.locator(".token").first).to_be_visible(timeout=4 * PATIENCE)
    told = page.locator(".note")
    expect(told).to_contain_text("too long to step through whole", timeout=2 * PATIENCE)
    expect(page.locator(".note")).to_contain_text("first 10,000 cycles")
    page.get_by_role("slider", name="Cycle").fill("9000")
    expect(page.locator(".clock")).to_have_text("cycle 9,000")
    expect(page.locator(".veil")).to_be_hidden()
    expect(page.locator(".token").first).to_be_visible()
    session.select_region(1)
    expect(page.locator(".note")).to_contain_text("T5..Y: 2,787 cycles", timeout=4 * PATIENCE)
    expect(page.locator(".veil")).to_be_hidden()


def test_a_deadlock_can_be_stepped_up_to(page):
    session = Session("gcn", "karate")
    session.set_capacity("1")
    serve(page, lambda: StreamsView(session, height=420))
    told = page.locator(".note")
    expect(told).to_contain_text("T1..H: stuck in cycle 91, deadlock:", timeout=2 * PATIENCE)
    page.get_by_role("slider", name="Cycle").fill("91")
    expect(page.locator(".told")).to_contain_text("Waits: ")
    expect(page.locator(".told")).to_contain_text("one place is taken")


def test_a_graph_and_its_data_alone(page):
    session = Session("spmv")
    serve(page, lambda: streams(session.current.graph, session.built.data))
    expect(page.locator(".token")).to_have_count(1, timeout=PATIENCE)
    page.locator("g.node#n4").click()
    expect(page.locator(".side h3")).to_contain_text("LS A.j")


def test_controls_have_names_and_are_reached_by_tab(page, spmv):
    nameless = page.locator("button").evaluate_all(
        "all => all.filter(b => !(b.getAttribute('aria-label') || b.textContent).trim()).length"
    )
    assert nameless == 0
    page.locator(".ground").focus()
    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(
            "() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) "
            "at = at.shadowRoot.activeElement; return at?.getAttribute('aria-label') || at?.title }"
        ))  # fmt: skip
    assert {"Cycle", "Speed of playing", "Play (space)"} <= set(reached)
