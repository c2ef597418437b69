"""The folder of cached machine code, and the check that a file is intact."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path

import platformdirs

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
KEPT = 1_000
"""Shared objects and modules that a cache keeps, those that were used last."""
_END = b"fuseloom shared object 1\n"


def cache_folder() -> tuple[Path, str]:
    """Return the folder of machine code, and the reason if it is kept for this process only.

    It is the folder that ``FUSELOOM_CACHE_DIR`` names, or the user's cache.
    """
    chosen = os.environ.get(ENVIRONMENT)
    root = Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False))
    folder = root / "networks"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = next(filter(None, (_others_write(p.stat()) for p in (root, folder))), "")
        if not problem and not os.access(folder, os.W_OK | os.X_OK):
            problem = "cannot be written to"
    except OSError as error:
        problem = str(error.strerror or error)
    if problem:
        return _own_folder(), f"machine code is not kept: {folder} {problem}"
    return folder, ""


@lru_cache(maxsize=1)
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fuseloom-networks-")


def _own_folder() -> Path:
    return Path(_temporary().name)


def _others_write(found: os.stat_result) -> str:
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written to by other users"
    return ""


def keep_used(path: Path) -> None:
    """Say that a file is in use, and remove those that were not for the longest time."""
    try:
        os.utime(path)
        kept = [p for p in path.parent.iterdir() if p.suffix in (".so", ".py")]
        kept.sort(key=lambda p: p.stat().st_mtime)
        for old in kept[:-KEPT]:
            old.unlink(missing_ok=True)
            for code in (path.parent / "__pycache__").glob(f"{old.stem}.*"):
                code.unlink(missing_ok=True)
    except OSError:  # another process removes, too
        pass


def mark(body: bytes) -> bytes:
    return hashlib.sha256(body).digest() + _END


def is_whole(path: Path) -> bool:
    """Return whether a file is complete and unchanged since it was written."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or _others_write(found):
            return False
        data = path.read_bytes()
    except OSError:
        return False
    body = data[: -len(mark(b""))]
    return data[len(body) :] == mark(body)
