"""The server takes its memory from the C library, which can give back any page that is free.

CPython's own allocator takes a MiB at a time and gives one back only when nothing in it is in use:
after many pages have come and gone, some object that lives on lies in nearly each.  Its processes
that compute are short-lived, and keep that allocator, which is faster.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import Any

VARIABLE = "PYTHONMALLOC"
LIBRARY = "malloc"


def use_library() -> None:
    """Start this process anew with the C library's allocator, if it has another one.

    To be called first of all; what the user has chosen by the variable stays.
    """
    if VARIABLE not in os.environ and malloc_trim() is not None:
        os.environ[VARIABLE] = LIBRARY
        with contextlib.suppress(OSError):
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    if os.environ.get(VARIABLE) == LIBRARY:
        del os.environ[VARIABLE]  # processes that this one starts are as usual


def give_back() -> None:
    """Give what is free back to the system, where the C library can."""
    trim = malloc_trim()
    if trim is not None:
        trim(0)


def malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not every C library has it
        return None
