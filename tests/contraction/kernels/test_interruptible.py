"""Ctrl-C while machine code runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from fuseloom.contraction.kernels.interruptible import interruptible
from tests.waiting import PATIENCE


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
    finished: list[bool] = []

    def work() -> None:
        asked.set()
        ended.wait(PATIENCE)
        finished.append(True)

    def interrupt() -> None:
        asked.wait(PATIENCE)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert not finished, "what waits is not held up by the work"
    ended.set()
