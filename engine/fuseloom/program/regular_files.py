"""Files as users name them: regular ones only, and no more of them than is asked for.

A pipe would wait for a writer, a device never ends, and neither has a size that could be checked
before it is read.  What is written is there whole or not at all.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fuseloom.atomic_files import replacing
from fuseloom.errors import DataError, FuseloomError
from fuseloom.wording import counted

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def opened(
    path: str | Path, *, what: str = "", error: type[FuseloomError] = DataError
) -> IO[bytes]:
    """A regular file, opened to be read.

    Parameters
    ----------
    what : str
        What it is to be, for people: ``program``.
    error : type
        What is raised.

    Raises
    ------
    FuseloomError
        If there is no such file, it may not be read, or is something else.
    """
    called = f"the {what} {path}" if what else str(path)
    try:
        # Without waiting: a pipe is told from a file before anybody writes to it.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as problem:
        reason = str(problem.strerror if isinstance(problem, OSError) else problem)
        raise error(f"cannot read {called}: {reason}", hint="name a file that exists") from None
    mode = os.fstat(number).st_mode
    if not stat.S_ISREG(mode):
        os.close(number)
        kind = next((kind for test, kind in _KINDS if test(mode)), "no file")
        raise error(f"cannot read {called}: it is {kind}", hint="name a regular file")
    return os.fdopen(number, "rb")


def content(
    path: str | Path, most: int, *, what: str = "", error: type[FuseloomError] = DataError
) -> bytes:
    """All bytes of a regular file.

    Parameters
    ----------
    most : int
        Bytes that it may have.

    Raises
    ------
    FuseloomError
        As for :func:`opened`, and if it is larger.
    """
    called = f"the {what} {path}" if what else str(path)
    with opened(path, what=what, error=error) as file:
        try:
            found = file.read(min(most, os.fstat(file.fileno()).st_size) + 1)
        except OSError as problem:
            raise error(f"cannot read {called}: {problem.strerror}") from None
    if len(found) > most:
        raise error(f"{called} is larger than {_size(most)}", hint="that is the limit")
    return found


def text(
    path: str | Path, most: int, *, what: str = "", error: type[FuseloomError] = DataError
) -> str:
    """The text of a regular file, in UTF-8.

    Raises
    ------
    FuseloomError
        As for :func:`content`, and if it is no such text.
    """
    try:
        return content(path, most, what=what, error=error).decode("utf-8")
    except UnicodeDecodeError:
        called = f"the {what} {path}" if what else str(path)
        raise error(f"{called} is not UTF-8 text", hint="save it as UTF-8") from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all; its folder is made where there is none.

    Raises
    ------
    DataError
        If it cannot be written, or there is something else of that name: a pipe, a device.
    """
    with written(path) as file:
        file.write(content)


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """A file to be written piece by piece, which is there whole or not at all.

    Raises
    ------
    DataError
        As :func:`write_bytes`.
    """
    if exists(path) and not is_file(path):
        raise DataError(f"cannot write {path}: it is no file", hint="name a regular file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            yield file
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise DataError(f"cannot write {path}: {reason}") from None


def is_folder(path: str | Path) -> bool:
    """Return whether there is a folder of that name; impossible names are not folders."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: str | Path) -> bool:
    """Return whether there is a regular file of that name."""
    return stat.S_ISREG(_mode(path))


def exists(path: str | Path) -> bool:
    """Return whether there is anything of that name."""
    return _mode(path) != 0


def is_special(path: str | Path) -> bool:
    """Return whether there is something of that name that is neither a file nor a folder."""
    return exists(path) and not is_file(path) and not is_folder(path)


def _mode(path: str | Path) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{counted(count, 'byte')}"
