"""The Costs tab as a visitor uses it, and the files that it saves, opened from disk."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from panel.tests.util import wait_until

from benchmarks.visitors import ROOT
from fuseloom.results.area import AreaUse
from fuseloom.results.record import RunRecord
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.costs.export import LARGEST
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session

from ..workbench.outcomes import outcome
from .conftest import PATIENCE, patient, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def with_area(run: RunRecord, area: AreaUse) -> RunRecord:
    """A run of which every region has that area."""
    return run.with_areas([area] * len(run.regions))


def ran() -> Session:
    """A session with a right, an unchecked and a wrong run; the first is pinned."""
    session = Session("gcn", "karate")
    session.finish(session.built, with_area(outcome(14_000, session=session), AreaUse(17_038.2)))
    session.preset("unfused")
    unchecked = replace(outcome(22_000, session=session), check=None)
    session.finish(session.built, with_area(unchecked, AreaUse(8_980.0)))
    session.preset("full")
    wrong = outcome(49_000, ok=False, session=session)
    unknown = AreaUse(reason="exp has no hardware")
    session.keep(KeptRun.of(session.built, with_area(wrong, unknown)))
    session.pin(0)
    return session


@pytest.fixture
def offline(browser, tmp_path):
    """Open a text as a file, in a browser without a network."""
    context = patient(browser, offline=True, viewport={"width": 1200, "height": 600})
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))

    def show(text: str):
        path = tmp_path / "saved.html"
        path.write_text(text, encoding="utf-8")
        page.goto(path.as_uri())
        return page

    yield show
    context.close()
    assert not troubles


def mark(page, plot: str, run: str):
    return page.locator(f"[data-plot={plot}] [data-id='{run}']")


def linked(page):
    """Pointing at a mark lights the run up in every plot and in the table."""
    mark(page, "estimate", "run:1").hover()
    for plot in ("pareto", "roofline"):
        expect(mark(page, plot, "run:1")).to_have_class(re.compile(r"\bhot\b"))
    expect(page.locator("tr[data-run='1']")).to_have_class(re.compile(r"\bhot\b"))
    expect(page.locator(".tip")).to_contain_text("22,000 cycles")


PRINT = "window.print = () => { top.printed = document.documentElement.outerHTML }"


def one_sheet(page, size: list[float]) -> bytes:
    """Return the printed PDF: one page, as large as the drawing in pixels."""
    pdf = page.pdf(prefer_css_page_size=True)
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(boxes) == 1
    assert [float(x) for x in boxes[0]] == pytest.approx([x * 72 / 96 for x in size], abs=1.5)
    return pdf


def test_plots_and_table_are_one_and_a_click_loads_a_run(page, offline):
    session = ran()
    page.add_init_script(PRINT)
    serve(page, lambda: CostsPanel(session, height=700))
    expect(page.locator("tr[data-run]")).to_have_count(3)
    linked(page)
    expect(mark(page, "pareto", "run:1").locator(".shape")).to_have_attribute("fill", "var(--pane)")
    expect(mark(page, "pareto", "run:2").locator(".cross")).to_have_count(1)
    expect(page.locator("[data-plot=pareto] .front")).to_have_count(1)
    expect(page.locator("[data-plot=estimate] .tick", has_text="20k")).to_have_count(2)
    expect(page.locator("[data-figure=memory] .mark")).to_have_count(3)
    page.mouse.move(5, 5)

    mark(page, "pareto", "run:1").click()
    wait_until(lambda: session.built.preset_name == "unfused", page, timeout=PATIENCE)
    expect(mark(page, "pareto", "run:1")).to_have_class(re.compile(r"\bcurrent\b"))
    expect(page.locator("tr[data-run='1']")).to_contain_text("(shown)")
    mark(page, "pareto", "run:1").focus()
    page.keyboard.press("ArrowLeft")
    expect(mark(page, "pareto", "run:0")).to_be_focused()
    page.keyboard.press("Enter")
    wait_until(lambda: session.built.preset_name == "partial", page, timeout=PATIENCE)
    expect(mark(page, "pareto", "run:0")).to_be_focused()

    page.get_by_label("Pareto, x axis").select_option("area")
    expect(page.locator("[data-plot=pareto] .mark")).to_have_count(2)
    expect(page.locator("[data-plot=pareto] .axis", has_text="area, LUTs")).to_have_count(1)
    expect(page.locator("tr[data-run='0'] [data-help=area]")).to_have_text("17,038")
    unknown = page.locator("tr[data-run='2'] [data-help=area]")
    expect(unknown).to_have_text("—")
    expect(unknown).to_have_attribute("title", "exp has no hardware")
    rows = page.locator("tr[data-run]")
    page.locator("[data-sort=area]").click()
    expect(rows.first).to_have_attribute("data-run", "1")
    expect(rows.last).to_have_attribute("data-run", "2")  # not known comes last
    page.locator("[data-sort=cycles]").click()
    page.locator("[data-sort=cycles]").click()  # it is the order already: now the other way round
    expect(rows.first).to_have_attribute("data-run", "2")
    page.get_by_label("Pareto, x axis").select_option("flops")
    expect(page.locator("[data-plot=pareto] .axis", has_text="FLOPs")).to_have_count(1)
    page.get_by_label("right only").check()
    expect(rows).to_have_count(1)
    expect(page.locator("[data-plot=estimate] .mark")).to_have_count(1)
    expect(page.get_by_role("status").first).to_have_text("1 of 3 runs")
    page.get_by_label("right only").uncheck()
    page.get_by_label("Filter runs by text").fill("karate full")
    expect(rows).to_have_count(1)
    page.get_by_label("Filter runs by text").fill("")
    expect(rows).to_have_count(3)

    with page.expect_download() as download:
        page.locator("[data-action=svg]").click()
    drawing = download.value.path().read_text()
    assert "var(--" not in drawing
    plots = ET.fromstring(drawing)
    assert len(plots.findall("{http://www.w3.org/2000/svg}svg")) >= 4
    page.locator("[data-action=pdf]").click()
    sheet = page.evaluate("printed")
    pdf = one_sheet(offline(sheet), [float(plots.get(side)) for side in ("width", "height")])
    assert pdf.count(b"/FontFile2") >= 1  # letters are letters, not pixels
    assert b"/Subtype /Image" not in pdf
    with page.expect_download() as download:
        page.locator("[data-action=export]").click()
    text = download.value.path().read_text()
    assert len(text.encode()) <= LARGEST
    saved = offline(text)
    linked(saved)
    mark(saved, "pareto", "run:2").click()
    expect(mark(saved, "pareto", "run:2")).to_have_class(re.compile(r"\bchosen\b"))


SAVING = """
import sys
from bokeh.resources import INLINE
from tests.workbench.outcomes import outcome
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.state.session import Session

