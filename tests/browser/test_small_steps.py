"""Small steps on the bench: one bench on the GCN, put back to its start before each test."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.state import files
from fuseloom_workbench.state.saving import save
from tests.workbench.input.files import hostile, market, saved

from ..workbench.outcomes import outcome
from .conftest import PATIENCE, box_of

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
DESIGN = "gcn", "karate"
LONG = 2 * PATIENCE
VIEWS = ("Graph", "Costs", "Why", "Timeline", "Streams", "Memory", "Search", "Input")


def until(page, condition) -> None:
    wait_until(condition, page, timeout=LONG)


def open_view(page, name: str):
    """A tab's view, opened."""
    page.get_by_role("tab", name=name, exact=True).click()
    view = page.get_by_role("tabpanel", name=name, exact=True)
    expect(view).to_be_visible()
    return view


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (2560, 1440)])
def test_at_200_percent_nothing_is_cut_off(bench, width, height):
    page = bench.page
    page.set_viewport_size({"width": width // 2, "height": height // 2})  # as a browser enlarges
    expect(page.locator("section.region")).to_have_count(2)
    page.locator(".app").evaluate("app => app.scrollTo(0, 0)")
    expect(page.locator("[data-action=run]")).to_be_in_viewport()
    for name in VIEWS:
        view = open_view(page, name)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], name
        view.scroll_into_view_if_needed()
        at = box_of(view)
        assert at["x"] >= 0, name
        assert at["x"] + at["width"] <= width / 2 + 1, name
        assert at["height"] > 100, name
        expect(page.locator("[data-action=run]")).to_be_in_viewport()
    assert box_of(page.locator("[data-pane=table]"))["height"] > 200


def test_steps_have_factors_and_are_undone_and_done_again(bench):
    page, session = bench.page, bench.session
    before = session.estimate.cycles
    page.locator("[data-preset=full]").click()
    step = page.locator(".step").last
    until(page, lambda: session.cuts == ())
    factor = before / session.estimate.cycles
    expect(step).to_contain_text(f"{factor:.2f}×")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("section.region")).to_have_count(2)
    assert session.travels == (False, True)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.get_by_role("button", name="Redo").click()
    expect(page.locator("section.region")).to_have_count(1)
    assert session.travels == (True, False)
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()


def test_python_moves_the_page(bench):
    page, session = bench.page, bench.session
    assert session.move_boundary(4, 3)
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    expect(page.locator("table[role=grid]")).to_have_attribute(
        "aria-label", re.compile(r"T1\.\.T3")
    )
    nodes = page.get_by_role("tabpanel", name="Graph").locator("g.node")
    expect(nodes).to_have_count(len(session.current.graph.nodes))
    session.select_region(1)
    expect(page.locator("section.region.shown")).to_contain_text("H..Y")
    session.preset("unfused")
    expect(page.locator("section.region")).to_have_count(8)


def test_regions_are_split_and_merged_with_the_mouse(bench):
    page, session = bench.page, bench.session
    page.locator("button.seam[data-gap='2']").click()
    expect(page.locator("section.region")).to_have_count(3)
    assert session.cuts == (2, 4)
    page.locator("button.bar[data-gap='4']").click()
    expect(page.locator("section.region")).to_have_count(2)
    assert session.cuts == (2,)
    expect(page.locator(".caption").first).to_contain_text(
        f"est. {session.estimate.regions[0].cycles:,.0f} cycles"
    )


def test_each_region_is_compared_with_run_a(bench):
    page, session = bench.page, bench.session
    session.finish(session.built, outcome(1_000, session=session))
    session.pin(0)
    session.set_order(0, ["i", "k", "p", "n"])
    session.finish(session.built, outcome(1_500, session=session))
    against = page.locator(".caption .figure.down")
    expect(against).to_have_count(1)
    expect(against).to_contain_text("against A")
    expect(page.locator(".out .down")).to_contain_text("1.50× slower than A (partial)")


