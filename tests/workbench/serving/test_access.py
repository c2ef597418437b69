"""The token: asked for, checked, remembered."""

from __future__ import annotations

import asyncio
import os
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

import pytest
from tornado.httpclient import HTTPClientError

from benchmarks.visitors import Server, Visitor
from fuseloom_workbench.serving.access import same

TOKEN = "a-token-for-tests-only"


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN)
    with Server("--token-file", os.fspath(file)) as server:
        yield server
        assert not server.faults()


def opener():
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))


def test_tokens_are_compared_whole():
    assert same("grün", "grün")
    assert not same("", "x")
    assert not same("x", "xy")


def test_nothing_is_shown_without_the_token(locked):
    for path in ("/explorer", "/"):
        body = opener().open(locked.url + path).read()
        assert b"wants a token" in body
        assert b"Kernels" not in body
    assert locked.get("/health")[0] == 200


def test_the_token_opens_and_is_remembered(locked):
    visitor = opener()
    data = urllib.parse.urlencode({"token": TOKEN}).encode()
    visitor.open(f"{locked.url}/login?next=/explorer", data)
    assert b"render_items" in visitor.open(f"{locked.url}/explorer").read()
    by_link = opener()
    assert (
        b"render_items" in by_link.open(f"{locked.url}/login?token={TOKEN}&next=/explorer").read()
    )


def test_a_wrong_token_does_not(locked):
    data = urllib.parse.urlencode({"token": "guess"}).encode()
    with pytest.raises(urllib.error.HTTPError) as refused:
        opener().open(f"{locked.url}/login", data)
    assert refused.value.code == 403
    assert any(line.get("event") == "login_failed" for line in locked.log())


def test_it_leads_nowhere_else(locked):
    answer = opener().open(f"{locked.url}/login?token={TOKEN}&next=//evil.example/")
    assert answer.url.startswith(locked.url)


def test_a_websocket_needs_it_too(locked):
    async def scenario():
        await Visitor(locked).open()

    with pytest.raises((HTTPClientError, TypeError, AssertionError)):
        asyncio.run(scenario())
