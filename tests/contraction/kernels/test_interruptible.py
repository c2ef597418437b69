"""Ctrl-C while machine code runs."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from engine.contraction.kernels.interruptible import interruptible


def test_what_work_gives_and_what_it_raises() -> None:
    assert interruptible(lambda: threading.current_thread().name) == "kernel"
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)


def test_an_interrupt_ends_waiting() -> None:
    asked, ended = threading.Event(), threading.Event()

    def work() -> None:
        asked.set()
        ended.wait(20)

    def interrupt() -> None:
        asked.wait(20)
        signal.raise_signal(signal.SIGINT)

    began = time.monotonic()
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    ended.set()
    assert time.monotonic() - began < 10