def test_dark_reaches_every_view(bench):
    page, session = bench.page, bench.session
    session.finish(session.built, outcome(1_000, session=session))
    page.get_by_label("Light or dark").click()
    expect(page.locator("[data-pane=rail]")).to_have_css("background-color", "rgb(23, 29, 36)")
    light = """view => {
      const all = root => [...root.querySelectorAll('*')].flatMap(
        e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
      return all(view).filter(e => e.getClientRects().length && e.clientWidth > 60)
        .map(e => getComputedStyle(e).backgroundColor).filter(c => {
          const [r, g, b, a = 1] = (c.match(/[\\d.]+/g) || []).map(Number)
          return c.startsWith('rgb') && a > .5 && Math.min(r, g, b) > 200 }).length }"""
    try:
        for name in VIEWS:
            assert open_view(page, name).evaluate(light) == 0, f"{name} has a light ground"
    finally:
        page.get_by_label("Light or dark").click()
    expect(page.locator("[data-pane=rail]")).to_have_css("background-color", "rgb(255, 255, 255)")


def test_an_empty_view_says_what_to_do(bench):
    page = bench.page
    says = {
        "Costs": "Press Run",
        "Why": "Press Run",
        "Timeline": "Run to see",
        "Memory": "Choose hbm2 or ddr4",
        "Search": "Start search",
        "Input": "Open a file",
    }
    for name, text in says.items():
        expect(open_view(page, name).get_by_text(text).first).to_be_visible()
    expect(page.locator("[data-pane=rail]")).to_contain_text("Press Run: each design")
    expect(page.locator("[data-pane=details]")).to_contain_text("Select a cell")


@pytest.mark.fuzz  # waits for four runs; each button of one run has a test of its own
def test_every_preset_is_run_by_one_button(bench):
    page, session = bench.page, bench.session
    start = session.design
    view = open_view(page, "Costs")
    view.get_by_role("button", name="Run presets").click()
    expect(view.locator(".series")).to_contain_text("of 4")
    for count in range(1, 5):  # each takes its time where processes that give way get little
        until(page, lambda n=count: len(session.records) >= n)
    expect(view.locator(".series")).to_have_text("Every preset was run.")
    expect(view.locator("tr[data-run]")).to_have_count(4)
    assert [run.name for run in session.records.values()] == list(session.presets)
    assert all(run.run.ok for run in session.records.values())
    until(page, lambda: session.design == start)
    expect(view.locator("[data-plot=roofline] .roof").first).to_be_attached()
    unfused = next(r for r in session.records.values() if r.name == "unfused").run.cycles
    factor = unfused / session.record.run.cycles
    expect(view.locator("tr.current")).to_contain_text(f"{factor:.2f}×")


def test_a_node_tells_its_statement_and_its_streams(bench):
    page, session = bench.page, bench.session
    node = next(n for n in session.current.graph.nodes if n.label == "Acc1_p")
    session.select_node(node.id)
    details = page.locator(".node-details")
    expect(details).to_contain_text("sparse accumulator")
    expect(details).to_contain_text("T2[i,n] = T1[i,p] * W1[p,n]")
    expect(details).to_contain_text("values")
    expect(page.locator("g.node.selected:visible")).to_contain_text("Acc1_p")


def test_a_hover_shows_what_a_reference_refers_to(bench):
    page = bench.page
    source = page.locator("[data-cell='A.i']")
    page.locator("[data-cell='T1.i']").hover()
    expect(source).to_have_class(re.compile("target"))
    page.mouse.move(5, 5)
    expect(source).not_to_have_class(re.compile("target"))
    page.locator("[data-cell='T1.i']").focus()
    expect(source).to_have_class(re.compile("target"))


def test_an_arrow_of_the_partial_order_names_its_tensor(bench):
    page, session = bench.page, bench.session
    told = page.locator(".pog .edge title").evaluate_all("all => all.map(t => t.textContent)")
    assert len(told) == len({(e.outer, e.inner) for e in session.current.pog.edges})
    assert any("i outside k" in text and "A is stored (i, k)" in text for text in told)


def test_another_machine_is_chosen_and_its_parameters_have_units(bench):
    page, session = bench.page, bench.session
    page.get_by_label("Name", exact=True).or_(
        page.get_by_label("Machine", exact=True)
    ).first.select_option("hbm2")
    until(page, lambda: session.machine.name == "hbm2")
    view = open_view(page, "Input")
    view.get_by_text("Parameters of the machine").click()
    expect(view.locator("[data-field=alu_latency]")).to_be_visible()
    expect(view.locator(".field:has([data-field=alu_latency])")).to_contain_text("cycles")
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: session.machine.name == "default")


