"""The Memory view in a browser: figures, plots, what a bar tells, and what to do without a run."""

from __future__ import annotations

import pytest
from panel.tests.util import wait_until

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import PAGE, observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom_workbench.memory.memory_panel import MemoryPanel
from fuseloom_workbench.state.records import source_of
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, box_of, serve, visited

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def ran() -> Session:
    session = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    run = simulate(
        session.compilation, session.built.data, session.machine, observe=observation(True)
    )
    session.finish(session.built, program_record(run, run.check(), PAGE, source_of(session.built)))
    return session


def test_from_no_memory_to_the_numbers_of_a_bar(page):
    session = visited(page, Session("gcn", "karate"), MemoryPanel)
    expect(page.get_by_text("Choose hbm2 or ddr4")).to_be_visible()
    page.get_by_role("button", name="Use hbm2").click()
    wait_until(lambda: session.machine.name == "hbm2", page, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Use hbm2")).to_have_count(0)
    expect(page.get_by_text("Press Run to measure it.")).to_be_visible()
    session.keep(ran().record)
    expect(page.locator(".figures > div")).to_have_count(7)
    shown = session.record.run.regions[0].memory
    channels = page.locator("[data-plot=bandwidth] .bar")
    expect(channels).to_have_count(len(shown["channels"]))

    channels.nth(3).hover()
    rate = f"{shown['channels'][3]['bandwidth'] / 1e9:.2f} GB/s"
    expect(page.locator(".tip")).to_contain_text(rate)
    page.mouse.move(2, 2)
    expect(page.locator(".tip")).to_be_hidden()

    channels.first.focus()
    page.keyboard.press("End")
    expect(channels.last).to_be_focused()
    expect(page.locator(".tip")).to_contain_text("channel 15")
    page.keyboard.press("Escape")
    expect(page.locator(".tip")).to_be_hidden()


@pytest.mark.parametrize("size", [(1180, 300), (1000, 190)])
def test_figures_and_plots_are_whole_in_a_pane(page, size):
    width, height = size
    page.set_viewport_size({"width": width + 20, "height": height + 20})
    session = ran()
    serve(page, lambda: MemoryPanel(session, width=width, height=height, sizing_mode="fixed"))
    expect(page.locator("svg.plot")).to_have_count(3)
    frame = page.locator(".memory")
    wait_until(
        lambda: frame.evaluate("e => e.scrollHeight - e.clientHeight") <= 1, page, timeout=PATIENCE
    )
    boxes = [box_of(plot) for plot in page.locator("svg.plot").all()]
    assert len({round(box["y"]) for box in boxes}) == 1
    for text in page.locator("svg.plot text").all():
        inside, around = box_of(text), box_of(frame)
        assert inside["x"] >= around["x"]
        assert inside["x"] + inside["width"] <= around["x"] + around["width"] + 1


def test_bars_add_up_to_what_the_axis_says(page):
    session = ran()
    serve(page, lambda: MemoryPanel(session, height=400, width=1200))
    bars = page.locator("[data-plot=latency] .bar")
    memory = session.record.run.regions[0].memory
    bars.first.wait_for()
    labels = [bar.get_attribute("aria-label") for bar in bars.all()]
    reads = sum(int(label.split("reads ")[1].split()[0].replace(",", "")) for label in labels)
    assert reads == memory["reads"]


def test_the_plots_are_saved_as_one_drawing(page, tmp_path):
    session = ran()
    serve(page, lambda: MemoryPanel(session, height=400, width=1200))
    with page.expect_download() as waiting:
        page.locator("[data-action=memory-svg]").click()
    file = tmp_path / "memory.svg"
    waiting.value.save_as(file)
    text = file.read_text("utf-8")
    assert text.startswith("<svg") or text.startswith("<?xml")
    assert "Bandwidth by channel" in text
    assert "var(--" not in text
