"""Machines in the Search tab: values of parameters, the best machine, effects, and its use."""

from __future__ import annotations

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.search.search_panel import SearchPanel
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


def test_the_best_machine_is_found_and_used(page):
    """By keys: values with a fault, then without, another parameter, the table, Use."""
    session = Session("spmv", "random")
    session.set_machine("hbm2")
    serve(page, lambda: SearchPanel(session))
    fold = page.locator("summary").get_by_text("Machines", exact=True)
    fold.focus(timeout=2 * PATIENCE)
    page.keyboard.press("Enter")
    channels = page.get_by_label("Memory channels, channels: values with commas between")
    expect(channels).to_have_attribute("placeholder", "8")
    count = page.locator(".count")
    expect(count).to_have_text("the machine shown")
    channels.fill("2, 3")
    channels.press("Enter")
    expect(channels).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert").filter(has_text="a power of two")).to_be_visible()
    expect(channels).to_have_value("2, 3")
    channels.fill("2, 8")
    expect(count).to_have_text("2 machines")
    expect(page.get_by_label("Leave zeros of results out")).to_be_hidden()
    other = page.get_by_label("Another parameter of the machine")
    other.select_option("alu_latency")
    latency = page.get_by_label("Alu latency, cycles: values with commas between")
    expect(latency).to_be_focused()
    latency.fill(", ".join(map(str, range(1, 600))))
    expect(count).to_have_text("1,198 machines: at most 1,000")
    latency.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="at most 1,000")).to_be_visible()
    latency.fill("")
    page.get_by_label("Objective").select_option("edp")
    page.get_by_label("Stop after, s").fill("600")
    page.get_by_role("radio", name="Exhaustive").click()
    channels.press("Enter")
    told = "The best of 2 machines. None of those searched takes less energy times time"
    expect(page.locator(".said")).to_contain_text(told, timeout=2 * PATIENCE)
    expect(page.locator(".foot")).to_contain_text("gap 0.0 %")
    effects = page.get_by_role("region", name="Effects of parameters")
    expect(effects.locator("tbody tr")).to_have_count(2)
    expect(effects.get_by_role("columnheader", name="best energy × time, J·s")).to_be_visible()
    expect(effects.locator("tr.own td").first).to_contain_text("8")
    expect(page.locator(".machine .chosen").first).to_have_text("memory channels 8")
    page.get_by_text("All 2 machines").click()
    expect(page.get_by_role("region", name="Machines", exact=True)).to_contain_text("the best")
    channels.fill("1, 2")
    channels.press("Enter")
    use = page.get_by_role("button", name="Use", exact=True)
    expect(page.locator(".machine .chosen").first).to_have_text(
        "memory channels 2", timeout=2 * PATIENCE
    )
    expect(use).to_be_enabled(timeout=2 * PATIENCE)
    use.focus()
    page.keyboard.press("Enter")
    wait_until(lambda: session.machine.memory.channels == 2, page, timeout=PATIENCE)
    wait_until(lambda: session.design.as_written, page, timeout=PATIENCE)
    expect(channels).to_have_attribute("placeholder", "2")
    expect(channels).to_have_value("1, 2")
    page.get_by_role("radio", name="Random").click()
    expect(fold).to_be_hidden()
