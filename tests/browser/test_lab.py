"""Cells of JupyterLab, offline: the whole bench, and a component that shares its session."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest

from tests.waiting import until

from .conftest import PATIENCE

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so, and decide whether that is a failure
    expect = None

pytestmark = pytest.mark.browser
FIRST_WORDS_ARE_LOST = """
from fuseloom_workbench.base import component

heard, shown = set(), component.shown


def second(one, roots):
    said = one.name in heard
    heard.add(one.name)
    return said and shown(one, roots)


component.shown = second
"""
"""A cell that loses the first message of every script, as may happen while a notebook opens."""
CELLS = (
    FIRST_WORDS_ARE_LOST,
    "from fuseloom_workbench.notebook import notebook\nnotebook()",
    "from fuseloom_workbench.explorer import bench\n"
    "from fuseloom_workbench.state.session import Session\n"
    "from fuseloom_workbench.table.table_grid import FusionTableGrid\n"
    "session = Session('gcn', 'karate')\nFusionTableGrid(session)",
    "bench(session, fullscreen=False)",
    "session.preset('full')\nprint('regions:', len(session.regions))",
)


def answers(address: str) -> bool:
    """Return whether a server answers there."""
    try:
        urlopen(address).close()
    except (URLError, OSError):
        return False
    return True


@pytest.fixture
def lab(tmp_path):
    """A JupyterLab of one's own with a notebook in it; gives its address."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    book.metadata["kernelspec"] = kernel
    (tmp_path / "books").mkdir()
    nbformat.write(book, tmp_path / "books" / "bench.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    homes = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    env = {**os.environ, **{name: str(tmp_path / name.lower()) for name in homes}}
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
         "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.ip=127.0.0.1",
         f"--ServerApp.root_dir={tmp_path / 'books'}", "--LabApp.extension_manager=readonly",
         "--LabApp.news_url=",
         "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
        env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}/lab"
    try:
        until(lambda: process.poll() is not None or answers(address), "JupyterLab answers")
        assert process.poll() is None, "JupyterLab ended"
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE / 1000)


def test_the_bench_works_in_a_cell(lab, page):
    page.set_viewport_size({"width": 1500, "height": 1000})
    page.goto(f"{lab}/tree/bench.ipynb")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(page.get_by_text("regions: 1")).to_be_visible(timeout=2 * PATIENCE)
    alone, whole = page.locator(".jp-OutputArea-output table[role=grid]").all()[:2]
    for table in (alone, whole):  # what Python does is seen in every cell
        expect(table).to_have_attribute("aria-label", "Fusion table of region T1..Y")
    expect(page.locator("g.node").first).to_be_attached(timeout=PATIENCE)
    run = page.locator("[data-action=run]")
    run.scroll_into_view_if_needed()
    run.click()
    expect(page.get_by_text("49,474 cycles").first).to_be_visible(timeout=2 * PATIENCE)
    page.get_by_role("tab", name="Graph").scroll_into_view_if_needed()
    page.locator("[data-preset=partial]").click()
    expect(alone).to_have_attribute("aria-label", "Fusion table of region T1..H")
