"""A supervisor of the tests' own, with small budgets, and pages that only listen."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from fuseloom_workbench.service.budgets import Budgets
from fuseloom_workbench.service.client import Client
from fuseloom_workbench.service.priority import cpu_seconds
from fuseloom_workbench.service.supervisor import Supervisor

PATIENCE = 240.0
"""Seconds to wait for anything; a loaded machine takes long."""
BUDGETS = Budgets(workers=3, runs=1, cpu_time=6, wall_time=200, draw_time=4, pending=4)
AT_WORK = 0.3
"""Seconds of CPU time after which a process is in the midst of a request."""
SLOW = "fuse T1..Y; parallel i by 512"
"""A schedule of Karate GCN whose compilation takes many seconds."""


class Page:
    """A page without a browser: what it was told, in order."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.parts: dict[str, str] = dict(supervisor.first["parts"])
        self.news: list[dict[str, Any]] = []
        self.refusals: list[str] = []
        self.run: dict[str, Any] = {}
        self.states: list[str] = []
        self._changed = threading.Condition()
        self.client: Client | None = None
        supervisor.call(self._open)
        self.until(lambda: self.client is not None)

    def _open(self) -> None:
        self.client = Client(self.supervisor, self._hear, 0)

    def _hear(self, news: dict[str, Any]) -> None:
        with self._changed:
            self.news.append(news)
            self.parts.update(news.get("parts", {}))
            if "refused" in news:
                self.refusals.append(news["refused"][1])
            if "run" in news:
                self.run = news["run"]
                self.states.append(news["run"].get("status", ""))
            self._changed.notify_all()

    def part(self, name: str) -> Any:
        return json.loads(self.parts[name])

    @property
    def message(self) -> str:
        return self.part("status")["message"]

    @property
    def regions(self) -> list[str]:
        return [region["name"] for region in self.part("chain")["regions"]]

    def until(self, what: Callable[[], Any], seconds: float = PATIENCE) -> float:
        started = time.monotonic()
        with self._changed:
            while not what():
                left = started + seconds - time.monotonic()
                assert left > 0, (self.news[-5:], self.refusals)
                self._changed.wait(min(left, 0.05))
        return time.monotonic() - started

    def tell(self, name: str, *arguments: Any, topic: str = "fusion") -> None:
        """Ask without waiting."""
        message = {"ask": name, "args": list(arguments)}
        self.supervisor.call(lambda: self.client.ask(message, topic))

    def ask(self, name: str, *arguments: Any) -> float:
        """Ask, and wait until nothing is under way."""
        before = len(self.news)
        self.tell(name, *arguments)
        in_line = threading.Event()  # till then the page is idle, whatever comes late from before
        self.supervisor.call(in_line.set)
        self.until(in_line.is_set)
        self.until(lambda: len(self.news) > before)
        return self.until(self.still)

    def still(self) -> bool:
        return self.client.idle

    def until_at_work(self) -> None:
        """Wait until the page's process has computed for the request that is under way."""
        self.until(lambda: self.client.busy and self.client.pid)
        before = cpu_seconds(self.client.pid)
        self.until(lambda: cpu_seconds(self.client.pid) > before + AT_WORK)

    def start_run(self, explain: bool = False) -> None:
        self.run = {}
        self.supervisor.call(lambda: self.client.run(explain))

    def simulate(self) -> None:
        self.start_run()
        self.until(lambda: self.run.get("running") is False)
        self.until(self.still)

    def close(self) -> None:
        self.supervisor.call(self.client.close)


def workers() -> list[psutil.Process]:
    """Processes below this one that are alive."""
    return [p for p, status in _children() if status != psutil.STATUS_ZOMBIE]


def _children() -> Iterator[tuple[psutil.Process, str]]:
    """Processes below this one with their states; one may end between the two looks."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            yield process, process.status()


def zombies() -> list[psutil.Process]:
    return [p for p, status in _children() if status == psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="session")
def supervisor() -> Iterator[Supervisor]:
    made = Supervisor(BUDGETS)
    ready = threading.Event()
    made.when_ready(ready.set)
    assert ready.wait(2 * PATIENCE)
    yield made
    made.stop()


@pytest.fixture
def page(supervisor: Supervisor) -> Iterator[Page]:
    opened = Page(supervisor)
    yield opened
    opened.close()


@pytest.fixture
def pages(supervisor: Supervisor) -> Iterator[Callable[[], Page]]:
    opened: list[Page] = []

    def make() -> Page:
        opened.append(Page(supervisor))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
