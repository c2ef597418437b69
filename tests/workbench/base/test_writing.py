"""Messages to a browser that become due while others are being written."""

from __future__ import annotations

import asyncio
import weakref
from threading import Lock
from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.models import Div
from panel.io import document

from fuseloom_workbench.base.writing import write_every_message
from tests.waiting import until_async


class _Socket:
    """Takes messages; what is written to it is done when the test says so."""

    def __init__(self):
        self.written = []
        self.done = asyncio.get_running_loop().create_future()

    def write(self, _, msg):
        self.written.append(msg)
        return [self.done]


async def _two_messages(monkeypatch):
    socket = _Socket()
    monkeypatch.setitem(
        document.extra_socket_handlers, _Socket, lambda conn, msg: socket.write(conn, msg)
    )
    protocol = SimpleNamespace(create=lambda kind, events: events)
    connection = type("Connection", (), {"_socket": socket, "protocol": protocol})()
    page = type("Page", (), {})()
    document.schedule_write_events(page, [connection], ["first"])
    await until_async(lambda: socket.written, "the first message is written")
    socket.done.set_result(None)  # the first task goes on before the second begins
    document.schedule_write_events(page, [connection], ["second"])
    await until_async(lambda: len(asyncio.all_tasks()) == 1, "every message is written or lost")
    return socket.written


@pytest.fixture(params=[False, True])
def mended(request, monkeypatch):
    """Return whether it is mended; a failure without that shows that Panel is fixed."""
    for name in ("_dispatch_msgs", "_drain_unconnected_events"):
        original = getattr(document, name)
        while original.__module__ == write_every_message.__module__:
            original = original.__closure__[0].cell_contents
        monkeypatch.setattr(document, name, original)
    if request.param:
        write_every_message()
        write_every_message()
    return request.param


def test_a_change_while_the_page_is_opened_is_told_when_it_is_open(mended):
    """After the page was sent, and before the browser says that it is ready."""
    page, shown = Document(), Div(text="")
    page.add_root(shown)
    written = []
    page.on_change(written.append)
    page._session_context = weakref.ref(context := _Context())
    assert page.session_context is context
    page.hold()
    shown.text = "drawn"
    document._dispatch_events(page, document._drain_unconnected_events(page, Lock()))
    assert written == []
    for event in document._UNCONNECTED_EVENTS.pop(page, []):
        page.callbacks.trigger_on_change(event)
    assert [event.new for event in written] == (["drawn"] if mended else [])


class _Context:
    """Of a page that one browser has asked for."""

    session = SimpleNamespace(_subscribed_connections={object()})


def test_a_message_that_comes_while_one_is_written_is_written(monkeypatch, mended):
    written = asyncio.run(_two_messages(monkeypatch))
    assert written == ([["first"], ["second"]] if mended else [["first"]])
