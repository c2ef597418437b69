"""Frames over sockets: whole messages in order, with open files, and ends that are noticed."""

from __future__ import annotations

import asyncio
import os
import random
import socket

import pytest

from fuseloom_workbench.service.wire import Closed, WorkerConnection, WorkerSocket, pack
from tests.waiting import until_async


def test_messages_arrive_whole_and_in_order():
    a, b = socket.socketpair()
    one, other = WorkerSocket(a), WorkerSocket(b)
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
    WorkerSocket(a).send({"here": 1}, (write,))
    os.close(write)
    other = WorkerSocket(b)
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
        line = WorkerConnection(a, lambda message, files: heard.append(message), ended.set)
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


def test_files_stay_with_their_message_wherever_a_read_ends():
    """One read may bring the end of a message and the files of the next, or a file too early."""
    rng = random.Random(5)
    for chunk in (7, 40, 1 << 18):
        asyncio.run(_files_stay(rng, chunk))


async def _files_stay(rng, chunk):
    a, b = socket.socketpair()
    heard = []

    def hear(message, files):
        marks = [os.read(file, 10).decode() for file in files]
        for file in files:
            os.close(file)
        heard.append((message["n"], marks))

    line = WorkerConnection(a, hear, lambda: None)
    wanted = []
    for n in range(60):
        ends, marks = [], []
        for k in range(rng.choice((0, 0, 1, 2))):
            read, write = os.pipe()
            marks.append(f"{n}.{k}")
            os.write(write, marks[-1].encode())
            os.close(write)
            ends.append(read)
        frame = pack({"n": n, "text": "x" * rng.choice((0, 10, 900))}, len(ends))
        if ends:
            socket.send_fds(b, [frame[:chunk]], ends)
            frame = frame[chunk:]
        for start in range(0, len(frame), chunk):
            b.sendall(frame[start : start + chunk])
            if rng.random() < 0.1:
                await asyncio.sleep(0)
        for file in ends:
            os.close(file)
        wanted.append((n, marks))
    await until_async(lambda: len(heard) >= len(wanted), "every message is received")
    line.close()
    b.close()
    assert heard == wanted


def test_a_message_that_fails_does_not_take_others_with_it():
    async def scenario():
        a, b = socket.socketpair()
        heard = []

        def hear(message, _):
            heard.append(message["n"])
            assert message["n"] != 1

        line = WorkerConnection(a, hear, lambda: None)
        b.sendall(b"".join(pack({"n": n}) for n in range(3)))
        await until_async(lambda: len(heard) >= 3, "every message is received")
        line.close()
        b.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("bad", [b"\xff\xff\xff\xff\0", b"\0\0\0\5\0hello", b"\0\0\0\2\1{}"])
def test_what_is_no_frame_ends_a_line(bad):
    async def scenario():
        a, b = socket.socketpair()
        ended = asyncio.Event()
        WorkerConnection(a, lambda *_: None, ended.set)
        b.sendall(bad)
        await asyncio.wait_for(ended.wait(), 5)
        b.close()

    asyncio.run(scenario())
