"""Takes the pictures of the workbench: ``python -m docs.pictures [NAME ...]``.

Every view in the light and the dark theme at 1440 × 900, GCN on the Karate Club graph fused
whole, with the run of its layers pinned as A; the bench at 1280 × 720 and 1920 × 1080; the GPT-3
decoders; what a first visitor sees; and the states of a result, four in one picture.  Needs
Chromium and Playwright, as the browser tests do.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import panel as pn
from panel.tests.util import serve_component
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.state.session import Session
from tests.browser.conftest import ARGUMENTS, PATIENCE, chromium_path

FOLDER = Path(__file__).parent / "pictures"
COLOURS = 192
"""Colours of a picture; more cannot be told apart, and take three times the bytes."""
THEMES = ("light", "dark")
WIDE, LOW, TALL = (1440, 900), (1280, 720), (1920, 1080)
RIGHT = ".out:not(.stale) .badge.good"


def run(page: Page) -> None:
    page.locator("[data-action=run]").click()
    expect(page.locator(RIGHT)).to_be_visible()
    page.wait_for_timeout(500)  # until the answer of before is gone
    expect(page.locator(".bar > .told")).not_to_contain_text("Looking")


def compared(page: Page) -> None:
    """Run the layers, pin that run as A, and run the full fusion."""
    run(page)
    page.get_by_label("Pin partial as A").click()
    page.locator("[data-preset=full]").click()
    expect(page.locator("section.region")).to_have_count(1)
    run(page)
    expect(page.locator(".bar > .told")).to_contain_text("instead of")


def tab(name: str) -> Callable[[Page], None]:
    def open_tab(page: Page) -> None:
        page.get_by_role("tab", name=name, exact=True).click()

    return open_tab


def visited(page: Page) -> None:
    """As a first visitor sees it: with the tour on offer."""
    page.goto(f"{page.url}?tour")
    page.locator("g.node").first.wait_for()


def all_presets(page: Page) -> None:
    tab("Costs")(page)
    page.get_by_role("button", name="Run presets").click()
    expect(page.locator("[data-plot=pareto] .mark")).to_have_count(4)


def a_cell(page: Page) -> None:
    """Graph and details of a cell of the table."""
    page.locator("table[role=grid] [role=gridcell]", has_text="LS(<A'.k>)").first.click()
    expect(page.locator(".node-details")).to_contain_text("level scanner")


def with_memory(page: Page) -> None:
    page.get_by_label("Machine", exact=True).select_option("hbm2")
    run(page)


def every_wait(page: Page) -> None:
    tab("Timeline")(page)
    page.get_by_role("button", name="Run again with events").click()
    expect(page.get_by_role("button", name="Run again with events")).to_be_hidden()
    expect(page.locator(RIGHT)).to_be_visible()


def stepped(page: Page) -> None:
    tab("Streams")(page)
    expect(page.locator(".token").first).to_be_visible()
    for _ in range(12):
        page.get_by_role("button", name="On one cycle (.)").click()


def searched(page: Page) -> None:
    tab("Search")(page)
    page.locator("[data-action=start]").click()
    expect(page.locator("[data-action=start]")).to_be_visible()
    expect(page.locator(RIGHT)).to_be_visible()


def mapped(page: Page) -> None:
    """The map of pairs of moves of two decoders, with all the room."""
    tab("Landscape")(page)
    page.keyboard.press("e")
    page.locator("[data-action=map]").click()
    page.locator(".cell").first.wait_for()
    expect(page.locator(".cell.unknown")).to_have_count(0, timeout=10 * PATIENCE)


def side_by_side(page: Page) -> None:
    tab("Compare")(page)
    page.locator("[data-side=left]").wait_for()
    page.keyboard.press("e")


def stale(page: Page) -> None:
    run(page)
    page.locator("button[data-gap='6']").click()
    expect(page.locator(".badge.old")).to_be_visible()
    expect(page.locator(".bar > .told")).not_to_contain_text("Looking")


def searching(page: Page) -> None:
    page.locator("[data-action=search]").click()
    expect(page.locator("progress[value]").first).to_be_visible()


def refused(page: Page) -> None:
    run(page)
    page.locator("tr[data-row='n'] .handle").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("tbody tr").nth(2)).to_have_attribute("data-row", "n")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(".status.bad")).to_be_visible()


def wrong(page: Page) -> None:
    """A machine with the quirks of a published simulator, which computes other numbers here."""
    page.get_by_label("Machine", exact=True).select_option("comal")
    page.locator("[data-action=run]").click()
    expect(page.locator(".out .badge.wrong")).to_be_visible()
    expect(page.locator(".bar > .told")).not_to_contain_text("Looking")


class Picture(NamedTuple):
    """The subject of a picture, its size, its model, and the steps before it."""

    size: tuple[int, int] = WIDE
    model: tuple[str, str] = ("gcn", "karate")
    before: tuple[Callable[[Page], None], ...] = ()


PICTURES = {
    "graph": Picture(before=(compared, a_cell)),
    "costs": Picture(before=(all_presets,)),
    "landscape": Picture(model=("gpt3", "random"), before=(mapped,)),
    "compare": Picture(before=(compared, side_by_side)),
    "why": Picture(before=(compared, tab("Why"))),
    "timeline": Picture(before=(compared, every_wait)),
    "streams": Picture(before=(run, stepped)),
    "memory": Picture(before=(with_memory, tab("Memory"))),
    "search": Picture(before=(searched,)),
    "input": Picture(before=(tab("Input"),)),
    "low": Picture(LOW, before=(compared,)),
    "tall": Picture(TALL, before=(compared, a_cell)),
    "gpt3": Picture(model=("gpt3", "random"), before=(run,)),
    "first": Picture(LOW, before=(visited,)),
}


STATES = (
    Picture(LOW, before=(stale,)),
    Picture(LOW, ("gpt3", "random"), before=(searching,)),  # takes as long as it may
    Picture(LOW, before=(refused,)),
    Picture(LOW, ("spmv", "random"), before=(wrong,)),
)
GAP = 12
"""Pixels between two states."""
TOP = (184, 40, 1280, 485)
"""The visible part of a state: result, chain and table."""


@contextmanager
def opened(browser: Browser, picture: Picture, theme: str) -> Iterator[Page]:
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    serve_component(page, lambda: explorer(Session(*picture.model)))
    page.locator("g.node").first.wait_for()
    if theme == "dark":
        page.get_by_label("Light or dark").click()
    yield page
    page.close()
    pn.state.kill_all_servers()


def shot(browser: Browser, picture: Picture, theme: str) -> Image.Image:
    with opened(browser, picture, theme) as page:
        for step in picture.before:
            step(page)
        page.mouse.move(2, 2)
        page.wait_for_timeout(1_500)  # what moves has arrived
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def keep(taken: Image.Image, name: str) -> None:
    path = FOLDER / f"{name}.png"
    taken.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def take(browser: Browser, name: str, picture: Picture) -> None:
    for theme in THEMES:
        keep(shot(browser, picture, theme), f"{name}-{picture.size[0]}-{theme}")


def take_states(browser: Browser) -> None:
    """A stale result, work under way, a refusal, and a result that is wrong."""
    left, top, right, bottom = TOP
    wide, high = right - left, bottom - top
    for theme in THEMES:
        sheet = Image.new("RGB", (2 * wide + GAP, 2 * high + GAP), "#808890")
        for number, state in enumerate(STATES):
            place = (number % 2 * (wide + GAP), number // 2 * (high + GAP))
            sheet.paste(shot(browser, state, theme).crop(TOP), place)
        keep(sheet, f"states-{theme}")


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=[*ARGUMENTS])
        for name in names or [*PICTURES, "states"]:
            if name == "states":
                take_states(browser)
            else:
                take(browser, name, PICTURES[name])
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
