"""The page of networks as a visitor uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.networks.asked import NetworkQuestion
from fuseloom_workbench.networks.backend import NetworkBackend
from fuseloom_workbench.networks.page import networks_page

from .conftest import PATIENCE, serve
from .test_axe import COLOURS, TAGS, violations

try:
    import axe_playwright_python
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    axe_playwright_python = expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def show(page):
    """Opens the page of a network; at the end its process is ended."""
    backends: list[NetworkBackend] = []

    def opened(asked: NetworkQuestion | None = None) -> None:
        def made():
            backends.append(NetworkBackend(asked))
            return networks_page(backends[-1])

        serve(page, made)
        page.get_by_role("grid", name="Loop nests").wait_for(timeout=2 * PATIENCE)

    yield opened
    for backend in backends:
        backend.close()


def node(page, name: str):
    return page.locator(".node").filter(has_text=re.compile(rf"^{name}\("))


def fill(page, label: str, text: str) -> None:
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def test_a_network_is_solved_looked_at_and_run(page, show):
    show()
    expect(page.get_by_role("radio", name="0 unsat")).to_be_visible()
    expect(page.get_by_role("radio", name="1 sat")).to_have_attribute("aria-checked", "true")
    expect(page.get_by_text("outermost loops of the producer").first).to_be_visible()
    expect(page.locator(".bracket").first).to_be_visible()
    row = page.locator("tr[data-number='4']")
    row.click()
    expect(page.get_by_text("Nest 5", exact=True)).to_be_visible()
    expect(row).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Nest 5", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Compile and run the best").click()
    expect(page.get_by_text("each compared with the reference")).to_be_visible(timeout=2 * PATIENCE)
    rows = page.get_by_role("grid", name="Loop nests").locator("tbody tr")
    expect(rows.first).to_contain_text("1.00")
    fastest = page.locator("section").filter(has=page.get_by_role("heading", name="On this CPU"))
    expect(fastest.locator("tbody tr")).to_have_count(3)
    page.get_by_role("button", name="Show the code").click()
    expect(page.get_by_label("Generated code")).to_contain_text(re.compile("for|range"))
    page.get_by_role("button", name="Simulate it on the dataflow machine").click()
    expect(page.get_by_text("matches the reference").first).to_be_visible()
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8"))
    for rules in (TAGS, COLOURS):  # light and dark
        assert violations(page.locator("main"), rules) == []
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.locator("header button").last.click()


def test_the_tree_is_changed_by_dragging_and_by_keys(page, show):
    show()
    node(page, "D").drag_to(node(page, "C"))
    expect(page.get_by_label("tree", exact=True)).to_have_value("((A B) (C D))")
    expect(page.locator(".text")).to_contain_text("X2[k,q,r,j] = C[k,q,r] * D[j,k,r]")
    node(page, "A").focus()
    page.keyboard.press("m")
    node(page, "D").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("tree", exact=True)).to_have_value("(B (C (D A)))")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("tree", exact=True)).to_have_value("((A B) (C D))")
    node(page, "R").focus()
    page.keyboard.press("s")
    expect(page.get_by_label("tree", exact=True)).to_have_value("((C D) (A B))")
    expect(node(page, "R")).to_be_focused()
    page.get_by_role("button", name="cotengra").click()
    expect(page.get_by_label("tree", exact=True)).to_have_value("cotengra")


def test_bounds_and_pins_are_chosen(page, show):
    show(NetworkQuestion.shipped("two-layer GCN"))
    expect(page.get_by_role("radio", name="1 unsat")).to_be_visible()
    page.get_by_role("button", name="Find them").click()
    use = page.get_by_role("button", name="Use the bounds")
    expect(use).to_have_count(5)
    page.get_by_role("button", name="Use the bounds X1 0, X2 2, X3 0").click()
    expect(page.get_by_text("bounds per intermediate: X1 ≤ 0, X2 ≤ 2, X3 ≤ 0")).to_be_visible()
    page.get_by_role("radio", name="0 unsat").click()
    expect(page.get_by_text("No nest: nothing satisfies what is asked.")).to_be_visible()
    page.get_by_role("slider").press("End")
    expect(page.get_by_role("radio", name="2 sat")).to_have_attribute("aria-checked", "true")
    fill(page, "Add a pin", "outermost k")
    expect(page.locator(".pin")).to_have_text(re.compile("outermost k"))
    first = page.get_by_role("grid", name="Loop nests").locator("tbody tr").first
    expect(first).to_contain_text(re.compile(r"R: k,| k,"))
    fill(page, "Add a pin", "outermost z")
    expect(page.get_by_role("status").filter(has_text="✕")).to_contain_text("z")
    page.get_by_role("button", name="Remove the pin outermost z").click()
    expect(page.locator(".pin")).to_have_count(1)


def test_what_is_wrong_is_told_and_nothing_is_lost(page, show):
    show()
    before = page.locator("tbody tr").count()
    fill(page, "einsum", "ipq,jpr->ijk")
    said = page.get_by_role("status").filter(has_text="✕")
    expect(said).to_be_visible()
    expect(page.get_by_label("einsum", exact=True)).to_have_value("ipq,jpr->ijk")
    assert page.locator("tbody tr").count() == before
    fill(page, "density", "7")
    expect(said).to_contain_text("at most 1")
    fill(page, "einsum", "ij,jk->ik")
    fill(page, "tree", "")
    fill(page, "sizes", "i=20,j=30,k=10")
    expect(page.get_by_text("X1", exact=False)).to_have_count(0)
    page.get_by_label("Network", exact=True).select_option("TTMc")
    expect(page.get_by_label("einsum", exact=True)).to_have_value("ijk,jr,ks->irs")
    wait_until(lambda: page.get_by_label("tree", exact=True).input_value() == "((A C) B)", page)
