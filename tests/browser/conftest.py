"""A Chromium of our own: offline, and strict about errors and external requests."""

from __future__ import annotations

import faulthandler
import inspect
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, NamedTuple

import panel as pn
import pytest
from panel.tests.util import serve_component, wait_until

from fuseloom_workbench.base.page_backend import PageBackend, backend_of
from fuseloom_workbench.base.parts import LATER
from fuseloom_workbench.chain import prices
from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.state import saving
from fuseloom_workbench.state.estimate_figures import EstimateFigures
from fuseloom_workbench.state.look import Comparand
from fuseloom_workbench.state.session import Session
from tests.waiting import until

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
)
PATIENCE = 60_000
"""Milliseconds to wait for a condition; a loaded machine takes long for everything."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
LOCAL = ("http://localhost:", "http://127.0.0.1:", "ws://localhost:", "data:", "blob:")


def missing(reason: str) -> None:
    """Skip on a developer's machine; where the tests count, a missing browser is a failure."""
    if os.environ.get("CI") or os.environ.get("FUSELOOM_REQUIRE_BROWSER"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def box_of(locator):
    """The place of an element on the page; one that is just drawn anew is waited for."""
    return until(locator.bounding_box, f"{locator} is drawn")


def chromium_path() -> str | None:
    """The browser to drive: one that is named, or one that is installed."""
    return os.environ.get("FUSELOOM_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    try:
        from playwright.sync_api import Error, expect, sync_playwright
    except ImportError:
        missing("playwright is not installed")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(
                executable_path=chromium_path(), args=list(ARGUMENTS)
            )
        except Error as problem:
            missing(f"no Chromium to drive: {str(problem).splitlines()[0]}")
        yield running
        running.close()


WITH_PRICES = frozenset({"axe", "explorer", "help_in_views", "newcomer", "prices", "walks"})
"""Modules, without ``test_``, that see what moving a boundary would cost."""


def _no_prices(session: Session, _: Any) -> Iterator[prices.Prices]:
    yield prices.Prices(EstimateFigures.of(session.built), {}, whole=True)


@pytest.fixture(scope="module", autouse=True)
def _prices(request) -> Iterator[None]:
    """Leave out prices of moves where no test looks: pages spend most of their time on them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__.rpartition(".test_")[2] not in WITH_PRICES:
            part = replace(LATER["prices"], work=_no_prices, split=None)
            patch.setitem(LATER, "prices", part)
        yield


@pytest.fixture
def viewport() -> dict[str, int]:
    return {"width": 1280, "height": 900}


def patient(browser: Any, **options: Any) -> Any:
    """Return a new context of a browser, for which a busy machine has time to answer."""
    made = browser.new_context(**options)
    made.set_default_timeout(PATIENCE)
    made.set_default_navigation_timeout(2 * PATIENCE)  # a page is loaded, made and drawn
    return made


@pytest.fixture(scope="session")
def context(browser) -> Iterator:
    """Yield the context that pages share: one page's loaded and compiled files serve the next."""
    made = patient(browser)
    yield made
    made.close()


class Strict:
    """A check that a page contacts no other host and lets no error pass."""

    def __init__(self, opened) -> None:
        self.external: list[str] = []
        self.errors: list[str] = []
        opened.on("request", lambda request: self._ask(request.url))
        opened.on("pageerror", lambda error: self.errors.append(str(error)))
        opened.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def _ask(self, url: str) -> None:
        if not url.startswith(LOCAL):
            self.external.append(url)

    def held(self) -> None:
        """Assert that it has not since the last time."""
        external, errors = self.external[:], self.errors[:]
        self.external.clear()
        self.errors.clear()
        assert not external, f"the page asked the network for {external}"
        assert not errors, errors


@pytest.fixture
def page(request, viewport) -> Any:
    """A page of the test's own, or with ``bench`` or ``session`` that of its module's bench."""
    shared = "bench" in request.fixturenames
    return request.getfixturevalue("bench").page if shared else request.getfixturevalue("own_page")


@pytest.fixture
def own_page(context, viewport) -> Iterator:
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


def running_servers() -> tuple[dict[str, Any], dict[str, Any]]:
    """Panel's servers and the threads that they run in, by name."""
    return pn.state._servers, pn.state._threads


def at_the_server(what: Callable[[], Any]) -> Any:
    """Do it in the thread of the server, if one runs, and wait for it.

    A page's change and a test's at the same time, in two threads, would take each other's document.
    """
    threads = list(running_servers()[1].values())
    if not threads or threading.current_thread() in threads:
        return what()
    result: Future[Any] = Future()

    def carry_out() -> None:
        try:
            result.set_result(what())
        except BaseException as problem:
            result.set_exception(problem)

    threads[-1].asyncio_loop.call_soon_threadsafe(carry_out)
    return result.result(PATIENCE / 1000)


class Visited:
    """A session whose page is open: what a test calls or sets happens where its page lives."""

    def __init__(self, session: Session) -> None:
        object.__setattr__(self, "_session", session)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._session, name)
        if not inspect.ismethod(value):
            return value
        return lambda *given, **named: at_the_server(lambda: value(*given, **named))

    def __setattr__(self, name: str, value: Any) -> None:
        at_the_server(lambda: setattr(self._session, name, value))


class Bench(NamedTuple):
    """A whole bench that the tests of a module share."""

    page: Any
    session: Visited
    strict: Strict
    start: dict[str, Any]


@pytest.fixture(scope="module")
def opened(browser, request) -> Iterator[Bench]:
    """One bench for all tests of a module, on the model and data that it names as ``DESIGN``."""
    context = patient(browser, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = Session(*getattr(request.module, "DESIGN", ("gcn", "karate")))
    strict = Strict(page)
    yield Bench(page, show(page, session), strict, saving.save(session))
    context.close()
    stop_servers()


_REMEMBERED = """() => {
  const changed = Object.entries(localStorage).some(
    ([key, value]) => key === 'fuseloom:theme' || /"(sizes|folded)":{"/.test(value))
  localStorage.clear()
  return changed
}"""
"""The script that checks whether a reload differs from a first visit, and then forgets it."""


@pytest.fixture
def bench(request, opened, viewport) -> Iterator[Bench]:
    """The module's bench as it was at first: design, no runs, first tab, size, theme, panes.

    A test that runs once more finds a page that was loaded again: it may have failed with menus
    and details open.
    """
    page, session = opened.page, opened.session
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme="light")
    backend = page_backend(session)
    at_the_server(backend.cancel)  # a test that failed may have left something that runs
    wait_until(lambda: not backend.runner.running, page, timeout=PATIENCE)
    at_the_server(lambda: _as_at_first(session, opened.start))
    again = getattr(request.node, "execution_count", 1) > 1
    if page.evaluate(_REMEMBERED) or again:
        page.reload()
        page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)
        at_the_server(lambda: session.param.update(cell=("", ""), node=-1))
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Graph").click()
    shows_what_there_is(page, session)
    page.locator("g.node:visible").first.wait_for()
    yield opened
    opened.strict.held()


