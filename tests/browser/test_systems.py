"""The page of all systems as a visitor uses it."""

from __future__ import annotations

import re

import pytest

from fuseloom_workbench.base.page import PAGE_LINKS
from fuseloom_workbench.systems.asked import SystemsQuestion
from fuseloom_workbench.systems.backend import SystemsBackend
from fuseloom_workbench.systems.page import systems_page

from .conftest import PATIENCE, serve
from .test_axe import COLOURS, TAGS, load_axe, violations

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser

FLOPS = {
    "dataflow": {"unfused": "9,248 FLOPs", "full": "42,016 FLOPs", "found": "9,248 FLOPs"},
    "contraction": {"unfused": "9,248 FLOPs", "n-ary": "54,096 FLOPs", "fused": "9,248 FLOPs"},
    "access": {"mapped": "29,376 FLOPs"},
    "calls": {"unfused": "29,376 FLOPs"},
    "stitch": {"XLA's rules": "29,376 FLOPs", "stitched": "29,376 FLOPs"},
}
"""Arithmetic of a layer of a graph network: of what is stored, and of every element."""
SMALL = "A: 6x4 csr\nB: 4x5 dense\nC[i,j] = A[i,k] * B[k,j]"


@pytest.fixture
def show(page):
    """Opens the page on a question; at the end its process is ended."""
    backends: list[SystemsBackend] = []

    def opened(asked: SystemsQuestion) -> SystemsBackend:
        def made():
            backends.append(SystemsBackend(asked))
            return systems_page(backends[-1], tuple(PAGE_LINKS))

        serve(page, made)
        expect(text_of(page)).to_have_value(re.compile(r".*=", re.DOTALL), timeout=2 * PATIENCE)
        return backends[-1]

    yield opened
    for backend in backends:
        backend.close()


def text_of(page):
    return page.get_by_label("Text of the program")


def rows_of(page, system: str):
    return page.locator(f"table[aria-label=Comparison] tbody[data-system={system}] tr")


def compare(page) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(rows_of(page, "stitch").first).to_contain_text("FLOPs", timeout=4 * PATIENCE)
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden(timeout=2 * PATIENCE)


def test_a_layer_is_compared_by_every_system(page, show):
    show(SystemsQuestion("mttkrp"))
    page.get_by_label("Program", exact=True).select_option("gcn_layer")
    expect(text_of(page)).to_have_value(re.compile("program gcn_layer"))
    compare(page)
    for system, ways in FLOPS.items():
        for way, flops in ways.items():
            name = re.compile(f"^{way}")
            row = rows_of(page, system).filter(has=page.get_by_role("rowheader", name=name))
            expect(row.get_by_text(flops, exact=True)).to_be_visible()
    expect(rows_of(page, "dataflow").first).to_contain_text("5,317 cycles")
    bars = page.get_by_role("table", name="Bars of all systems")
    expect(bars.locator("i.again").first).to_be_visible()
    link = page.get_by_role("link", name="Open in Tensor networks")
    assert link.get_attribute("href").startswith("networks?einsum=ab%2Cbc%2Cda-%3Edc")
    command = page.get_by_label("Command: Calls", exact=True)
    expect(command).to_have_text("fuseloom compare gcn_layer --seed 0 --system calls")
    assert page.url.endswith("?example=gcn_layer&seed=0")
    load_axe(page)
    for rules in (TAGS, COLOURS):  # light and dark
        assert violations(page.locator("html"), rules) == []
        for width in (1024, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert wide[0] <= wide[1], width
        page.get_by_label("Light or dark").click()


def test_a_fault_leaves_the_table_and_the_text(page, show):
    show(SystemsQuestion(text=SMALL))
    compare(page)
    table = page.get_by_role("table", name="Comparison")
    expect(rows_of(page, "dataflow").first).to_contain_text("1 kernel")
    before = table.inner_text()
    wrong = SMALL.replace("B[k,j]", "B[k,j")
    text_of(page).fill(wrong)
    text_of(page).press("Control+Enter")
    told = page.get_by_role("status").filter(has_text="✕")
    expect(told).to_contain_text("line 3, column 24")
    expect(page.locator(".mark u")).to_be_visible()
    expect(text_of(page)).to_have_value(wrong)
    assert table.inner_text() == before
    page.get_by_label("Program", exact=True).select_option("mlp_block")  # undo has the text back
    expect(text_of(page)).to_have_value(re.compile("program mlp_block"))
    page.get_by_role("button", name="Undo").click()
    expect(text_of(page)).to_have_value(wrong)
    text_of(page).fill(SMALL.replace("6x4", "7x4"))
    expect(page.get_by_text("It reads well.")).to_be_visible()
    page.get_by_role("button", name="Compare again").click()  # also what is known
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status").filter(has_text="cancelled")).to_be_visible()
    expect(text_of(page)).to_have_value(SMALL.replace("6x4", "7x4"))


def test_a_file_takes_the_place_of_the_text_and_undo_has_it_back(page, show, tmp_path):
    show(SystemsQuestion("mttkrp"))
    text_of(page).fill("a draft")
    mine, data = tmp_path / "mine.loom", tmp_path / "a.mtx"
    mine.write_text(f"program mine\n{SMALL}")
    data.write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    chosen = page.locator("input[type=file]")
    chosen.set_input_files(data)
    files = page.get_by_role("group", name="Files")
    expect(files).to_contain_text("✕ a.mtx: Matrix Market, and this page opens program text")
    expect(text_of(page)).to_have_value("a draft")
    chosen.set_input_files(mine)
    expect(files).to_contain_text("mine.loom (program text): its text is the program now")
    expect(text_of(page)).to_have_value(f"program mine\n{SMALL}")
    expect(page.get_by_label("Command: All", exact=True)).to_have_text(
        "fuseloom compare mine.loom --seed 0"
    )
    page.get_by_role("button", name="Undo").click()
    expect(text_of(page)).to_have_value("a draft")


def test_the_header_leads_home_and_the_address_is_kept(page, show):
    show(SystemsQuestion("conv_block", seed=7))
    expect(page.get_by_role("heading", level=1)).to_have_text(PAGE_LINKS["compare"].title)
    page.wait_for_url("**/?example=conv_block&seed=7")
    seed = page.get_by_label("seed of random data")
    seed.fill("many")
    seed.press("Enter")
    told = page.get_by_role("status").filter(has_text="✕")
    expect(told).to_contain_text("a seed is an integer from 0")
    expect(seed).to_have_value("many")
    seed.fill("8")
    seed.press("Enter")
    page.wait_for_url("**/?example=conv_block&seed=8")
    page.get_by_label("Fuseloom: pages").click()
    there = page.get_by_role("navigation", name="Pages")
    expect(there.get_by_role("link", name=PAGE_LINKS["compare"].title)).to_have_attribute(
        "aria-current", "page"
    )
    expect(there.get_by_role("link", name="Home")).to_have_attribute("href", "./")
