"""Machines, their memory, critical paths and stand-in data, as a visitor meets them."""

from __future__ import annotations

import re

import pytest
from panel.tests.util import wait_until

from fuseloom.models.datasets import VARIABLE
from fuseloom_workbench.state import machines

from .conftest import PATIENCE

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def run(page):
    page.locator("[data-action=run]").click()
    good = page.locator(".out:not(.stale) .badge.good")
    expect(good).to_contain_text("matches the dense reference", timeout=2 * PATIENCE)


def test_a_machine_with_memory_shows_what_its_memory_did(page, session):
    page.get_by_role("tab", name="Memory").click()
    expect(page.get_by_text("This machine has no memory")).to_be_visible()
    page.get_by_label("Machine", exact=True).select_option("hbm2")
    wait_until(lambda: session.machine.name == "hbm2", page, timeout=PATIENCE)
    expect(page.get_by_text("256.0 GB/s peak").first).to_be_visible()
    run(page)
    memory = session.record.run.regions[0].memory
    expect(page.locator("dl.figures")).to_contain_text(f"{memory['bandwidth'] / 1e9:,.2f} GB/s")
    expect(page.locator("dl.figures")).to_contain_text("% of 256.0 GB/s")
    expect(page.locator("dl.figures")).to_contain_text(f"{memory['read_latency']:,.1f} cycles")
    expect(page.locator(".out")).to_contain_text("on machine hbm2")

    page.get_by_role("tab", name="Graph").click()
    page.get_by_label("Colour by").select_option("waiting")
    expect(page.locator(".legend").filter(has_text="▤ waits for memory")).to_be_visible()
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator("canvas[role=application]")).to_be_visible()
    page.get_by_role("tab", name="Costs").click()
    expect(page.locator("tr[data-run='0']")).to_contain_text("hbm2")
    for width in (1280, 1920):
        fits_in_both_themes(page, width)

    page.get_by_role("button", name="Undo").click()
    wait_until(lambda: session.machine.name == "default", page, timeout=PATIENCE)
    expect(page.get_by_label("Machine", exact=True)).to_have_value("default")
    expect(page.locator(".badge.old")).to_contain_text("stale")


def test_explain_lists_the_critical_path_and_outlines_it(page, session, monkeypatch):
    monkeypatch.setattr(machines, "SMALL", 0)  # as if it were too long to be explained at once
    run(page)
    expect(page.locator("g.node.critical")).to_have_count(0)
    page.get_by_role("tab", name="Why").click()
    explain = page.locator("[data-action=explain]")
    explain.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".head", has_text="Bottleneck:")).to_be_visible(timeout=2 * PATIENCE)
    path = session.record.run.regions[0].path
    expect(page.locator("g.node.critical")).to_have_count(len(path["shares"]))
    rows = page.get_by_role("region", name="Where the cycles of the critical path went")
    expect(rows.locator("tbody tr")).to_have_count(len(path["summary"]))
    expect(rows).to_contain_text(f"{path['summary'][0]['cycles']:,}")
    saves = page.get_by_role("region", name="What if a node were twice as fast")
    expect(saves).to_contain_text(f"{path['what_if'][0]['gain']:,}")

    rows.get_by_role("button").first.click()
    page.get_by_role("tab", name="Graph").click()
    expect(page.locator("g.node.selected")).to_have_count(1)
    expect(page.locator(".node-details")).to_contain_text("on the critical path")
    page.get_by_label("critical path", exact=True).uncheck()
    expect(page.locator("g.node.critical")).to_have_count(0)
    page.get_by_role("tab", name="Why").click()
    page.get_by_text(re.compile("^Fullest channels")).click()
    expect(page.get_by_role("region", name="Channels")).to_be_visible()


