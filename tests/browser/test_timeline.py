"""The timeline as a visitor uses it."""

from __future__ import annotations

import json
import re

import pytest
from panel.tests.util import wait_until

from fuseloom.dataflow.sim.events import files
from fuseloom_workbench.base.page_backend import backend_of
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.timeline import Timeline

from .conftest import PATIENCE, box_of, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None


pytestmark = pytest.mark.browser
GUTTER = 158


def seen(page):
    """The cycles in view."""
    canvas = page.locator("canvas")
    return int(canvas.get_attribute("data-from")), int(canvas.get_attribute("data-to"))


@pytest.fixture
def session(page, tmp_path, monkeypatch):
    monkeypatch.setenv(files.ENVIRONMENT, str(tmp_path))
    session = Session("gcn", "karate")
    serve(page, lambda: Timeline(session, height=480))
    return session


def test_from_no_run_to_every_interval(page, session):
    expect(page.get_by_text("Run to see what each node does")).to_be_visible()
    expect(page.locator("canvas")).to_be_hidden()
    backend_of(session).run()
    canvas = page.locator("canvas")
    expect(canvas).to_be_visible(timeout=2 * PATIENCE)
    expect(page.get_by_text("This run kept no events")).to_be_visible()
    expect(page.get_by_role("button", name="Figures")).to_be_disabled()

    page.locator("[data-action=events]").click()
    expect(page.locator("canvas[data-bars=true]")).to_be_visible(timeout=2 * PATIENCE)
    expect(page.get_by_text("This run kept no events")).to_be_hidden()
    total = session.record.run.cycles
    assert seen(page) == (0, total)

    canvas.focus()
    page.keyboard.press("+")
    expect(canvas).to_have_attribute("data-from", re.compile("[1-9]"))
    start, stop = seen(page)
    assert abs(stop - start - total / 2) <= 1
    box = box_of(canvas)
    page.mouse.move(box["x"] + 700, box["y"] + 60)
    page.mouse.wheel(0, -480)
    wait_until(lambda: seen(page)[1] - seen(page)[0] < stop - start, page, timeout=PATIENCE)
    expect(page.locator(".range")).to_contain_text("every interval")
    page.keyboard.press("0")
    expect(canvas).to_have_attribute("data-to", str(total))
    for key in "wwd":  # in twice, then later
        page.keyboard.press(key)
    wait_until(lambda: 0 < seen(page)[1] - seen(page)[0] <= total / 4 + 1, page, timeout=PATIENCE)
    later = seen(page)[0]
    page.keyboard.press("a")
    wait_until(lambda: seen(page)[0] < later, page, timeout=PATIENCE)
    page.keyboard.press("s")
    page.keyboard.press("s")
    expect(canvas).to_have_attribute("data-to", str(total))

    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + GUTTER + 50, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + GUTTER + 350, box["y"] + 140, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.get_by_role("region", name="Figures of the area")).to_contain_text("per cycle")
    assert seen(page) == (0, total)
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="Figures of the area")).to_be_hidden()

    said = page.locator(".said")
    for _ in range(12):  # to a node of that kernel
        if "(·W1)" not in (said.text_content() or ""):
            page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("(·W1)")
    page.keyboard.press("Enter")
    wait_until(lambda: session.node >= 0, page, timeout=PATIENCE)

    with page.expect_download() as download:
        page.locator("[data-action=trace]").click()
    events = json.loads(download.value.path().read_text())
    assert "1 us in this file is 1 cycle" in events["otherData"]["time unit"]

    page.get_by_role("button", name="Table").click()
    table = page.get_by_role("table")
    expect(table).to_contain_text("Acc1_p")
    rows = (row for region in session.record.run.regions for row in region.nodes)
    row = next(row for row in rows if row["label"] == "Acc1_p")
    line = table.get_by_role("row").filter(has_text="Acc1_p")
    expect(line.get_by_role("cell").nth(1)).to_have_text(f"{row['busy']:,}")
