"""Hostile addresses and messages, generated from a seed, against one server for all of them.

Each is refused, or answered with one clear message; the server goes on, and its log has no
traceback.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket

import pytest

from benchmarks.hostile import request
from benchmarks.visitors import Server, Visitor

ADDRESSES, MESSAGES = 90, 60
LONGEST = 500


def address(rng: random.Random) -> bytes:
    """A request line with headers."""
    path = rng.choice(
        ["/explorer", "/explorer/ws", "/health", "/components/", "/components/os/system/x",
         "/static/", "/static/js/", "/login", "/..", "/explorer/autoload.js", "/explorer/metadata",
         "//", "/%00", "/static/extensions/panel/", "/liveness"]
    )  # fmt: skip
    path += rng.choice(["", "", "../../../../etc/passwd", "%2e%2e%2f" * 5 + "etc", "?token=x",
                        "?bokeh-session-id=" + "a" * 300, "?" + "a=1&" * 2000, "\\..\\",
                        "?theme=light", "/x/y/z", "%ff%fe", "?bokeh-absolute-url=//x"])  # fmt: skip
    method = rng.choice(["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "XYZ"])
    headers = ["Host: localhost", "Connection: close"]
    headers += rng.sample(
        ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x",
         "Origin: http://evil.example", "Content-Length: 5", "Cookie: fuseloom=x; a=" + "b" * 2000,
         "Bokeh-Session-Id: 1", "X: " + "y" * 5000, "Range: bytes=0-1,2-3",
         "Sec-WebSocket-Protocol: bokeh, x.y.z"],
        rng.randrange(5),
    )  # fmt: skip
    if path.startswith("/explorer") and method in ("GET", "HEAD", "POST") and rng.random() < 0.8:
        path = "/health" + path[9:]  # pages are opened below
    return f"{method} {path} HTTP/1.1\r\n".encode() + "\r\n".join([*headers, "", "hello"]).encode()


def answer(server: Server, sent: bytes) -> bytes:
    """Return the server's answer before it closes the line."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
        line.sendall(sent)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := line.recv(1 << 16):
                got += piece
    return got


@pytest.mark.parametrize("seed", [0])
def test_hostile_addresses_are_answered_or_refused(server, seed):
    rng = random.Random(seed)
    before = server.health()["memory"]
    for _ in range(ADDRESSES):
        sent = address(rng)
        head, _, body = answer(server, sent).partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        assert status in (0, 101, 200, 204, 302, 304, 400, 401, 403, 404, 405, 414, 431), (
            sent,
            head,
        )
        assert b"Traceback" not in body, sent
        assert b"root:" not in body, sent
        if status >= 400:
            assert len(body) <= LONGEST, (sent, body)
    assert not server.faults()
    assert server.health()["memory"] < before + 200e6


async def _hostile_page(server: Server, seed: int) -> None:
    rng = random.Random(seed)
    visitor = await Visitor(server).open()
    for _ in range(MESSAGES):
        component, content = request(rng)
        if component in visitor.components:
            await visitor.tell(component, content)
        for name in ("FusionChain", "MachinePanel", "TextEditor", "OrdersPanel"):
            status = visitor.data(name).get("status") or {"entries": []}
            said = dict(status["entries"]).get("message", "")
            assert len(said) <= LONGEST, (content, said)
            assert "Traceback" not in said
        await asyncio.sleep(0.02)
    patch = {"msgtype": "PATCH-DOC", "msgid": "1"}
    for garbage in ("", "[", "null", "{}", json.dumps(patch)):
        other = await Visitor(server).open()
        for _ in range(3):
            with contextlib.suppress(Exception):  # a line that is closed is an answer, too
                await other._socket.write_message(garbage)
        await other.close()
    await visitor.choose("Preset", "full")
    await visitor.until(lambda: visitor.settled and visitor.cuts == (), 90)
    await visitor.close()


def test_hostile_messages_are_answered_or_refused(server):
    before = server.cpu()
    asyncio.run(_hostile_page(server, 0))
    assert server.cpu() - before < 60
    assert not server.faults()
    assert server.health()["memory"] < 600e6