session = Session("gcn", "karate")
session.finish(session.built, outcome(14_000, session=session))
session.preset("unfused")
session.finish(session.built, outcome(22_000, session=session))
CostsPanel(session, height=560).save(sys.argv[1], resources=INLINE)
"""
"""In a process of its own, as in a notebook: there the bench and its theme are not loaded."""


def test_a_saved_notebook_page_keeps_its_links(offline, tmp_path):
    path = tmp_path / "panel.html"
    subprocess.run([sys.executable, "-c", SAVING, str(path)], check=True, cwd=ROOT)
    linked(offline(path.read_text(encoding="utf-8")))


def test_runs_of_one_name_say_what_tells_them_apart(page):
    session = Session("gcn", "karate")
    session.finish(session.built, outcome(14_000, session=session))
    session.set_machine("hbm2")
    session.finish(session.built, outcome(15_000, session=session))
    serve(page, lambda: CostsPanel(session, height=600))
    first = mark(page, "estimate", "run:0")
    expect(first).to_have_attribute("aria-label", re.compile("^partial · default: 14,000"))
    other = mark(page, "estimate", "run:1")
    expect(other).to_have_attribute("aria-label", re.compile("^partial · hbm2: 15,000"))
    session.choose("graphsage")
    session.finish(session.built, outcome(16_000, session=session))
    label = re.compile("^partial · gcn · karate: 14,000")
    expect(first).to_have_attribute("aria-label", label)
    expect(page.locator("[data-action=presets-again]")).to_be_visible()
