"""The page of deep fusion as a visitor uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuseloom.stitch.kernel_code import BACKENDS
from fuseloom_workbench.kernels.asked import KernelsQuestion
from fuseloom_workbench.kernels.backend import KernelsBackend
from fuseloom_workbench.kernels.page import kernels_page

from .conftest import PATIENCE, serve
from .test_axe import COLOURS, TAGS, violations

try:
    import axe_playwright_python
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    axe_playwright_python = expect = None

pytestmark = pytest.mark.browser

SOFTMAX = """HloModule softmax
largest { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
ENTRY main {
  x = f32[8,4] parameter(0)
  low = f32[] constant(-inf)
  m = f32[8] reduce(x, low), dimensions={1}, to_apply=largest
  w = f32[8,4] broadcast(m), dimensions={0}
  d = f32[8,4] subtract(x, w)
  ROOT y = f32[8,4] exponential(d)
}
"""


@pytest.fixture
def show(page, tmp_path, monkeypatch):
    """Opens the page on a question; at the end its process is ended."""
    monkeypatch.setenv("FUSELOOM_TIMES", str(tmp_path / "times.sqlite"))
    backends: list[KernelsBackend] = []

    def opened(**changes) -> KernelsBackend:
        def made():
            backends.append(KernelsBackend(KernelsQuestion().changed(changes)))
            return kernels_page(backends[-1])

        serve(page, made)
        page.locator(".bar.chosen").wait_for(timeout=2 * PATIENCE)
        return backends[-1]

    yield opened
    for backend in backends:
        backend.close()


def kernels(page):
    return page.get_by_role("group", name=re.compile(r"^Kernels over \d+ layers$"))


def operation(page, name: str):
    return page.get_by_role("button", name=re.compile(f"^{re.escape(name)}, "))


def row(page, schedule: str):
    return page.locator(f"tr[data-of='{schedule}']")


def judge(page) -> None:
    """No serious violation in light and dark, and nothing wider than the window."""
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8"))
    for rules in (TAGS, COLOURS):
        assert violations(page.locator("main"), rules) == []
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.locator("header button").last.click()


def test_attention_is_one_kernel_whose_operations_light_its_code(page, show):
    show()
    expect(kernels(page).get_by_role("button")).to_have_count(1)
    operation(page, "sub.7").click()
    expect(operation(page, "sub.7")).to_have_attribute("aria-pressed", "true")
    details = page.get_by_role("group", name="Details")
    expect(details).to_contain_text("Operation sub.7")
    expect(details).to_contain_text("f32[8,64,64,64] subtract")
    lit = page.locator("pre[aria-label=C] .row.lit")
    expect(lit.first).to_contain_text("/* exp.1 */")
    expect(page.locator(".buffer.lit")).to_have_count(1)
    details.get_by_role("button", name="exp.1", exact=True).click()
    expect(operation(page, "exp.1")).to_have_attribute("aria-pressed", "true")
    rows = page.get_by_role("group", name="Kernels and bytes").get_by_role("row")
    expect(rows.filter(has_text="deep fusion")).to_contain_text("24.0 MiB")
    expect(rows.filter(has_text="XLA")).to_contain_text("72.5 MiB")
    judge(page)


def test_operations_are_walked_by_keys(page, show):
    show()
    operation(page, "div.7").click()
    operation(page, "div.7").press("ArrowLeft")
    expect(operation(page, "div.6")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(operation(page, "dot_general.1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(operation(page, "dot_general.1")).to_have_attribute("aria-pressed", "true")
    expect(operation(page, "dot_general.1")).to_be_focused()
    assert page.locator(".graph [tabindex='0']").count() == 1


def test_code_has_a_tab_for_each_language(page, show):
    show()
    tabs = page.get_by_role("group", name="Languages").get_by_role("button")
    expect(tabs).to_have_text([one.title for one in BACKENDS.values()])
    for one in BACKENDS.values():
        expect(page.locator(f"pre[aria-label='{one.title}']")).to_be_visible()
    first = tabs.first
    first.click()
    expect(page.locator("pre[aria-label=C]")).to_have_count(0)
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(first).to_be_focused()
    first.press("Enter")
    expect(page.locator("pre[aria-label=C]")).to_contain_text("void kernel_0")


def test_a_schedule_is_picked_and_taken_back(page, show):
    show()
    expect(row(page, "row 1/64")).to_contain_text("in use")
    refused = row(page, "row 3/2")
    expect(refused.locator(".why")).to_contain_text(
        "div.7: a dimension that is no batch dimension is split (dot_general.1, dimensions 2, 3)"
    )
    expect(refused.get_by_role("button")).to_be_disabled()
    row(page, "row 1/32").get_by_role("button", name="Use row 1/32").click()
    expect(row(page, "row 1/32")).to_contain_text("in use")
    details = page.get_by_role("group", name="Details")
    expect(details).to_contain_text("row 1/32, chosen by hand: 256 blocks")
    page.get_by_role("button", name="Fusion's choice").click()
    expect(row(page, "row 1/64")).to_contain_text("in use")
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "row 1/32")).to_contain_text("in use")
    page.get_by_label("only those that fit").check()
    expect(row(page, "row 3/2")).to_have_count(0)


def test_schedules_are_timed(page, show):
    backend = show(text=SOFTMAX)
    page.get_by_role("button", name="Time operations").click()
    best = page.locator("tr.best")
    expect(best.locator("td.time").last).to_have_text(re.compile(r"\d [nµm]s"))
    expect(page.get_by_role("status").filter(has_text="takes the least time of y")).to_be_visible()
    expect(row(page, "row 0/8").locator("td.time").first).to_have_text(re.compile(r"\d [nµm]s"))
    page.get_by_role("button", name="Measure this module").click()
    expect(page.get_by_text("Measured in turns on this server")).to_be_visible()
    expect(page.locator("circle.measured")).to_have_count(1)
    assert backend.part("end_to_end")["measured"]["fusable_ratio"] == 1


def test_what_is_typed_stays_when_an_answer_comes_late(page, show):
    show()
    expect(page.locator(".buffer.share")).to_have_count(2)
    field = page.get_by_label("Limit of shared memory in bytes")
    field.fill("12")
    sharing = page.get_by_label("Sharing of space")
    sharing.evaluate("one => { one.value = 'none'; one.dispatchEvent(new Event('change')) }")
    expect(page.locator(".buffer.share")).to_have_count(0)
    expect(field).to_be_focused()
    expect(field).to_have_value("12")
    field.fill("1024")
    field.press("Enter")
    line = page.get_by_role("slider", name="Limit of shared memory", exact=True)
    expect(line).to_have_attribute("aria-valuetext", "1,024 bytes")


def test_the_limit_is_moved_by_line_slider_number_and_keys(page, show):
    show()
    expect(page.locator(".buffer")).to_have_count(4)
    expect(page.locator(".buffer.share")).to_have_count(2)
    field = page.get_by_label("Limit of shared memory in bytes")
    field.fill("1024")
    field.press("Enter")
    lost = page.locator(".given .one")
    expect(lost).to_have_text([re.compile(r"exp\.1 \(16\.0 KiB\)"), re.compile("div")])
    line = page.get_by_role("slider", name="Limit of shared memory", exact=True)
    expect(line).to_have_attribute("aria-valuetext", "1,024 bytes")
    line.press("PageUp")
    expect(line).to_have_attribute("aria-valuetext", "2,048 bytes")
    expect(line).to_be_focused()
    line.press("Home")
    expect(line).to_have_attribute("aria-valuetext", "256 bytes")
    slider = page.get_by_label("Limit of shared memory, powers of two of bytes")
    slider.fill("16")
    expect(line).to_have_attribute("aria-valuetext", "65,536 bytes")
    expect(lost).to_have_count(0)
    field.fill("17000")
    field.press("Enter")
    expect(line).to_have_attribute("aria-valuetext", "17,000 bytes")
    expect(page.get_by_role("status").filter(has_text="fusing")).to_have_count(0)
    box = line.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 120, steps=4)
    page.mouse.up()
    expect(lost).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(line).to_have_attribute("aria-valuetext", "17,000 bytes")
    field.fill("much")
    field.press("Enter")
    told = page.get_by_role("status").filter(has_text="from 256 to 65,536 bytes, not much")
    expect(told).to_have_count(2)  # beside the field, too
    page.get_by_label("Sharing of space").select_option("none")
    expect(page.locator(".buffer.share")).to_have_count(0)


def test_what_was_not_fused_is_shown_with_what_is_in_the_way(page, show):
    show(example="rnn")
    details = page.get_by_role("group", name="Details")
    details.locator(".refusal").first.click()
    expect(page.locator(".node.reader")).to_have_count(1)
    expect(details.locator(".refusal[aria-pressed=true]")).to_have_count(1)
    expect(page.locator(".node.refused, .node.reader").first).to_be_in_viewport()
    page.get_by_label("Kernel", exact=True).select_option(index=0)
    expect(details).to_contain_text("Kernel 1:")
    expect(page.locator(".node.reader")).to_have_count(0)
    nodes = page.locator(".graph .node")
    few = nodes.count()
    page.get_by_label("Operations", exact=True).select_option("frame")
    expect(nodes.nth(200)).to_be_attached()
    assert nodes.count() > 4 * few
    page.get_by_label("parameters and constants").check()
    page.get_by_role("button", name="Fit into the width").click()
    page.get_by_label("Operations", exact=True).select_option("kernel")
    judge(page)


def test_kernels_are_walked_by_keys_and_frames_are_chosen(page, show):
    show(example="speech")
    page.locator(".bar.chosen").press("ArrowRight")
    page.keyboard.press("Space")
    chosen = kernels(page).locator("[aria-pressed=true]")
    expect(chosen).to_be_focused()
    expect(page.get_by_role("group", name="Details")).to_contain_text("Kernel ")
    page.get_by_label("Frame", exact=True).select_option("region_1.7")
    expect(kernels(page).get_by_role("button")).to_have_count(4)
    expect(page.get_by_role("group", name="Each frame").locator("tr.own")).to_contain_text(
        "region_1.7"
    )
    page.get_by_label("Products that are fused").select_option("all")
    expect(page.get_by_role("button", name=re.compile("a call of a library"))).to_have_count(0)
    page.get_by_label("Frames that are counted").select_option("region_2.8")
    expect(page.get_by_text(re.compile(r"Deep fusion makes 1\.0 ×"))).to_be_visible()


def test_text_is_written_refused_at_its_line_and_fused(page, show):
    show()
    area = page.get_by_label("HLO text")
    wrong = SOFTMAX.replace("subtract(x, w)", "subtract(x, q)")
    area.fill(wrong)
    expect(page.locator(".mark u")).to_be_visible()
    told = page.get_by_role("status").filter(has_text="✕")
    expect(told).to_contain_text("line 10, column")
    area.press("Control+Enter")
    expect(told).to_have_count(2)  # beside the form, too
    expect(page.locator(".mark u")).to_contain_text("q)")
    expect(kernels(page)).to_be_visible()  # what was there stays
    area.fill(SOFTMAX)
    expect(page.get_by_text("It reads well.")).to_be_visible()
    page.get_by_role("button", name="Fuse this text").click()
    expect(operation(page, "y")).to_be_visible()
    module = page.get_by_label("Module", exact=True).and_(page.locator("select"))
    expect(module.locator("option:checked")).to_have_text("text of your own: softmax")
    file = {"name": "m.hlo", "mimeType": "text/plain", "buffer": b"no module"}
    page.locator("input[type=file]").set_input_files(file)
    expect(told.first).to_contain_text("line 1, column 1")
    large = {"name": "large.hlo", "mimeType": "text/plain", "buffer": b"x" * 1_000_001}
    page.locator("input[type=file]").set_input_files(large)
    expect(page.get_by_text("1,000,001 characters, and a page takes 1,000,000")).to_be_visible()
    module.select_option("attention")
    expect(operation(page, "div.7")).to_be_visible()


def test_the_whole_is_predicted_for_any_share_and_speed_up(page, show):
    show()
    ratio = page.get_by_label("Fusable ratio, percent", exact=True)
    ratio.fill("80")
    number = page.get_by_label("Speed-up of fused kernels, times, as a number")
    number.fill("4")
    number.press("Enter")
    said = page.get_by_role("status").filter(has_text="by the paper's formula")
    expect(said).to_have_text(
        "With F = 80 % and S = 4.00 ×: 1.60 × by the paper's formula, 2.50 × by Amdahl's law."
    )
    expect(page.locator("polyline.curve")).to_have_count(2)
