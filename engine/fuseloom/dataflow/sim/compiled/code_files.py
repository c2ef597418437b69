"""Machine code on disk: a file per kernel, which says what it holds and is replaced whole.

Such a file is loaded only if it is what was written under its name, and only from a folder that
nobody else may write to: what is in it runs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from fuseloom.atomic_files import replacing
from fuseloom.errors import SimulationError

_HEAD = b"fuseloom kernel 1\n"
_DIGEST = hashlib.sha256
SUFFIX = ".kernel"
LARGEST = 2**26
"""Bytes of a file, at most; the largest kernels take some hundred thousand."""


class UnsafeFolderError(SimulationError):
    """A folder in which others may put what this process would run."""


def own_folder(path: Path, *, above: int = 1) -> Path:
    """A folder for files that are run, made if it is not there.

    Parameters
    ----------
    above : int
        How many of the folders outside it must be this user's, too.

    Raises
    ------
    UnsafeFolderError
        If somebody else may write to it, or to those outside it.
    OSError
        If it cannot be made.
    """
    for folder in (*reversed(path.parents[:above]), path):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if reason := _others_write(folder.stat()):
            raise UnsafeFolderError(
                f"{folder} {reason}", hint=f"make it yours alone: chmod go-w {folder}"
            )
    return path


def _others_write(found: os.stat_result) -> str | None:
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written to by other users"
    return None


class CodeFile:
    """The file of one kernel's machine code.

    Parameters
    ----------
    folder : Path
        One of :func:`own_folder`.
    name : str
        The kernel's name.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}{SUFFIX}"
        self._name = name.encode()
        self._seen: tuple[tuple[int, int, int], bool] | None = None

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.lstat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    @property
    def there(self) -> bool:
        """True if there is any such file."""
        return self._stamp() is not None

    @property
    def sound(self) -> bool:
        """True if the file is intact and was written under this name."""
        stamp = self._stamp()
        if stamp is None:
            return False
        if self._seen is None or self._seen[0] != stamp:
            self._seen = stamp, self.load() is not None
        return self._seen[1]

    def load(self) -> bytes | None:
        """Return the contents of the file; None if it is missing or not intact."""
        try:
            number = os.open(
                self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            )
        except OSError:
            return None
        with os.fdopen(number, "rb") as file:
            found = os.fstat(number)
            if not stat.S_ISREG(found.st_mode) or _others_write(found) or found.st_size > LARGEST:
                return None
            try:
                data = file.read(LARGEST + 1)
            except OSError:
                return None
        return self._body(data)

    def _body(self, data: bytes) -> bytes | None:
        """Return what a file with this name and these bytes holds; None if it is not intact."""
        begin = len(_HEAD) + _DIGEST().digest_size
        body = data[begin:]
        return body if data[:begin] == self._head(body) else None

    def take(self, data: bytes) -> None:
        """Keep a whole file that was written under this name elsewhere.

        Raises
        ------
        SimulationError
            If it is not intact.
        OSError
            If it cannot be written.
        """
        body = self._body(data)
        if body is None:
            raise SimulationError(f"the file {self.path.name} is damaged, or of another name")
        self.save(body)

    def save(self, body: bytes) -> None:
        """Keep this in place of what there was.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        with replacing(self.path, private=True) as file:
            file.write(self._head(body) + body)

    def _head(self, body: bytes) -> bytes:
        return _HEAD + _DIGEST(self._name + b"\n" + body).digest()
