"""The requests that do not pass the gate, and the headers that browsers get."""

from __future__ import annotations

import asyncio

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from benchmarks.visitors import TOKEN
from fuseloom_workbench.state.addresses import LONGEST_ADDRESS


def test_every_answer_carries_the_headers(server):
    for path in ("/explorer", "/health", "/nowhere", "/static/js/bokeh.min.js", "/components/x/y"):
        _, headers, _ = server.get(path)
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], path
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Server"] == "fuseloom"


@pytest.mark.parametrize(
    "path",
    [
        "/components/torch/x/y/z",
        "/components/antigravity/a/b/c",
        "//components/torch/x/y/z",
        "/%63omponents/torch/x/y/z",
        "/components/panel_material_ui.base/../../../../etc/passwd",
        "/components/../components/torch/x",
        "/explorer/../components/torch/x/y/z",
        "/static/../../../../etc/passwd",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/" + "a" * 5000,
        "/nowhere",
    ],
)
def test_what_is_not_served(server, path):
    status, _, body = server.get(path)
    assert status in (400, 403, 404, 414)
    assert len(body) < 2000
    assert b"Traceback" not in body
    assert b"root:" not in body


def test_components_import_nothing(server):
    before = server.health()["memory"]
    for name in ("torch", "sklearn.ensemble", "IPython"):
        server.get(f"/components/{name}/x/y/z")
    assert server.health()["memory"] - before < 20 << 20


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://localhost:1"])
def test_a_websocket_wants_an_origin_of_its_own(server, origin):
    async def connect():
        token = TOKEN.search(server.get("/explorer")[2].decode())[1]
        headers = {"Origin": origin} if origin else {}
        request = HTTPRequest(f"ws://localhost:{server.port}/explorer/ws", headers=headers)
        await websocket_connect(request, subprotocols=["bokeh", token])

    with pytest.raises(HTTPClientError) as refused:
        asyncio.run(connect())
    assert refused.value.code == 403


def test_addresses_that_pages_make_pass_and_longer_ones_do_not(server):
    short = f"/compare?text={'a' * (LONGEST_ADDRESS - 100)}"
    assert server.get(short)[0] == 200
    assert server.get(f"{short}{'a' * 300}")[0] == 414