_DRAWN = """() => Bokeh.documents.flatMap(d => d.roots().flatMap(root => [...root.references()]))
  .map(m => m.data?.attributes?.drawn).filter(text => text !== undefined && text !== '{}')"""
"""The script that returns the drawn data of the page's components, as JSON."""


def page_backend(session: Visited) -> PageBackend:
    """The page backend of the session that a page shows."""
    return backend_of(session._session)


def shows_what_there_is(page, session: Visited) -> None:
    """Wait until every component of the page draws all that the session's page backend has."""
    backend = page_backend(session)

    def same() -> bool:
        held = [json.loads(text) for text in backend.parts.values()]
        seen = [json.loads(text) for text in page.evaluate(_DRAWN)]
        return all(any(_holds(view, part) for part in held) for view in seen)

    wait_until(same, page, timeout=PATIENCE)


def _holds(view: dict[str, Any], part: Any) -> bool:
    """Return whether a component's view is this part, with the component's own additions."""
    return isinstance(part, dict) and part.items() <= view.items() if part else view == part


def _as_at_first(session: Session, start: dict[str, Any]) -> None:
    session.param.update(records={}, latest=None, pinned="", promises={})
    session.param.update(cell=("", ""), node=-1, comparand=Comparand(), mapped=None)
    saving.restore(session, start, [])


def serve(page, made: Callable[[], Any]) -> None:
    """Serve what this makes for each visitor, and open it."""
    try:
        serve_component(page, made)
    except Exception:
        faulthandler.dump_traceback()  # what the server was doing instead
        raise


def visited(page, session: Session, component: Callable[[Session], Any]) -> Visited:
    """Serve a component on a session and open it; the session, for changes from now on."""
    serve(page, lambda: component(session))
    return Visited(session)


def show(page, session: Session) -> Visited:
    """Open a session's bench and wait until it is drawn; the session, for changes from now on."""
    shown = visited(page, session, explorer)
    page.locator("g.node").first.wait_for(timeout=2 * PATIENCE)
    return shown


def stop_servers(*but: str) -> None:
    """End them, and wait until they have: what they still do is not the next test's concern."""
    servers, by_name = running_servers()
    threads = [thread for name, thread in by_name.items() if name not in but]
    for thread in threads:
        thread.stop()
    for thread in threads:
        thread.join(PATIENCE / 1000)
    for name in set(servers) - set(but):
        del servers[name]
        by_name.pop(name, None)
    if not but:
        pn.state.cache.clear()


@pytest.fixture
def session(bench) -> Visited:
    """The session of the module's bench."""
    return bench.session


@pytest.fixture(autouse=True)
def _no_servers_left(request) -> Iterator:
    before = tuple(running_servers()[0])  # the module's bench, if it has been opened
    yield
    if "opened" not in request.fixturenames:
        stop_servers(*before)
