"""The default location of files of events: a folder of the cache, which stays small."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

import platformdirs

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
"""Environment variable that names the folder of the cache."""

MOST_BYTES = 4 << 30
"""Bytes of all files together, beyond which the oldest go."""

SUFFIX = ".events"
_NAME = re.compile(r"[0-9a-f]{16}(\.\d+)?\.events")


def folder() -> Path:
    """The folder."""
    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "events"


def new_file() -> Path:
    """A name that no file has yet, in the folder; the oldest files go if there are too many."""
    folder().mkdir(parents=True, exist_ok=True)
    prune()
    return folder() / f"{secrets.token_hex(8)}{SUFFIX}"


def known_file(path: str) -> Path:
    """The file of that name in the folder, wherever the path leads: it may come from a browser.

    Raises
    ------
    ValueError
        If such files do not have names like this.
    """
    name = Path(path).name
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no file of events")
    return folder() / name


def prune(most: int = MOST_BYTES) -> None:
    """Delete the oldest files, until all together have no more bytes than these."""
    found = []
    for path in folder().glob(f"*{SUFFIX}"):
        try:
            about = path.stat()
        except OSError:  # somebody else deleted it
            continue
        found.append((about.st_mtime, about.st_size, path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > most:
            path.unlink(missing_ok=True)
