"""Text files block by block: packed or not, bounded, with the numbers of their lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_LINE
from fuseloom.frontends.files.packed import unpacked

CHUNK = 2**22
HEAD = 4096
MARK = codecs.BOM_UTF8


@dataclass(frozen=True)
class LineBlock:
    """Some whole lines of a file, without their ends.

    Attributes
    ----------
    first : int
        1-based number of the first of them.
    """

    first: int
    lines: list[bytes]


def blocks(path: Path) -> Iterator[LineBlock]:
    """The lines of a text file, packed or not, a few MiB at a time.

    Lines end with LF or CR LF, or with CR alone in a file that has no LF at its start.  A byte
    order mark is left out.

    Raises
    ------
    DataError
        If it cannot be read, unpacks to too much, or has a line that no table has.
    """
    number, rest = 1, b""
    with unpacked(path) as content:
        start = content.start(HEAD)
        check_text(path, start)
        content.read(len(MARK) if start.startswith(MARK) else 0)
        alone = b"\r" in start[:-1] and b"\n" not in start
        while chunk := content.read(CHUNK):
            if alone:
                chunk = chunk.replace(b"\r", b"\n")
            whole, end, tail = (rest + chunk).rpartition(b"\n")
            if len(tail) > MAX_LINE:
                raise _too_long(path, number + whole.count(b"\n") + len(end))
            rest = tail
            if end:
                block = LineBlock(number, whole.split(b"\n"))
                number += len(block.lines)
                yield block
    if rest:
        yield LineBlock(number, [rest])


def check_text(path: Path, start: bytes) -> None:
    """Refuse text in two bytes per character, which spreadsheets write.

    Raises
    ------
    DataError
        Names the encoding.
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(
            f"{path} is text in UTF-16", hint="write it in UTF-8: iconv -f UTF-16 -t UTF-8"
        )


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
        self._block = LineBlock(1, [])
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

    def rest(self) -> Iterator[LineBlock]:
        """Everything that was not taken."""
        if self._next < len(self._block.lines):
            yield LineBlock(self._block.first + self._next, self._block.lines[self._next :])
        yield from self._blocks

    def error(self, message: str, hint: str) -> DataError:
        """An error at the line that was taken last."""
        return DataError(message, hint=hint, source=str(self.path), line=max(self.number, 1))
