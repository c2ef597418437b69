"""Forks end with their work, and say whether it failed."""

from __future__ import annotations

import os
import signal

import psutil

from fuseloom_workbench.service import process
from tests.waiting import until


def code_of(pid: int) -> int:
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def fails() -> None:
    raise ValueError


def test_a_fork_ends_with_its_work():
    assert code_of(process.fork(lambda: None)) == 0
    assert code_of(process.fork(fails)) == 1


def test_a_fork_ends_with_its_parent_unless_it_lasts():
    reading, writing = os.pipe()

    def wait() -> None:
        os.write(writing, f"{os.getpid()}\n".encode())
        signal.pause()

    def parent() -> None:
        process.fork(wait)
        process.fork(wait, lasts=True)
        signal.pause()

    between = process.fork(parent)
    text = b""
    while text.count(b"\n") < 2:
        text += os.read(reading, 100)
    pids = {int(line) for line in text.split()}
    os.kill(between, signal.SIGKILL)
    os.waitpid(between, 0)

    def alive() -> set[int]:
        return {p for p in pids if psutil.pid_exists(p)
                and psutil.Process(p).status() != psutil.STATUS_ZOMBIE}  # fmt: skip

    until(lambda: len(alive()) == 1, "one of both is left")
    for pid in alive():
        os.kill(pid, signal.SIGKILL)
    os.close(reading)
    os.close(writing)
