"""The page of access patterns as a visitor uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuseloom_workbench.patterns.asked import MappingQuestion
from fuseloom_workbench.patterns.backend import PatternBackend
from fuseloom_workbench.patterns.page import patterns_page

from .conftest import PATIENCE, serve
from .test_axe import COLOURS, TAGS, violations

try:
    import axe_playwright_python
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    axe_playwright_python = expect = None

pytestmark = pytest.mark.browser

PRODUCT = """(tensor A 6 4)
(tensor B 5 4)
(compute dotProd (cartProd (access A 1) (access B 1)))"""


@pytest.fixture
def show(page):
    """Opens the page on a question; at the end its process is ended."""
    backends: list[PatternBackend] = []

    def opened(**changes) -> PatternBackend:
        def made():
            backends.append(PatternBackend(MappingQuestion().changed(changes)))
            return patterns_page(backends[-1])

        serve(page, made)
        page.get_by_role("table", name="Rules").wait_for(timeout=2 * PATIENCE)
        expect(page.get_by_text("largest error").first).to_be_visible(timeout=2 * PATIENCE)
        return backends[-1]

    yield opened
    for backend in backends:
        backend.close()


def fill(page, label: str, text: str) -> None:
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def fact(page, name: str):
    return page.locator("dl div").filter(has=page.get_by_text(name, exact=True)).locator("dd")


def test_a_convolution_is_mapped_looked_at_and_walked(page, show):
    show()
    expect(fact(page, "cycles of calls")).to_have_text("960 cycles")
    expect(page.get_by_text("Position 1 of 900")).to_be_visible()
    seen = page.locator(".plane .seen")
    expect(seen).to_have_count(9)
    first = seen.first.get_attribute("x")
    page.get_by_role("button", name="Next position").click()
    expect(page.get_by_text("Position 2 of 900")).to_be_visible()
    assert float(seen.first.get_attribute("x")) > float(first)
    page.get_by_label("Position", exact=True).fill("899")
    expect(page.get_by_text("Position 900 of 900")).to_be_visible()
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text(re.compile(r"Position \d+ of 900"))).not_to_contain_text("900 of 900")
    page.get_by_role("button", name="Pause").click()
    given = page.get_by_role("group", name="given")
    expect(given.locator(".line.new")).to_have_count(2)
    given.get_by_role("button").filter(has_text="cartProd").click()
    expect(page.get_by_text("Positions of cartProd")).to_be_visible()
    expect(page.locator("figure").filter(has_text="weights").locator(".seen").first).to_be_visible()
    page.get_by_role("button", name="Next step").click()
    expect(page.get_by_text("step 1 of 4: flatten-operands")).to_be_visible()
    after = page.get_by_role("group", name="after the step")
    expect(after.locator(".marked").first).to_be_visible()
    page.get_by_role("button", name="First and last term").click()
    expect(given).to_be_visible()
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8"))
    for rules in (TAGS, COLOURS):  # light and dark
        assert violations(page.locator("main"), rules) == []
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.locator("header button").last.click()


def test_the_array_is_changed_and_calls_are_shown_in_time(page, show):
    show(kernel="matmul", rows=16, columns=16)
    expect(fact(page, "calls")).to_have_text("4")
    expect(page.locator("svg .call")).to_have_count(4)
    page.locator("svg .call .stream").nth(2).hover()
    expect(page.get_by_text(re.compile(r"call 3 of 4: 16 × 16 weights"))).to_be_visible()
    page.get_by_label("rows of the array, powers of two").press("ArrowRight")
    expect(fact(page, "calls")).to_have_text("2")
    fill(page, "columns", "32")
    expect(fact(page, "calls")).to_have_text("1")
    page.get_by_role("button", name="Undo").click()
    expect(fact(page, "calls")).to_have_text("2")
    fill(page, "columns", "0")
    expect(page.get_by_role("status").filter(has_text="✕")).to_contain_text("from 1 to 512")
    expect(fact(page, "calls")).to_have_text("2")
    page.get_by_role("button", name="Compare arrays and buffers").click()
    best = page.locator("tr.best")
    expect(best).to_have_count(1, timeout=2 * PATIENCE)
    best.get_by_role("button", name="Use").click()
    expect(fact(page, "calls")).to_have_text("1")


def test_a_term_is_written_with_its_shapes_and_faults(page, show):
    show(kernel="matmul")
    area = page.get_by_label("Term", exact=True)
    text = area.input_value()
    area.fill(text.replace("(list 1 0)", "(list 1 1)"))
    said = page.get_by_role("status").filter(has_text="no permutation")
    expect(said).to_contain_text("line 6")
    expect(page.locator(".mark u")).to_contain_text("(transpose")
    expect(page.get_by_role("button", name="Map this term")).to_be_disabled()
    area.fill(PRODUCT)
    shapes = page.get_by_role("group", name="Shapes of the parts")
    expect(shapes.locator(".line").first).to_be_visible()
    area.press("Control+Enter")
    expect(page.get_by_role("group", name="given").locator(".line").first).to_contain_text("6×5")
    expect(page.get_by_text("6 × 4: 4 of 24 seen")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(area).to_have_value(text)


def test_rules_are_switched_checked_and_written(page, show):
    show(kernel="matmul")
    rules = page.get_by_role("table", name="Rules")
    rules.get_by_label("Use systolic-array").uncheck()
    expect(page.get_by_text("not mapped: ((32, 32), ())")).to_be_visible()
    page.get_by_role("button", name="All on").click()
    expect(fact(page, "calls")).to_have_text("1")
    rules.get_by_role("button", name="Check box-of-box").click()
    expect(page.get_by_text("box-of-box held in 300 random instances")).to_be_visible()
    page.get_by_text("Rules of your own").click()
    page.get_by_label("Your rules").fill('(rule swap "x" (concat ?a ?b ?d) => (concat ?b ?a ?d))')
    page.get_by_role("button", name="Use these rules").click()
    rules.get_by_role("button", name="Check swap").click()
    expect(page.get_by_text("swap is unsound")).to_be_visible()


def test_the_e_graph_is_walked_class_by_class(page, show):
    show(kernel="matmul", rows=16, columns=16)
    expect(page.get_by_text("saturated: nothing new")).to_be_visible()
    growth = page.get_by_role("group", name=re.compile("Nodes and classes after each"))
    growth.get_by_label("Iteration 1", exact=True).focus()
    expect(page.get_by_text(re.compile("iteration 1: .*split-vectors"))).to_be_visible()
    heading = page.locator(".around .steps b")
    root = heading.inner_text()
    page.locator(".around section").last.get_by_role("button").first.click()
    expect(heading).not_to_have_text(root)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(heading).to_have_text(root)
    page.get_by_label("Iterations", exact=True).fill("2")
    expect(page.get_by_text("stopped by the limit of iterations")).to_be_visible()


def test_a_network_is_mapped_layer_by_layer(page, show):
    show(network="lenet")
    page.get_by_label("Layer", exact=True).select_option("2")
    expect(fact(page, "calls")).to_have_text("3")  # of the layer that was chosen
    page.get_by_role("button", name="Map every layer").click()
    layers = page.get_by_role("group", name="Layers")
    expect(layers.locator("tbody tr")).to_have_count(7, timeout=2 * PATIENCE)
    expect(layers).to_contain_text("max_pool2d")
