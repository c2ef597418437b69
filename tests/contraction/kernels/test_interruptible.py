"""Ctrl-C while machine code runs."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from fuseloom.contraction.kernels.interruptible import interruptible


def test_what_work_gives_and_what_it_raises() -> None:
    assert interruptible(lambda: threading.current_thread().name) == "kernel"
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C is not ignored, as it is in what a shell started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
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