def test_files_are_taken_and_refused_on_the_bench(bench, tmp_path, monkeypatch):
    page, session = bench.page, bench.session
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    view = open_view(page, "Input")

    def choose(name: str, content: bytes) -> None:
        view.locator("input[type=file]").first.set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        )

    said = view.locator(".said").first
    before = session.design
    for what in ("pickle", "shape that lies", "graph that is torn", "JSON that is torn"):
        name, content, word = hostile()[what]
        choose(name, content)
        expect(said).to_contain_text(word)
    assert session.design == before
    matrix = np.zeros((16, 4), np.float32)
    matrix[5, 3] = 2
    for name, content in (("w.mtx", market(matrix)), ("w.npz", saved(2 * matrix))):
        choose(name, content)
        value = 2 if name == "w.mtx" else 4
        until(page, lambda value=value: session.built.data["W2"].to_dense()[5, 3] == value)
    program = b"A: 3x3 csr\nx: 3 dense\ny[i] = A[i,j] * x[j]\n"
    choose("own.loom", program)
    until(page, lambda: session.design.text is not None)
    expect(page.locator(".kernel")).to_have_count(1)
    expect(page.locator("[data-pane=rail]")).to_contain_text("A program of your own has no presets")
    choose("session.json", json.dumps(bench.start).encode())
    until(page, lambda: session.design == before)
    expect(page.locator("section.region")).to_have_count(2)


def test_what_is_looked_at_outlives_a_reload(bench):
    page, session = bench.page, bench.session
    session.finish(session.built, outcome(1_234, session=session))
    session.pin(0)
    session.move_boundary(4, 3)
    session.select_node(3)
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    open_view(page, "Costs")
    kept = save(session)
    page.wait_for_function(
        "() => Object.values(sessionStorage).some(text => text.includes('\"node\": 3'))"
    )
    page.reload()
    expect(page.get_by_role("tab", name="Costs")).to_have_attribute(
        "aria-selected", "true", timeout=LONG
    )
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible(timeout=LONG)
    expect(page.locator("tr[data-run='0']")).to_contain_text("1,234")
    until(page, lambda: save(session) == kept)


def test_until_it_is_drawn_a_page_shows_its_panes_empty(bench):
    page = bench.page
    page.reload(wait_until="commit")
    ground = "getComputedStyle(document.body, '::before').backgroundImage"
    page.wait_for_function(f"() => document.body && ({ground}).includes('linear-gradient')",
                           polling=5)  # fmt: skip
    page.locator("g.node:visible").first.wait_for(timeout=LONG)
    assert page.evaluate(ground) == "none"


def test_a_suggestion_of_lanes_is_applied_and_undone(bench):
    page, session = bench.page, bench.session
    open_view(page, "Why")
    before = session.estimate.cycles
    button = page.locator("tr button[data-apply*='in 2 lanes']")
    button.click(timeout=LONG)
    until(page, lambda: "parallel T1..H: i by 2" in session.built.resolved)
    assert session.estimate.cycles < before
    expect(page.locator("[data-promise=open]")).to_contain_text(
        f"promised est. {session.estimate.cycles:,.0f}"
    )
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-promise]")).to_have_count(0)
    assert session.estimate.cycles == before


def test_the_critical_path_and_a_map_lie_over_the_graph(bench):
    page, session = bench.page, bench.session
    page.keyboard.press("Control+Enter")
    until(page, lambda: session.record is not None and session.record.run.ok)
    view = open_view(page, "Graph")
    view.get_by_label("critical path", exact=True).check()
    expect(view.locator("g.node.critical").first).to_be_visible()
    path = view.locator("g.node.critical").evaluate_all("all => all.map(n => n.id)")
    assert 0 < len(path) < len(session.current.graph.nodes)
    page.get_by_role("button", name="Readable size").click()
    small = view.locator(".map")
    expect(small).to_be_visible()
    picture = view.locator("svg.picture")
    before = picture.get_attribute("style")
    at = box_of(small)
    page.mouse.click(at["x"] + at["width"] - 4, at["y"] + at["height"] / 2)
    expect(picture).not_to_have_attribute("style", before)
