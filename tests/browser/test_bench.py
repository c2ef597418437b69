"""The bench: one screen at every size, its panes, keys, rail and steps, in a browser."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest
from panel.tests.util import wait_until

from .conftest import PATIENCE, box_of

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser

SIZES = ((1280, 720), (1440, 900), (1920, 1080), (2560, 1440))
PANES = ("rail", "result", "chain", "table", "orders", "details", "bottom")


def box(page, pane: str) -> dict[str, float]:
    return box_of(page.locator(f"[data-pane={pane}]"))


def every_pane_is_in(page, width: int, height: int) -> None:
    root = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    assert root[0] == root[1]
    boxes = {pane: box(page, pane) for pane in PANES}
    for pane, at in boxes.items():
        assert at["x"] >= 0, (pane, width)
        assert at["x"] + at["width"] <= width + 1, (pane, width)
        assert at["y"] + at["height"] <= height + 1, (pane, width)
    assert boxes["bottom"]["height"] >= 180
    assert boxes["table"]["width"] >= 320


def test_everything_is_on_one_screen_at_every_size(page, session):
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(".app:not(.stacked)")).to_be_visible()
        wait_until(partial(every_pane_is_in, page, width, height), page, timeout=PATIENCE)
        expect(page.locator("[data-action=run]")).to_be_in_viewport()
    page.set_viewport_size({"width": 900, "height": 700})  # as at 200 % of 1800 x 1400
    expect(page.locator(".app.stacked")).to_be_visible()
    page.locator(".app").evaluate("app => app.scrollTo(0, app.scrollHeight)")
    expect(page.locator("[data-action=run]")).to_be_in_viewport()


def test_a_low_window_shows_the_whole_table(page, session):
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    code = page.locator(".kernel code").first
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(code).to_be_hidden()  # it stands in the tooltip
    assert "T1[i,p] = A[i,k] * X[k,p]" in page.locator(".kernel").first.get_attribute("title")
    value = box_of(page.locator("[data-pane=table] tr.value"))
    steps = box_of(page.locator("[data-pane=table] .stepper"))
    assert value["y"] + value["height"] <= steps["y"]
    assert steps["y"] + steps["height"] <= box(page, "bottom")["y"]
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(code).to_be_visible()


def test_panes_are_sized_folded_and_remembered(page, session):
    before = box(page, "orders")["width"]
    splitter = page.locator("[data-splitter=orders]")
    splitter.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert box(page, "orders")["width"] == pytest.approx(before + 48, abs=2)
    splitter.dblclick()
    assert box(page, "orders")["width"] == pytest.approx(before, abs=2)
    at = box_of(page.locator("[data-splitter=details]"))
    page.mouse.move(at["x"] + 3, at["y"] + 100)
    page.mouse.down()
    page.mouse.move(at["x"] - 37, at["y"] + 100, steps=4)
    page.mouse.up()
    wide = box(page, "details")["width"]
    page.get_by_label("Fold orders").click()
    assert box(page, "orders")["width"] < 40
    page.keyboard.press("Control+b")
    expect(page.locator("[data-pane=rail]")).to_be_hidden()
    page.reload()
    page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)
    expect(page.locator("[data-pane=rail]")).to_be_hidden()
    assert box(page, "orders")["width"] < 40
    assert box(page, "details")["width"] == pytest.approx(wide, abs=2)
    page.get_by_label("Fold or show the rail").click()
    expect(page.locator("[data-pane=rail]")).to_be_visible()


def test_keys_do_what_the_list_of_keys_says(page, session):
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Ctrl+Enter")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("2")
    expect(page.get_by_role("tab", name="Costs")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("1")
    page.keyboard.press("F6")
    page.keyboard.press("F6")
    expect(page.locator(".pane.entered")).to_have_count(1)
    first = page.locator(".pane.entered").get_attribute("data-pane")
    page.keyboard.press("Shift+F6")
    assert page.locator(".pane.entered").get_attribute("data-pane") != first
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(page.locator("section.region")).to_have_count(2)
    page.keyboard.press("Control+Shift+z")
    expect(page.locator("section.region")).to_have_count(1)
    page.get_by_label("Find a node").fill("12")  # what is typed is no key
    expect(page.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    page.locator("[data-pane=table]").focus()
    page.keyboard.press("Control+Enter")
    wait_until(lambda: session.record is not None, page, timeout=2 * PATIENCE)


def test_runs_are_pinned_compared_and_forgotten(page, session):
    run, good = page.locator("[data-action=run]"), page.locator(".out:not(.stale) .badge.good")
    run.click()
    expect(good).to_be_visible(timeout=2 * PATIENCE)
    expect(page.locator("[data-preset=partial] .figure")).to_have_text(
        f"{session.record.run.cycles:,}"
    )
    page.locator("div[data-run='0'] .entry").focus()
    page.keyboard.press("p")
    expect(page.locator(".tag.a")).to_be_visible()
    page.locator("[data-preset=full]").click()
    expect(page.locator(".gap.theirs")).to_have_count(1)
    expect(page.locator(".step")).to_have_count(2)
    run.click()
    expect(good).to_be_visible(timeout=2 * PATIENCE)
    expect(page.locator(".out .down")).to_contain_text("slower than A (partial)")
    expect(page.locator(".caption .figure.down")).to_contain_text("against A")
    expect(page.locator(".kernel .factor").first).to_contain_text("×")
    page.locator(".step").first.click()
    expect(page.locator("section.region")).to_have_count(2)
    page.locator("div[data-run='1'] .entry").focus()
    page.keyboard.press("Delete")
    expect(page.locator("div[data-run]")).to_have_count(1)
    assert [kept.name for kept in session.records.values()] == ["partial"]


def test_a_design_is_shared_saved_and_opened(page, session, tmp_path):
    page.locator("[data-preset=unfused]").click()
    expect(page.locator("section.region")).to_have_count(8)
    page.get_by_role("button", name="Share").click()
    expect(page.locator(".news")).to_contain_text("ddress")
    assert "preset=unfused" in page.url
    with page.expect_download() as under_way:
        page.get_by_role("button", name="Save").click()
    kept = tmp_path / "session.json"
    under_way.value.save_as(kept)
    assert json.loads(kept.read_text())["design"]["model"] == "gcn"
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    chooser = page.get_by_label("A saved session")
    chooser.set_input_files(kept)
    expect(page.locator("section.region")).to_have_count(8)
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{")
    chooser.set_input_files(wrong)
    expect(page.locator(".news")).to_contain_text("no saved session")
    wrong.write_text('{"version": 99}')
    chooser.set_input_files(wrong)
    expect(page.locator(".status.bad")).to_contain_text("another version")
    expect(page.locator("section.region")).to_have_count(8)


def test_a_long_program_is_seen_at_once_and_its_table_folds(page, session):
    session.choose("gpt3", "bigbird")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator(".map .dot").first).to_be_visible()
    heads = [u for u in session.built.units if u.name == "QKV"]
    assert len(heads) == 1
    shown = page.locator(".map .dot text").all_text_contents()
    assert {"Qp1", "Kp1", "Vp1"} <= set(shown)  # beside each other, not in a line
    expect(page.locator(".kernel.memory").first).to_have_attribute(
        "title", re.compile("nothing fuses across")
    )
    closed = page.locator(".group[aria-expanded=false]")
    many = closed.count()
    assert many > 2
    closed.first.click()
    expect(closed).to_have_count(many - 1)
    page.get_by_role("button", name="Legend").click()
    expect(page.get_by_role("dialog", name="What the cells mean")).to_contain_text("RepV")
    page.keyboard.press("Escape")
    page.locator(".map .dot").nth(12).click()
    wait_until(lambda: session.region > 0, page, timeout=PATIENCE)


def test_the_partial_order_says_why(page, session):
    edge = page.locator(".pog .edge").first
    expect(edge.locator("title")).to_contain_text("outside", use_inner_text=False)
    expect(page.locator(".pog .index")).to_have_count(len(session.current.own_order))


USUAL = ((1024, 600), (1280, 720), (1366, 768), (1440, 900), (1536, 864), (1920, 1080))
"""Sizes of windows that many visitors have."""


def test_controls_are_in_sight_at_usual_sizes(page, session):
    """Those of the views of a run, without scrolling; and no figure of the region is cut off."""
    page.locator("[data-action=run]").click()
    expect(page.locator(".badge.good").first).to_be_visible(timeout=2 * PATIENCE)
    tabs = page.get_by_role("tablist", name="Views").get_by_role("tab").all_text_contents()

    def inside(control, size: tuple[int, int]) -> bool:
        low, high = (at["y"] + at["height"] for at in (box_of(control), box(page, "bottom")))
        return low <= high + 1 and high <= size[1] + 1

    for tab, part in (("Streams", "[aria-label=Stepping]"), ("Timeline", "canvas")):
        page.get_by_role("tab", name=tab).click()
        control = page.locator(f"#view{tabs.index(tab)} {part}")
        for size in USUAL:
            page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
            expect(control).to_be_visible()
            wait_until(partial(inside, control, size), page, timeout=PATIENCE)
            ends = page.locator("[data-pane=details] td").evaluate_all(
                "cells => cells.map(cell => cell.getBoundingClientRect().right)"
            )
            assert max(ends) <= size[0], (size, ends)


def test_the_theme_is_that_of_the_system_until_one_is_chosen(page, session):
    rail = page.locator("[data-pane=rail]")
    dark, light = "rgb(23, 29, 36)", "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(rail).to_have_css("background-color", dark, timeout=2 * PATIENCE)
    for colour in (light, dark):  # chosen, it stays after a reload
        page.get_by_label("Light or dark").click()
        expect(rail).to_have_css("background-color", colour)
        page.emulate_media(color_scheme="light" if colour == dark else "dark")
        page.reload()
        page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)
        expect(rail).to_have_css("background-color", colour)
