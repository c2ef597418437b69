"""Frames over a socket: a length in four bytes, how many open files travel along, then JSON.

Used blocking inside worker processes (:class:`WorkerSocket`), and in the supervisor's event loop
(:class:`WorkerConnection`).
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Callable
from typing import Any

from fuseloom.wording import counted
from fuseloom_workbench.service.journal import note

_HEAD = struct.Struct(">IB")
CHUNK = 1 << 18
LONGEST = 1 << 28
"""Bytes of the longest frame that is read."""


class Closed(ConnectionError):  # noqa: N818 (it is how a conversation ends)
    """The other end is gone."""


def pack(message: Any, files: int = 0) -> bytes:
    """A message as a frame, with so many open files."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return _HEAD.pack(len(body), files) + body


class _MessageFrames:
    """Cuts a stream of bytes, and of open files beside it, into messages with their files.

    A read may end within a message, and bring the files of one together with the end of another.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._files: list[int] = []

    def add(self, more: bytes, files: list[int]) -> list[tuple[Any, list[int]]]:
        self._bytes += more
        self._files += files
        found = []
        while len(self._bytes) >= _HEAD.size:
            length, number = _HEAD.unpack_from(self._bytes)
            if length > LONGEST:
                raise Closed(f"a frame of {counted(length, 'byte')}")
            end = _HEAD.size + length
            if len(self._bytes) < end:
                break
            if len(self._files) < number:
                raise Closed("a message without its files")
            message = json.loads(bytes(self._bytes[_HEAD.size : end]))
            found.append((message, self._files[:number]))
            del self._bytes[:end], self._files[:number]
        return found

    def close(self) -> None:
        """Close what nobody has taken."""
        for file in self._files:
            os.close(file)
        self._files.clear()


class WorkerSocket:
    """A worker's end: blocking."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        end.setblocking(True)
        self._frames = _MessageFrames()
        self._ready: list[tuple[Any, list[int]]] = []
        self._files: list[int] = []

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def waiting(self) -> bool:
        """True if a message has been read already, so that the socket need not be readable."""
        return bool(self._ready)

    def send(self, message: Any, files: tuple[int, ...] = ()) -> None:
        """Send a message, with copies of open files.

        Raises
        ------
        Closed
            If nobody is there to read it.
        """
        frame = pack(message, len(files))
        try:
            if files:
                sent = socket.send_fds(self._socket, [frame], list(files))
                frame = frame[sent:]
            self._socket.sendall(frame)
        except OSError:
            raise Closed from None

    def receive(self) -> Any:
        """Wait for a message.

        Raises
        ------
        Closed
            If the other end is gone.
        """
        while not self._ready:
            try:
                data, files, _, _ = socket.recv_fds(self._socket, CHUNK, 8)
            except OSError:
                raise Closed from None
            if not data:
                raise Closed
            self._ready = self._frames.add(data, files)
        message, files = self._ready.pop(0)
        self._files += files
        return message

    def file(self) -> int:
        """The next open file that came with a message."""
        return self._files.pop(0)

    def close(self) -> None:
        self._socket.close()


class WorkerConnection:
    """The supervisor's end: calls back with each message, and once when it ends.

    Parameters
    ----------
    on_message : callable
        Takes the message and the open files that came since the one before.
    on_end : callable
        Called without arguments, after the last message.
    """

    def __init__(
        self,
        end: socket.socket,
        on_message: Callable[[Any, list[int]], None],
        on_end: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = end
        end.setblocking(False)
        self._frames = _MessageFrames()
        self._on_message = on_message
        self._on_end = on_end
        self._unsent: list[tuple[bytearray, list[int]]] = []
        self.open = True
        self._loop.add_reader(end.fileno(), self._read)

    def drain(self) -> None:
        """Take all that has come by now; of a process that is gone, that is all there will be."""
        while self.open and self._read():
            pass

    def _read(self) -> bool:
        """Take what has come; whether there may be more."""
        try:
            data, files, _, _ = socket.recv_fds(self._socket, CHUNK, 8, socket.MSG_CMSG_CLOEXEC)
            messages = self._frames.add(data, files) if data else None
        except BlockingIOError:
            return False
        except (OSError, ValueError):
            messages = None
        if messages is None:
            self.close()
            return False
        for message, its in messages:
            try:
                self._on_message(message, its)
            except Exception as problem:  # the messages after it are not to blame
                note("fault", reason=f"a message was not understood: {problem!r}")
        return True

    def send(self, message: Any, files: tuple[int, ...] = ()) -> None:
        """Send a message in order; the files may be closed when it has been sent."""
        if not self.open:
            return
        self._unsent.append((bytearray(pack(message, len(files))), list(files)))
        self._write()

    def _write(self) -> None:
        while self._unsent:
            data, files = self._unsent[0]
            try:
                if files:
                    sent = socket.send_fds(self._socket, [data], files)
                    self._unsent[0] = data, []
                else:
                    sent = self._socket.send(data[:CHUNK])
            except BlockingIOError:
                self._loop.add_writer(self._socket.fileno(), self._write)
                return
            except OSError:
                self.close()
                return
            del data[:sent]
            if not data:
                self._unsent.pop(0)
        if self.open:
            self._loop.remove_writer(self._socket.fileno())

    def close(self) -> None:
        """End it; harmless when it has ended."""
        if not self.open:
            return
        self.open = False
        self._loop.remove_reader(self._socket.fileno())
        self._loop.remove_writer(self._socket.fileno())
        self._socket.close()
        self._frames.close()
        self._on_end()
