"""Text files block by block: packed or not, bounded, with the numbers of their lines."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from engine.errors import DataError
from engine.frontends.files.limits import (
    FREE_UNPACKING,
    MAX_FILE_BYTES,
    MAX_LINE,
)
from engine.program import regular_files
from engine.program.limits import MAX_RATIO

CHUNK = 2**22
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file, without their ends.

    Attributes
    ----------
    first : int
        1-based number of the first of them.
    """

    first: int
    lines: list[bytes]


def size_of(path: Path) -> int:
    """Bytes of a file.

    Raises
    ------
    DataError
        If there is no such file, or it is too large.
    """
    try:
        if not regular_files.is_file(path):
            regular_files.opened(path).close()  # says what is wrong with it
        size = path.stat().st_size
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot read {path}: {problem}", hint="check its name") from None
    if size > MAX_FILE_BYTES:
        raise DataError(
            f"{path} has {size:,} bytes, the limit is {MAX_FILE_BYTES:,}", hint="split it"
        )
    return size


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A file, unpacked if it is packed, and how many bytes may be read from it."""
    packed = size_of(path)
    with regular_files.opened(path) as plain:
        start = plain.read(len(GZIP))
        plain.seek(0)
        if start != GZIP:
            yield plain, MAX_FILE_BYTES
            return
        allowed = min(MAX_FILE_BYTES, max(FREE_UNPACKING, MAX_RATIO * packed))
        with gzip.open(plain, "rb") as unpacked:
            yield cast(IO[bytes], unpacked), allowed


def blocks(path: Path) -> Iterator[Block]:
    """The lines of a text file, ``.gz`` or not, a few MiB at a time.

    Raises
    ------
    DataError
        If it cannot be read, unpacks to too much, or has a line that no table has.
    """
    number, rest, total = 1, b"", 0
    try:
        with _opened(path) as (file, allowed):
            while chunk := file.read(CHUNK):
                total += len(chunk)
                if total > allowed:
                    raise DataError(
                        f"{path} unpacks to more than {allowed:,} bytes",
                        hint=f"a packed file may hold {MAX_RATIO} times its size",
                    )
                whole, end, tail = (rest + chunk).rpartition(b"\n")
                if len(tail) > MAX_LINE:
                    raise _too_long(path, number + whole.count(b"\n") + len(end))
                rest = tail
                if end:
                    block = Block(number, whole.split(b"\n"))
                    number += len(block.lines)
                    yield block
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(
            f"cannot read {path}: {problem}", hint="the file may be cut short or damaged"
        ) from None
    if rest:
        yield Block(number, [rest])


def _too_long(path: Path, line: int) -> DataError:
    return DataError(
        f"a line of more than {MAX_LINE:,} bytes",
        hint="one row per line",
        source=str(path),
        line=line,
    )


class Lines:
    """A text file whose head is read line by line and whose body block by block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        self._blocks = blocks(path)
        self._block = Block(1, [])
        self._next = 0

    def take(self) -> bytes | None:
        """The next line; None at the end."""
        while self._next == len(self._block.lines):
            block = next(self._blocks, None)
            if block is None:
                return None
            self._block, self._next = block, 0
        self.number = self._block.first + self._next
        self._next += 1
        return self._block.lines[self._next - 1]

    def rest(self) -> Iterator[Block]:
        """Everything that was not taken."""
        if self._next < len(self._block.lines):
            yield Block(self._block.first + self._next, self._block.lines[self._next :])
        yield from self._blocks

    def error(self, message: str, hint: str) -> DataError:
        """An error at the line that was taken last."""
        return DataError(message, hint=hint, source=str(self.path), line=max(self.number, 1))
