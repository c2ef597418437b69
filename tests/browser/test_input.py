"""Input in a browser: files that are chosen, refused and picked for; live errors; forms."""

from __future__ import annotations

import numpy as np
import panel as pn
import pytest
from panel.tests.util import wait_until

from fuseloom_workbench.input.panels import FormatsPanel, MachinePanel, UploadPanel
from fuseloom_workbench.input.text_editor import TextEditor
from fuseloom_workbench.state import files
from fuseloom_workbench.state.session import Session
from tests.workbench.input.files import hostile, market

from .conftest import PATIENCE, serve

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
PROGRAM = (
    "A: 40x40 csr\nB: 40x40 csr\nx: 40 dense\nS[i,j] = A[i,j] + B[i,j]\ny[i] = S[i,j] * x[j]\n"
)


def test_files_are_refused_in_a_sentence_and_then_taken(page, tmp_path, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    session = Session("spmv", "random")
    assert session.set_program(PROGRAM)
    session.most_file = 2 << 20
    serve(page, lambda: UploadPanel(session))
    said = page.locator(".said")
    page.get_by_role("button", name="Open a file").wait_for(timeout=2 * PATIENCE)

    def choose(name: str, content: bytes) -> None:
        page.set_input_files(
            "input[type=file]",
            {"name": name, "mimeType": "application/octet-stream", "buffer": content},
        )

    before = session.built
    for what in ("bomb", "endless line"):
        name, content, word = hostile()[what]
        choose(name, content)
        expect(said).to_contain_text(word)
        expect(said).to_contain_text("✕")
    choose("large.mtx", bytes((2 << 20) + 1))
    expect(said).to_contain_text("at most 2 MiB here")
    assert session.built is before
    matrix = np.zeros((40, 40), np.float32)
    matrix[1, 2] = 5
    padded = market(matrix).replace(b"general\n", b"general\n" + b"%" + b"x" * 99 + b"\n", 1)
    padded = padded.replace(b"\n", b"\n" + (b"%" + b"-" * 98 + b"\n") * 11_500, 1)
    assert len(padded) > 1 << 20, "several parts"
    choose("two parts.mtx", padded)
    page.get_by_role("button", name="B 40×40").click()
    wait_until(lambda: session.built.data["B"].to_dense()[1, 2] == 5, page, timeout=PATIENCE)
    expect(page.locator(".bound")).to_contain_text("B is read from two parts.mtx")
    page.get_by_role("button", name="Its own data again").click()
    expect(page.locator(".bound")).to_have_text("")


def test_errors_show_while_one_types_at_their_place(page):
    session = Session("spmv", "random")
    serve(page, lambda: TextEditor(session))
    area = page.get_by_label("program text")
    area.wait_for(timeout=2 * PATIENCE)
    before = session.built
    text = area.input_value()
    area.fill(text.replace("* x[j]", "* zz[j]"))
    expect(page.locator(".status.bad")).to_contain_text("zz")
    expect(page.locator(".mark u")).to_have_text("zz")
    line = next(k for k, t in enumerate(text.splitlines(), 1) if "* x[j]" in t)
    expect(page.locator(".numbers .wrong")).to_have_text(f"✕ {line}")
    expect(area).to_have_attribute("aria-invalid", "true")
    expect(area).to_be_focused()
    assert session.built is before
    area.fill(text + "\n")
    expect(page.locator(".status")).to_contain_text("No errors so far")
    expect(page.locator(".mark u")).to_have_count(0)


def test_live_text_is_taken_over_while_one_types_and_follows_the_design(page):
    session = Session("gcn", "karate")
    serve(page, lambda: TextEditor(session, what="schedule"))
    area = page.get_by_label("schedule text")
    area.wait_for(timeout=2 * PATIENCE)
    page.get_by_label("Live").check()
    area.fill("fuse   T1..Y")
    wait_until(lambda: session.cuts == (), page, timeout=PATIENCE)
    expect(page.locator(".status")).to_contain_text("applied")
    expect(area).to_have_value("fuse   T1..Y")  # as it is written, while it is being written
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()
    area.press_sequentially("; melt")
    expect(page.locator(".numbers .wrong")).to_have_text("✕ 1")
    assert session.cuts == ()
    area.fill("fuse T1..H;fuse T5..Y")
    wait_until(lambda: session.cuts == (4,), page, timeout=PATIENCE)
    area.blur()
    expect(area).to_have_value("fuse T1..H\nfuse T5..Y")
    session.remove_boundary(4)
    expect(area).to_have_value("fuse T1..Y")
    assert [step.name for step in session.trail[0]] == ["partial", "full", "partial", "full"]


def test_forms_change_formats_and_machines_and_say_what_is_wrong(page):
    session = Session("spmv", "random")
    serve(page, lambda: pn.Column(FormatsPanel(session), MachinePanel(session)))
    page.get_by_text("Formats of the tensors").click(timeout=2 * PATIENCE)
    page.get_by_label("A, format of level 1").select_option("dense")
    wait_until(
        lambda: session.built.program.tensor("A").format.levels[0].value == "dense",
        page,
        timeout=PATIENCE,
    )
    expect(page.locator("[data-tensor=A] td").last).to_have_text("csr")
    page.get_by_label("A, format of level 1").select_option("singleton")
    expect(page.locator("[data-tensor=A] .error-line")).to_contain_text("singleton")
    expect(page.get_by_label("A, format of level 1")).to_have_value("dense")
    page.get_by_text("Parameters of the machine").click()
    field = page.locator("[data-field=alu_latency]")
    field.fill("0")
    field.press("Tab")
    expect(page.locator(".field:has([data-field=alu_latency]) .wrong")).to_contain_text("from 1 to")
    field.fill("7")
    field.press("Tab")
    wait_until(lambda: session.machine.alu_latency == 7, page, timeout=PATIENCE)
    expect(page.locator(".wrong:not(:empty)")).to_have_count(0)
