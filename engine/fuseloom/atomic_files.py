"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PRIVATE = 0o600
"""The mode of a file that only its owner may read and write."""


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Give a new file to write to, which takes the place of ``path`` once it is whole.

    Parameters
    ----------
    mode : int
        Permissions of the file, of which the process's mask takes some away.

    Raises
    ------
    OSError
        If it cannot be written; what was there stays.
    """
    beside = path.with_name(f".fuseloom-{secrets.token_hex(8)}")
    number = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
    )
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
