"""The page of the paper's figures as a visitor uses it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

import panel as pn
import pytest
from panel.tests.util import wait_until

from fuseloom.dataflow.compiler import compile_program
from fuseloom.experiments import figure
from fuseloom.experiments.jobs import schedule_text
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.registry import RECIPES
from fuseloom.experiments.workloads import load
from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.base.tokens import tokens
from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.figures.page import FiguresPage, explorer_link, figures_page
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session

from .conftest import PATIENCE, box_of, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs.sqlite"


def show(page, store) -> None:
    serve(page, lambda: figures_page(store))
    page.get_by_text("Dataflow orders of a nested product").first.wait_for(timeout=2 * PATIENCE)


def pick(page, label: str, option: str, *, exact: bool = False) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("menuitem", name=option, exact=exact).click()


def click_bar(page, share: float) -> None:
    """Click low in a plot, at a share of its width; bars stand on its lower edge."""
    box = box_of(page.locator(".bk-Canvas").first)
    page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.52 * box["height"])


def test_a_figure_is_simulated_looked_at_and_changed(page, store):
    show(page, store)
    expect(page.get_by_text("not run yet")).to_be_visible()
    page.get_by_role("button", name="Simulate what is missing").click()
    verdict = page.locator("tr.good").first
    expect(verdict).to_contain_text("holds", timeout=2 * PATIENCE)
    expect(page.get_by_text("all of it is there")).to_be_visible()
    click_bar(page, 0.17)
    expect(page.get_by_text("nested ikjl, full").first).to_be_visible()
    expect(page.get_by_text("simulated; matches the dense reference").first).to_be_visible()
    pick(page, "lanes", "2", exact=True)
    expect(page.get_by_text(re.compile(r"times the point's.*\(estimated\)"))).to_be_visible(
        timeout=2 * PATIENCE
    )
    expect(page.get_by_text("all of it is there")).to_be_visible()
    page.get_by_role("button", name="Simulate this point").click()
    expect(page.get_by_text(re.compile(r"times the point's.*\(simulated; matches"))).to_be_visible(
        timeout=2 * PATIENCE
    )
    for _ in range(2):  # light and dark
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        page.get_by_label("Light or dark").click()


def grounds(page) -> set[str]:
    """Colours behind the plots of a page."""
    return set(
        page.evaluate(
            "() => [...document.querySelectorAll('*')].length && Bokeh.documents.flatMap(d => "
            "[...d._all_models.values()]).filter(m => m.type === 'Figure')"
            ".map(m => m.background_fill_color)"
        )
    )


def test_plots_have_the_colours_of_the_page(page, store):
    """Also those that came later, and those of a page that was dark at first."""
    for number in ("18", "15"):
        figure(number, "smoke", store=store)
    page.emulate_media(color_scheme="dark")
    show(page, store)
    expect(page.get_by_text("all of it is there")).to_be_visible()
    wait_until(lambda: grounds(page) == {tokens("dark")["pane"]}, page, timeout=PATIENCE)
    pick(page, "Figure", RECIPES["15"].title)
    expect(page.locator("canvas, .bk-Canvas")).not_to_have_count(0)
    wait_until(lambda: grounds(page) == {tokens("dark")["pane"]}, page, timeout=PATIENCE)
    page.get_by_label("Light or dark").click()
    wait_until(lambda: grounds(page) == {tokens("light")["pane"]}, page, timeout=PATIENCE)


def test_the_address_keeps_the_figure(page, store):
    show(page, store)
    pick(page, "Figure", RECIPES["9"].title)
    expect(page.get_by_text("nothing of it is run")).to_be_visible()
    expect(page.get_by_text("Click a point of ours")).to_be_hidden()
    expect(page.get_by_role("button", name="Simulate what is missing")).to_be_disabled()
    page.wait_for_url("**figure=9*")
    page.reload()
    expect(page.get_by_text(RECIPES["9"].text[:60])).to_be_visible(timeout=2 * PATIENCE)


def test_what_is_measured_can_be_simulated(page, store):
    """The cycles of hardware are kept with the engine; those of the simulator are not."""
    serve(page, lambda: figures_page(store))
    page.goto(f"{page.url}?figure=13")
    expect(page.get_by_text("which can be simulated")).to_be_visible(timeout=2 * PATIENCE)
    expect(page.get_by_role("button", name="Estimate what is missing")).to_be_disabled()
    page.get_by_role("button", name="Simulate what is missing").click()
    expect(page.get_by_text("all of it is there")).to_be_visible(timeout=4 * PATIENCE)
    expect(page.get_by_text("with equal cycles").first).to_be_visible()
    expect(page.get_by_role("button", name="Simulate what is missing")).to_be_disabled()


def test_tables_and_graphs_are_those_of_the_bench(page, store):
    serve(page, lambda: figures_page(store))
    page.goto(f"{page.url}?figure=9")
    table = page.get_by_role("grid", name=re.compile("N1..N2"))
    expect(table).to_be_visible(timeout=2 * PATIENCE)
    expect(page.locator("g.node").first).to_be_visible(timeout=2 * PATIENCE)
    link = page.get_by_role("link", name="open N1..N2 in the explorer").first
    words = dict(parse_qsl(link.get_attribute("href").partition("?")[2]))
    assert words["schedule"] == "fuse N1..N2; order N1..N2: i,l,q,m; locate off; repeat references"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.fuzz)])
def test_figures_open(page, store, every):
    """Missing results can be estimated; texts are shown."""
    figure("5", "smoke", store=store)
    show(page, store)
    for recipe in [*RECIPES.values()][::every]:
        pick(page, "Figure", recipe.title)
        expect(page.get_by_text(recipe.text[:60]).first).to_be_visible()
    pick(page, "Figure", RECIPES["5"].title)
    expect(page.get_by_text("all of it is there")).to_be_visible()
    expect(page.locator("tr.good").first).to_contain_text("holds")
    pick(page, "Figure", RECIPES["16a"].title)
    page.get_by_role("button", name="Estimate what is missing").click()
    expect(page.get_by_text("all of it is there")).to_be_visible(timeout=2 * PATIENCE)


def test_a_point_opens_in_the_explorer(page):
    """The link's address makes the explorer's page ask for that configuration."""
    point = RECIPES["12"].configurations(ExperimentSize.SMOKE, AccountingMode.PAPER)[
        "gcn.karate.full"
    ]
    words = dict(parse_qsl(explorer_link(point).partition("?")[2]))
    backend = LocalBackend(Session("gcn", "karate"))
    for name, *arguments in requests_of(words):
        backend.ask(name, *arguments)
    serve(page, lambda: explorer(backend))
    expect(page.locator(".caption").first).to_contain_text("T1..Y")


def smoke() -> list[Any]:
    """A configuration of every workload and order, at its smallest; some orders are of ``fuzz``."""
    found = {
        (c.workload, c.data): c
        for recipe in RECIPES.values()
        for mode in AccountingMode
        for c in recipe.configurations(ExperimentSize.SMOKE, mode).values()
    }
    first = dict(reversed(found))
    return [
        pytest.param(
            point,
            id=f"{workload}-{data}",
            marks=[pytest.mark.fuzz] * (first[workload] != data),
        )
        for (workload, data), point in found.items()
    ]


@pytest.mark.parametrize("point", smoke())
def test_the_explorer_has_the_same_program_data_and_schedule(point):
    words = dict(parse_qsl(explorer_link(point).partition("?")[2], keep_blank_values=True))
    session = Session("gcn", "karate")
    for name, *arguments in requests_of(words):
        carry_out(session, name, arguments)
        assert session.ok, session.message
    given, opened = load(point), session.design.source
    assert opened.model.program == given.model.program
    for name, stored in given.data.items():
        assert opened.data[name].content_hash() == stored.content_hash(), name
    made = compile_program(given.model.program, schedule_text(point, given.model))
    assert [r.name for r in session.regions] == [r.name for r in made.regions]


def test_a_page_that_is_gone_ends_its_worker(store):
    shown = FiguresPage(store, post=lambda what: None)
    thread = shown.bench.thread
    shown.close()
    thread.join(timeout=PATIENCE / 1000)
    assert not thread.is_alive()
    assert isinstance(pn.Row(shown), pn.Row)
