"""A Chromium of our own: offline, and strict about errors and external requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import panel as pn
import pytest
from panel.tests.util import serve_component

from workbench.explorer import explorer
from workbench.state.session import Session

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60_000
"""Milliseconds to wait for a condition; a loaded machine takes long for everything."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LOCAL = ("http://localhost:", "http://127.0.0.1:", "ws://localhost:", "data:", "blob:")


def _missing(reason: str) -> None:
    """Skip on a developer's machine; where the tests count, a missing browser is a failure."""
    if os.environ.get("CI") or os.environ.get("FUSELOOM_REQUIRE_BROWSER"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    try:
        from playwright.sync_api import Error, expect, sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    expect.set_options(timeout=PATIENCE)
    path = os.environ.get("FUSELOOM_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        except Error as problem:
            _missing(f"no Chromium to drive: {str(problem).splitlines()[0]}")
        yield running
        running.close()


@pytest.fixture
def viewport() -> dict[str, int]:
    return {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def context(browser) -> Iterator:
    """What pages share: what a page has loaded and compiled, the next one need not."""
    made = browser.new_context()
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def page(context, viewport) -> Iterator:
    """A page that fails its test on an external request or an uncaught error."""
    external: list[str] = []
    errors: list[str] = []

    def refuse(route) -> None:
        external.append(route.request.url)
        route.abort()

    opened = context.new_page()
    opened.set_viewport_size(viewport)
    opened.route(lambda url: not url.startswith(LOCAL), refuse)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    yield opened
    if opened.url.startswith("http"):
        opened.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
    context.clear_cookies()
    for page in context.pages:
        page.close()
    assert not external, f"the page asked the network for {external}"
    assert not errors, errors


def show(page, session: Session) -> None:
    """Open a session's page and wait until it is drawn."""
    serve_component(page, lambda: explorer(session))
    page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)


@pytest.fixture
def session(page) -> Session:
    """A session whose page is open and drawn."""
    session = Session("gcn", "karate")
    show(page, session)
    return session


@pytest.fixture(autouse=True)
def _no_servers_left() -> Iterator:
    yield
    pn.state.kill_all_servers()
    pn.state.cache.clear()
