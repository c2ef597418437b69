"""Visitors of a served workbench without a browser: Bokeh's own protocol over a WebSocket.

A :class:`Server` is a process of its own; a :class:`Visitor` opens the page, keeps a copy of every
model's attributes as the server changes them, and sends what a browser would send.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 90
"""Seconds to wait for a page; a loaded machine takes long."""
TOKEN = re.compile(r'"token":"([^"]+)"')


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_end(family: list[psutil.Process], seconds: float = 5) -> list[psutil.Process]:
    """Wait until these processes have ended, reaped or not; those that have not."""
    until = time.monotonic() + seconds
    while True:
        left = []
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                    left.append(process)
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


class Server:
    """``python -m fuseloom_workbench.serving`` with a log that can be read."""

    def __init__(self, *options: str, port: int = 0, ready: bool = True) -> None:
        self.port = port or free_port()
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (lives as long as the process)
        command = [sys.executable, "-m", "fuseloom_workbench.serving", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--no-browser", "--log-json", *options],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            cwd=ROOT,
        )
        if ready:
            self.wait_until_ready()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an address."""
        request = urllib.request.Request(f"{self.url}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, dict(answer.headers), answer.read()

    def health(self) -> dict[str, Any]:
        return json.loads(self.get("/health")[2])

    def wait_until_ready(self, seconds: float = 120) -> None:
        """Until the engine is loaded."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert self.process.poll() is None, self.log_text()
            with contextlib.suppress(OSError):
                if self.get("/health")[0] == 200:
                    return
            time.sleep(0.1)
        raise TimeoutError(self.log_text())

    def log_text(self) -> str:
        # the process writes through the same open file: its place must stay at the end
        with open(f"/proc/self/fd/{self._log.fileno()}", encoding="utf-8") as log:
            return log.read()

    def log(self, since: int = 0) -> list[dict[str, Any]]:
        """The log's lines that are JSON, from a character on."""
        found = []
        for line in self.log_text()[since:].splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def faults(self, since: int = 0) -> list[str]:
        """Lines of the log, from a character on, that tell of what went wrong in the server."""
        text = self.log_text()[since:]
        bad = [x for x in self.log(since) if x.get("event") == "fault" or "traceback" in x]
        if "Traceback" in text or "never retrieved" in text:
            bad.append({"event": text[-3000:]})
        return [json.dumps(x) for x in bad]

    def family(self) -> list[psutil.Process]:
        """All processes of the server but itself."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def cpu(self) -> float:
        """Seconds of CPU time that the server's own process took."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    def end(self, number: int = signal.SIGTERM) -> tuple[float, list[psutil.Process]]:
        """Send a signal; seconds until all are gone, and who is left for all patience."""
        family = self.family()
        asked = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(PATIENCE)
        left = wait_for_end(family, PATIENCE)
        return time.monotonic() - asked, left

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Visitor:
    """One open page."""

    def __init__(self, server: Server, page: str = "/explorer") -> None:
        self.server = server
        self.page = page
        self.models: dict[str, dict[str, Any]] = {}
        self.parts: dict[str, str] = {}
        """Name of a component to the id of its data."""
        self.components: dict[str, str] = {}
        """Name of a component to its own id."""
        self._socket: WebSocketClientConnection
        self._views: dict[str, tuple[str, Any]] = {}
        self._changed = asyncio.Event()
        self._hears = asyncio.Event()
        self._hears.set()
        self._numbers = 0
        self._looks = 0
        self._reading: asyncio.Task[None]
        self.lost = False

    async def open(self) -> Visitor:
        """Load the page, connect, and say that it is drawn."""
        loop = asyncio.get_running_loop()
        status, _, body = await loop.run_in_executor(None, self.server.get, self.page)
        assert status == 200, status
        token = TOKEN.search(body.decode())[1]
        request = HTTPRequest(
            f"ws://localhost:{self.server.port}/explorer/ws",
            headers={"Origin": self.server.url},
            connect_timeout=PATIENCE,
            request_timeout=PATIENCE,
        )
        self._socket = await websocket_connect(
            request, subprotocols=["bokeh", token], max_message_size=1 << 28
        )
        pulled: asyncio.Future[None] = loop.create_future()
        greeted: asyncio.Future[None] = loop.create_future()
        self._reading = asyncio.create_task(self._read(greeted, pulled))
        self._reading.add_done_callback(lambda _: self._changed.set())
        await asyncio.wait_for(greeted, PATIENCE)
        await self._send("PULL-DOC-REQ", {})
        await asyncio.wait_for(pulled, PATIENCE)
        await self._event("document_ready", {"type": "map"})
        return self

    async def close(self) -> None:
        self._socket.close()
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading

    @contextlib.contextmanager
    def deaf(self) -> Iterator[None]:
        """Read nothing meanwhile: what the server sends fills the line."""
        self._hears.clear()
        try:
            yield
        finally:
            self._hears.set()

    # What it sees -------------------------------------------------------------------------

    async def _read(self, greeted: asyncio.Future[None], pulled: asyncio.Future[None]) -> None:
        while True:
            await self._hears.wait()
            header = await self._socket.read_message()
            if header is None:
                self.lost = True
                self._changed.set()
                return
            header = json.loads(header)
            await self._socket.read_message()
            content = json.loads(await self._socket.read_message())
            for _ in range(header.get("num_buffers", 0)):
                await self._socket.read_message()
                await self._socket.read_message()
            if header["msgtype"] == "ACK":
                greeted.set_result(None)
            elif header["msgtype"] == "PULL-DOC-REPLY":
                self._learn(content)
                pulled.set_result(None)
            elif header["msgtype"] == "PATCH-DOC":
                for event in content["events"]:
                    self._learn(event)
                    if event["kind"] == "ModelChanged":
                        known = self.models.setdefault(event["model"]["id"], {})
                        known[event["attr"]] = event["new"]
            self._changed.set()

    def _learn(self, data: Any) -> None:
        """Every model that is described in there."""
        if isinstance(data, list):
            for item in data:
                self._learn(item)
        elif isinstance(data, dict):
            if "id" in data and "name" in data:
                attributes = data.get("attributes", {})
                self.models.setdefault(data["id"], {}).update(attributes)
                kind, inner = attributes.get("class_name"), attributes.get("data")
                if kind and isinstance(inner, dict) and "id" in inner:
                    self.components.setdefault(kind, data["id"])
                    self.parts.setdefault(kind, inner["id"])
                    inside = inner.get("attributes", {})
                    if isinstance(what := inside.get("what"), str):  # one of two alike
                        self.components.setdefault(what, data["id"])
                        self.parts.setdefault(what, inner["id"])
            for item in data.values():
                self._learn(item)

    def data(self, name: str) -> dict[str, Any]:
        """The data of a component: what its script is given."""
        return self.models[self.parts[name]]

    def view(self, name: str) -> dict[str, Any]:
        """Return the drawn data of a component."""
        text = self.data(name)["drawn"]
        known = self._views.get(name)
        if known is None or known[0] is not text:
            known = self._views[name] = text, json.loads(text)
        return known[1]

    async def until(self, what: Callable[[], Any], seconds: float = 60) -> float:
        """Wait until something is seen; the seconds that it took."""
        started = time.monotonic()
        while not what():
            assert not self.lost, "the server closed the connection"
            if self._reading.done():
                raise AssertionError("reading has failed") from self._reading.exception()
            self._changed.clear()
            left = started + seconds - time.monotonic()
            await asyncio.wait_for(self._changed.wait(), max(0.001, left))
        return time.monotonic() - started

    # What it does -------------------------------------------------------------------------

    async def _send(self, kind: str, content: Any) -> None:
        self._numbers += 1
        for frame in ({"msgid": str(self._numbers), "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(frame))

    async def _event(self, name: str, values: Any) -> None:
        data = {"type": "event", "name": name, "values": values}
        event = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": data}
        await self._send("PATCH-DOC", {"events": [event]})

    async def tell(self, component: str, request: Any) -> None:
        """Send a request as a component's script does with ``send_msg``."""
        entries = [["model", {"id": self.components[component]}], ["data", _plain(request)]]
        await self._event("data_event", {"type": "map", "entries": entries})

    async def choose(self, label: str, value: str) -> None:
        """Choose a model, data, a machine or a preset in the rail."""
        await self.tell("Rail", {"kind": label.lower(), "name": value})

    # In words of the page -----------------------------------------------------------------

    @property
    def cuts(self) -> tuple[int, ...]:
        """Gaps with a boundary, as the chain shows them."""
        regions = [unit["region"] for unit in self.view("FusionChain")["units"]]
        return tuple(k for k in range(1, len(regions)) if regions[k] != regions[k - 1])

    @property
    def settled(self) -> bool:
        """True if nothing is under way."""
        run, line = self.view("RunPanel"), self.data("Connection")
        return not (run["running"] or line.get("working") or self.data("GraphView").get("busy"))

    async def drag(self, gap: int, to: int) -> float:
        """Move a boundary; seconds until table, graph and estimate show it."""
        wanted = tuple(sorted({*self.cuts} - {gap} | {to}))
        await self.tell("FusionChain", {"kind": "move", "gap": gap, "to": to})

        def shown() -> bool:
            names = [region["name"] for region in self.view("FusionChain")["regions"]]
            table, graph = self.view("FusionTableGrid"), self.view("GraphView")
            return (
                self.cuts == wanted
                and table["name"] == graph["name"]
                and table["name"] in names
                and not self.data("GraphView").get("busy")
            )

        return await self.until(shown)

    async def run(self, events: bool = False) -> float:
        """Simulate, keeping every wait if asked; seconds until the cycles are there."""
        before = self.view("RunPanel")["finished"]
        await self.tell(
            *(("Timeline", {"kind": "events"}) if events else ("RunPanel", {"kind": "run"}))
        )
        started = time.monotonic()

        def shown() -> bool:
            # a short run may begin and end between two messages
            view = self.view("RunPanel")
            over = not view["running"] and not self.data("Connection").get("working")
            return over and view["finished"] != before

        await self.until(shown)
        view = self.view("RunPanel")
        assert not view["result"]["stale"], view
        return time.monotonic() - started

    async def look(self, start: int, stop: int, width: int, rows: list[int]) -> dict[str, Any]:
        """Zoom into the timeline; what is shown of that window."""
        self._looks += 1
        request = {"kind": "window", "number": self._looks, "from": start, "to": stop}
        await self.tell("Timeline", {**request, "width": width, "rows": rows})

        def answer() -> dict[str, Any]:
            return json.loads(self.data("Timeline").get("answered", "{}"))

        await self.until(lambda: answer().get("number") == self._looks)
        return answer()


def _plain(data: Any) -> Any:
    """Plain data as Bokeh writes them."""
    if isinstance(data, dict):
        return {"type": "map", "entries": [[key, _plain(value)] for key, value in data.items()]}
    if isinstance(data, list):
        return [_plain(item) for item in data]
    return data
