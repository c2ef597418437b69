"""Frames over sockets: whole messages in order, with open files, and ends that are noticed."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest

from workbench.service.wire import Closed, Line, Wire, pack


def test_messages_arrive_whole_and_in_order():
    a, b = socket.socketpair()
    one, other = Wire(a), Wire(b)
    sent = [{"n": k, "text": "ü" * k * 100} for k in range(20)]
    for message in sent:
        one.send(message)
    assert [other.receive() for _ in sent] == sent
    one.close()
    with pytest.raises(Closed):
        other.receive()
    with pytest.raises(Closed):
        other.send({"large": "x" * 10_000_000})


def test_files_travel_along():
    a, b = socket.socketpair()
    read, write = os.pipe()
    Wire(a).send({"here": 1}, (write,))
    os.close(write)
    other = Wire(b)
    assert other.receive() == {"here": 1}
    file = other.file()
    os.write(file, b"through")
    assert os.read(read, 100) == b"through"
    for one in (file, read):
        os.close(one)


def test_a_line_reads_what_comes_in_pieces_and_writes_what_is_large():
    async def scenario():
        a, b = socket.socketpair()
        heard, ended = [], asyncio.Event()
        line = Line(a, lambda message, files: heard.append(message), ended.set)
        frame = pack({"x": "y" * 1000})
        loop = asyncio.get_running_loop()
        b.setblocking(False)
        for k in range(0, len(frame), 100):
            await loop.sock_sendall(b, frame[k : k + 100])
            await asyncio.sleep(0)
        large = {"z": "w" * 3_000_000}
        line.send(large)
        got = b""
        while len(got) < len(pack(large)):
            got += await loop.sock_recv(b, 1 << 20)
        assert got == pack(large)
        assert heard == [{"x": "y" * 1000}]
        b.close()
        await asyncio.wait_for(ended.wait(), 5)
        assert not line.open
        line.send({})  # harmless

    asyncio.run(scenario())


@pytest.mark.parametrize("bad", [b"\xff\xff\xff\xff", b"\0\0\0\5hello"])
def test_what_is_no_frame_ends_a_line(bad):
    async def scenario():
        a, b = socket.socketpair()
        ended = asyncio.Event()
        Line(a, lambda *_: None, ended.set)
        b.sendall(bad)
        await asyncio.wait_for(ended.wait(), 5)
        b.close()

    asyncio.run(scenario())
