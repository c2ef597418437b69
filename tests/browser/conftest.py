"""A Chromium of our own: offline, and strict about errors and external requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

import panel as pn
import pytest
from panel.tests.util import serve_component

from workbench.explorer import explorer
from workbench.state import saving
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


def chromium_path() -> str | None:
    """The browser to drive: one that is named, or one that is installed."""
    return os.environ.get("FUSELOOM_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    try:
        from playwright.sync_api import Error, expect, sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(
                executable_path=chromium_path(), args=list(ARGUMENTS)
            )
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


class Strict:
    """What a page must not do: ask another host, or let an error pass."""

    def __init__(self, opened) -> None:
        self.external: list[str] = []
        self.errors: list[str] = []
        opened.route(lambda url: not url.startswith(LOCAL), self._refuse)
        opened.on("pageerror", lambda error: self.errors.append(str(error)))
        opened.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def _refuse(self, route) -> None:
        self.external.append(route.request.url)
        route.abort()

    def held(self) -> None:
        """Assert that it has not."""
        assert not self.external, f"the page asked the network for {self.external}"
        assert not self.errors, self.errors


@pytest.fixture
def page(context, viewport) -> Iterator:
    """A page that fails its test on an external request or an uncaught error."""
    opened = context.new_page()
    opened.set_viewport_size(viewport)
    strict = Strict(opened)
    yield opened
    if opened.url.startswith("http"):
        opened.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
    context.clear_cookies()
    for page in context.pages:
        page.close()
    strict.held()


class Bench(NamedTuple):
    """A whole bench that the tests of a module share."""

    page: Any
    session: Session
    strict: Strict
    start: dict[str, Any]


@pytest.fixture(scope="module")
def opened(browser, request) -> Iterator[Bench]:
    """One bench for all tests of a module, on the model and data that it names as ``DESIGN``."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    session = Session(*getattr(request.module, "DESIGN", ("gcn", "karate")))
    strict = Strict(page)
    show(page, session)
    yield Bench(page, session, strict, saving.save(session))
    context.close()
    pn.state.kill_all_servers()
    pn.state.cache.clear()


@pytest.fixture
def bench(opened) -> Iterator[Bench]:
    """The module's bench as it was at first: its design, no runs, the first tab, its size."""
    page, session = opened.page, opened.session
    page.set_viewport_size({"width": 1280, "height": 900})
    session.param.update(records={}, latest=None, pinned="", promises={})
    session.param.update(cell=("", ""), node=-1)
    saving.restore(session, opened.start, [])
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Graph").click()
    page.locator("g.node:visible").first.wait_for()
    yield opened
    opened.strict.held()


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
def _no_servers_left(request) -> Iterator:
    yield
    if "opened" in request.fixturenames:
        return  # the module's last test ends it
    pn.state.kill_all_servers()
    pn.state.cache.clear()
