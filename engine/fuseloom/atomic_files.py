"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, private: bool = False) -> Iterator[IO[bytes]]:
    """Give a new file to write to, which takes the place of ``path`` once it is whole.

    Parameters
    ----------
    private : bool
        Only its owner may read and write it, whatever the process's mask allows.

    Raises
    ------
    OSError
        If it cannot be written; what was there stays.
    """
    beside = path.with_name(f".fuseloom-{secrets.token_hex(8)}")
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    number = os.open(beside, new, 0o600 if private else 0o666)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