def test_errors_of_a_machine_show_in_place(page, session):
    page.get_by_role("tab", name="Input").click()
    page.get_by_text("Describe your own machine").click()
    area = page.get_by_label("Machine as TOML")
    area.fill('base = "hbm2"\nalu_latency = 0')
    area.press("Control+Enter")
    expect(page.locator(".status.bad")).to_contain_text("alu_latency is 0")
    expect(area).to_have_value('base = "hbm2"\nalu_latency = 0')  # nothing typed is lost
    assert session.machine.name == "default"
    area.fill('base = "hbm2"\nname = "mine"\nalu_latency = 2')
    page.locator("[data-action=machine]").click()
    wait_until(lambda: session.machine.name == "mine", page, timeout=PATIENCE)
    expect(page.locator(".status.bad")).to_have_count(0)
    expect(page.get_by_label("Machine", exact=True).locator("option:checked")).to_have_text("mine")

    capacity = page.get_by_label("Channel capacity, in tokens")
    capacity.fill("lots")
    capacity.press("Enter")
    expect(page.locator(".status.bad")).to_contain_text("an integer of tokens")
    expect(capacity).to_have_attribute("aria-invalid", "true")
    capacity.fill("64")
    capacity.press("Enter")
    wait_until(lambda: session.machine.channel_capacity == 64, page, timeout=PATIENCE)
    expect(capacity).to_have_attribute("aria-invalid", "false")


def test_what_the_simulator_refuses_is_said(page, session):
    session.set_machine("comal-hbm")
    session.set_schedule("fuse T1..H; fuse T5..Y; block 2")
    expect(page.get_by_label("Machine", exact=True)).to_have_value("comal-hbm")
    page.locator("[data-action=run]").click()
    expect(page.locator("[data-pane=result] .said.failed")).to_contain_text(
        "a memory of queues moves words, not tiles", timeout=2 * PATIENCE
    )


def test_a_stand_in_says_so_and_long_runs_ask_first(page, session, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(machines, "RATES", dict.fromkeys(machines.RATES, 1e6))
    expect(page.locator(".standin[role=note]")).to_be_hidden()
    page.get_by_label("Data", exact=True).select_option("cora")
    label = page.locator(".standin[role=note]")
    expect(label).to_contain_text("stand-in: NOT the real graph, Cora", timeout=2 * PATIENCE)
    page.locator("[data-action=run]").click()
    expect(page.locator(".said.asking")).to_contain_text("This may take about")
    expect(page.locator("[data-action=anyway]")).to_be_focused()
    page.locator("[data-action=leave]").click()
    expect(page.locator("[data-action=run]")).to_be_focused()
    page.locator("[data-action=run]").click()
    page.locator("[data-action=anyway]").click()
    expect(page.locator(".out .badge.standin")).to_contain_text(
        "NOT the real graph", timeout=4 * PATIENCE
    )
    page.get_by_role("tab", name="Costs").click()
    expect(page.locator("tr[data-run='0'] .badge.standin")).to_be_visible()


def test_progress_moves_inside_a_region(page, session, monkeypatch):
    monkeypatch.setattr(machines, "PATIENCE", float("inf"))
    assert session.choose("gcn", "cora_ml"), session.message
    assert session.preset("full"), session.message
    expect(page.locator("section.region")).to_have_count(1)
    page.locator("[data-action=run]").click()
    progress = page.get_by_label("Simulation progress")
    page.wait_for_function(
        """bar => bar.hasAttribute('value') && bar.value > 0 && bar.value < 1""",
        arg=progress.element_handle(timeout=PATIENCE),
        timeout=2 * PATIENCE,
    )
    expect(page.locator(".said").first).to_contain_text(re.compile(r"\d+% · T1..Y: [\d,]+ tokens"))
    page.locator("[data-action=cancel]").click()
    expect(page.locator(".said").first).to_have_text("cancelled")
    assert session.record is None


def fits_in_both_themes(page, width: int) -> None:
    for _ in range(2):
        for tab in ("Costs", "Why", "Timeline", "Memory", "Input"):
            page.get_by_role("tab", name=tab).click()
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert wide[0] <= wide[1]
        page.get_by_label("Light or dark").click()


def test_a_late_answer_does_not_overwrite_what_is_written(page, session):
    page.get_by_role("tab", name="Input").click()
    capacity = page.get_by_label("Channel capacity, in tokens")
    capacity.fill("64")
    session.set_machine("hbm2")
    expect(page.get_by_label("Preset machine")).to_have_value("hbm2")
    expect(capacity).to_have_value("64")
    capacity.press("Enter")
    wait_until(lambda: session.machine.channel_capacity == 64, page, timeout=PATIENCE)
