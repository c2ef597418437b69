"""Failures as a visitor sees them: a line is cut, a disk is full, a run is of old."""

from __future__ import annotations

import errno
import json
import sqlite3
from pathlib import Path

import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.input.panels import UploadPanel
from fuseloom_workbench.state import files
from fuseloom_workbench.state.saving import save
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.shared import look
from tests.workbench.input.files import market
from tests.workbench.state.test_shared import put

from ..workbench.outcomes import outcome
from .conftest import PATIENCE, patient, serve, show, visited
from .test_explorer import centre, drag

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
LONG = 2 * PATIENCE
LINES = """
  window.lines = []
  window.WebSocket = class extends WebSocket {
    constructor(...given) { super(...given); window.lines.push(this) }
  }
"""


LAYERS = ["T0[i,j] = relu(A[i,j])", *(f"T{k}[i,j] = relu(T{k - 1}[i,j])" for k in range(1, 250))]
SUM = "Y[i,j] = " + " + ".join(f"T{k}[i,j]" for k in range(40))
ADDENDS = [*(f"T{k}[i,j] = {k + 2} * A[i,j]" for k in range(40)), SUM]


@pytest.mark.parametrize("statements", [LAYERS, ADDENDS], ids=["in a row", "side by side"])
def test_the_overview_of_many_kernels_draws_each(own_page, statements):
    session = Session("gcn", "karate")
    assert session.set_program("\n".join(["A: 8x8 csr", *statements])), session.message
    show(own_page, session)
    for width in (1440, 1024):
        own_page.set_viewport_size({"width": width, "height": 768})
        dots = own_page.locator("g.dot rect")
        expect(dots).to_have_count(len(session.built.units))
        sizes = dots.evaluate_all(
            "all => all.map(r => [r.width, r.height].map(a => a.baseVal.value))"
        )
        assert all(w > 0.5 and h > 0.5 for w, h in sizes), sizes[:3]
        own_page.keyboard.press("e")  # out of sight it draws nothing wrong
        expect(dots.first).to_be_hidden()
        own_page.keyboard.press("e")
        expect(dots.first).to_be_visible()


def test_a_line_that_is_cut_during_a_drag_loses_nothing(browser):
    context = patient(browser)  # a lost line is an error on the console
    page = context.new_page()
    page.add_init_script(LINES)
    session = show(page, Session("gcn", "karate"))
    session.finish(session.built, outcome(1_234, session=session))
    expect(page.locator("div[data-run]")).to_have_count(1)
    before = session.design
    bar, goal = page.locator("button.bar[data-gap='4']"), page.locator(".gap[data-gap='3']")
    (x, y), (to, _) = centre(bar), centre(goal)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + to) / 2, y, steps=4)
    page.evaluate("window.lines.forEach(line => line.close())")
    lost = page.locator(".line.lost")
    expect(lost).to_contain_text("The connection to the server was lost", timeout=LONG)
    page.mouse.move(to, y, steps=4)
    page.mouse.up()
    assert session.design == before, "what was asked for without a line is not half done"
    lost.get_by_role("button", name="Reconnect").click()
    expect(page.locator("button.bar[data-gap='4']")).to_be_visible(timeout=LONG)
    expect(lost).to_have_count(0)
    expect(page.locator("div[data-run]")).to_have_count(1)
    drag(page, centre(page.locator("button.bar[data-gap='4']")), centre(goal))
    expect(page.locator("button.bar[data-gap='3']")).to_be_visible()
    wait_until(lambda: session.cuts == (3,), page, timeout=LONG)
    context.close()


def test_a_full_disk_is_said_and_the_session_goes_on(page, tmp_path, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "uploads"))
    session = visited(page, Session("gcn", "karate"), UploadPanel)
    page.get_by_role("button", name="Open a file").wait_for(timeout=LONG)
    said = page.locator(".said")
    matrix = session.built.data["W2"].to_dense()
    chosen = {"name": "w.mtx", "mimeType": "text/plain", "buffer": market(2 * matrix)}
    opened = Path.open

    def full(path, mode="r", *more, **named):
        if "uploads" in str(path) and mode != "r":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return opened(path, mode, *more, **named)

    before = session.built
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        page.set_input_files("input[type=file]", chosen)
        expect(said).to_contain_text("w.mtx: it cannot be kept: No space left on device")
        assert str(tmp_path) not in said.inner_text(), "no path of this machine"
        assert session.built is before
        assert not list((tmp_path / "uploads").iterdir()), "nothing is left behind"
        assert session.move_boundary(4, 3), "all else goes on"
    page.set_input_files("input[type=file]", chosen)
    expect(page.locator(".bound")).to_contain_text("W2 is read from w.mtx")
    assert session.built.data["W2"].to_dense() == pytest.approx(2 * matrix, rel=1e-5)


def test_a_kept_run_of_an_older_record_is_said_and_can_be_taken(page, tmp_path):
    session, path = Session("gcn", "karate"), tmp_path / "runs.sqlite"
    for preset in ("full", "unfused"):
        session.preset(preset)
        put(path, session, estimated=41_000.0)
    with sqlite3.connect(path) as raw:  # the fully fused run is of an earlier version
        key, text = raw.execute("SELECT key, record FROM runs ORDER BY rowid").fetchone()
        old = json.dumps({**json.loads(text), "version": 0})
        raw.execute("UPDATE runs SET record = ? WHERE key = ?", (old, key))
    raw.close()
    session.preset("partial")
    session.take_in(look(session.built, str(path), session.shared))
    serve(page, lambda: CostsPanel(session, height=600))
    rows = page.locator("tr[data-kept]")
    expect(rows).to_have_count(2, timeout=LONG)
    (of_old,) = [run for run in session.others if run.trouble]
    assert "version 0" in of_old.trouble
    strange = page.locator(f"tr[data-kept='{of_old.key}']")
    expect(strange.locator(".badge").last).to_contain_text("not known")
    expect(strange.locator(".badge").last).to_have_attribute("title", of_old.trouble)
    strange.get_by_role("button").click()
    wait_until(lambda: session.cuts == (), page, timeout=LONG)
    assert session.record is None, "its figures are not taken by its word"
    assert session.ok


def test_a_session_file_of_another_version_is_refused_and_the_rest_goes_on(page):
    session = visited(page, Session("gcn", "karate"), UploadPanel)
    page.get_by_role("button", name="Open a file").wait_for(timeout=LONG)
    before, saved = session.design, save(session)

    def choose(content) -> None:
        page.set_input_files(
            "input[type=file]",
            {"name": "s.json", "mimeType": "application/json",
             "buffer": json.dumps(content).encode()},
        )  # fmt: skip

    said = page.locator(".said")
    for version in (0, 99, "1", None):
        choose({**saved, "version": version})
        expect(said).to_contain_text("another version")
        choose({"a": version})
        expect(said).to_contain_text("neither")
    assert session.design == before
    session.preset("full")
    choose(saved)
    wait_until(lambda: session.design == before, page, timeout=LONG)
