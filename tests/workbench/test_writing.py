"""Messages to a browser that become due while others are being written."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from panel.io import document

from workbench.writing import write_every_message


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
    await asyncio.sleep(0.01)
    socket.done.set_result(None)  # the first task goes on before the second begins
    document.schedule_write_events(page, [connection], ["second"])
    await asyncio.sleep(0.01)
    return socket.written


@pytest.mark.parametrize("mended", [False, True])
def test_a_message_that_comes_while_one_is_written_is_written(monkeypatch, mended):
    if not mended:  # when this fails, Panel needs no mending any more
        original = document._dispatch_msgs
        while original.__module__ == write_every_message.__module__:
            original = original.__closure__[0].cell_contents
        monkeypatch.setattr(document, "_dispatch_msgs", original)
    else:
        monkeypatch.setattr(document, "_dispatch_msgs", document._dispatch_msgs)
        write_every_message()
        write_every_message()
    written = asyncio.run(_two_messages(monkeypatch))
    assert written == ([["first"], ["second"]] if mended else [["first"]])
