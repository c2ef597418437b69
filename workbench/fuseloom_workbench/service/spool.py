"""The runs of a page, kept for it outside the server's memory.

They lie in a file without a name in the system's folder for temporary files: nobody else can open
it, and it is gone with the page, or with the server however that ends.  What cannot be written
there, because the disk is full, stays in memory.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO


class TextSpool:
    """Texts in the order they came, the last so many of them.

    Parameters
    ----------
    most : int
        Texts that are kept; older ones go.
    texts : iterable of str, optional
        What is in it at first.

    Attributes
    ----------
    size : int
        Bytes of all that it holds.
    """

    def __init__(self, most: int, texts: Iterable[str] = ()) -> None:
        self.most = most
        self.size = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._places: list[tuple[int, int] | bytes] = []
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        for place in self._places:
            yield self._read(place).decode()

    @property
    def on_disk(self) -> int:
        """Bytes of the file, with those of texts that have gone."""
        return 0 if self._file is None else os.fstat(self._file.fileno()).st_size

    def add(self, text: str) -> None:
        """Keep one more."""
        self._put(text.encode())
        while len(self._places) > self.most:
            self.size -= _bytes(self._places.pop(0))
        if self._end > 2 * self.size:
            self._rewrite()

    def close(self) -> None:
        """Forget all of it; harmless when that is done."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
        self._places.clear()
        self._end = self.size = 0

    def _put(self, data: bytes) -> None:
        self.size += len(data)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="fuseloom-")  # noqa: SIM115 (it stays open)
            write_at(self._file.fileno(), data, self._end)
        except OSError:
            self._places.append(data)
            return
        self._places.append((self._end, len(data)))
        self._end += len(data)

    def _read(self, place: tuple[int, int] | bytes) -> bytes:
        if isinstance(place, bytes):
            return place
        assert self._file is not None
        start, length = place
        return os.pread(self._file.fileno(), length, start)

    def _rewrite(self) -> None:
        """Move what is kept to the front: what has gone would fill the disk."""
        kept = [self._read(place) for place in self._places]
        self._places.clear()
        self._end = self.size = 0
        for data in kept:
            self._put(data)
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)


def _bytes(place: tuple[int, int] | bytes) -> int:
    return len(place) if isinstance(place, bytes) else place[1]


def write_at(file: int, data: bytes, start: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, start)
        view, start = view[done:], start + done
