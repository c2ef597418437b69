"""Targets of jobs: good ones, and poisoned ones."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuseloom.errors import DeadlockError, LimitError, OrderError
from tests.exploration.store.samples import record

CHILD = 60.0
"""Seconds that a child lives which a job leaves behind."""

Report = Callable[[float, str], bool]


def double(request: Any, report: Report) -> Any:
    return 2 * request


def slow(request: float, report: Report) -> str:
    """Takes so many seconds, and listens."""
    end = time.monotonic() + request
    while time.monotonic() < end:
        if not report(0.5, "sleeping"):
            raise OrderError("told to end")
        time.sleep(0.01)
    return "slept"


def run(request: dict[str, Any], report: Report) -> Any:
    """A run, after what else is asked for."""
    number = request["number"]
    if "log" in request:
        with Path(request["log"]).open("a") as log:
            log.write(f"{number}\n")
    time.sleep(request.get("sleep", 0))
    POISONS.get(request.get("poison", ""), lambda: None)()
    return record(number).to_dict()


def _raise() -> None:
    raise ZeroDivisionError("poison\nof two lines")


def _refuse() -> None:
    raise OrderError("j must stay outside i", hint="move it")


def _wait_for_itself() -> None:
    raise DeadlockError("a waits for b")


def _too_many() -> None:
    raise LimitError("more than 3 tokens")


def _hang() -> None:
    while True:
        time.sleep(1)


def _hang_deaf() -> None:
    """In C, keeping the interpreter's lock."""
    ctypes.PyDLL(None).sleep(1000)


def _spin() -> None:
    while True:
        pass


def _segfault() -> None:
    ctypes.string_at(0)


def _abort() -> None:
    os.abort()


def _exit() -> None:
    print("leaving", file=sys.stderr)
    os._exit(3)


def _leave() -> None:
    raise SystemExit(0)


def _killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _memory() -> None:
    bytearray(100 << 30)


def _nibble() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def _chatter() -> None:
    print("this is no answer")
    os.write(1, b'{"key": "x", "fate": "done"}\n')


def _deep() -> None:
    _deep()


POISONS: dict[str, Callable[[], None]] = {
    "raise": _raise, "refuse": _refuse, "deadlock": _wait_for_itself, "tokens": _too_many,
    "hang": _hang, "deaf": _hang_deaf, "spin": _spin, "segfault": _segfault, "abort": _abort,
    "exit": _exit, "leave": _leave, "killed": _killed, "memory": _memory, "nibble": _nibble,
    "chatter": _chatter, "deep": _deep,
}  # fmt: skip
"""The faults that a job may add."""

FATES = {
    "raise": "failed", "refuse": "refused", "deadlock": "refused", "tokens": "limit",
    "hang": "limit", "deaf": "limit", "spin": "limit", "segfault": "quarantined",
    "abort": "quarantined", "exit": "quarantined", "leave": "quarantined",
    "killed": "quarantined", "memory": "limit", "nibble": "limit", "chatter": "done",
    "deep": "failed",
}  # fmt: skip
"""The end of a job with each fault."""


def odd(request: str, report: Report) -> Any:
    """Values that are no JSON."""
    return {"nan": float("nan"), "set": {1}, "large": "x" * 5_000_000, "none": None}[request]


def pid(request: Any, report: Report) -> int:
    return os.getpid()


def fork(request: Any, report: Report) -> int:
    """Leaves a child that keeps the pipes open, and dies."""
    if not os.fork():
        time.sleep(CHILD)
        os._exit(0)
    os._exit(1)


def read(request: dict[str, Any], report: Report) -> list[str]:
    """The content of the first file, and the paths that there are."""
    first, *others = request["paths"]
    return [Path(first).read_text(), first, *others]
