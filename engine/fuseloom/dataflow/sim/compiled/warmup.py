"""Compiling kernels beforehand, in several processes."""

from __future__ import annotations

import gc
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from fuseloom import interpreter
from fuseloom.dataflow.sim.compiled.cache import SAID, UnkeptError, prune, root_directory
from fuseloom.dataflow.sim.compiled.inlining import helpers_of
from fuseloom.dataflow.sim.compiled.kernels import KERNELS

Report = Callable[[str, int, int, float], None]
"""Called with a kernel's name, how many are done, of how many, and the seconds it took."""


WORKERS = 4  # each compiles the helpers anew, so more would not be faster


def ready(names: Iterable[str] | None = None) -> bool:
    """Return whether these kernels (all, if not given) can run without being compiled first."""
    return all(KERNELS[name].ready for name in (KERNELS if names is None else names))


@cache
def _size(function: Callable[..., Any]) -> int:
    """Return a rough size of the code to compile: helpers become part of their callers."""
    return len(function.__code__.co_code) + sum(map(_size, helpers_of(function)))


def _work_in(name: str) -> int:
    return _size(KERNELS[name].function)


def warmup(
    progress: Report | None = None,
    workers: int | None = None,
    names: Iterable[str] | None = None,
) -> None:
    """Compile kernels (all, if not given) that are not in the cache, in several processes.

    Raises
    ------
    UnkeptError
        If some cannot be written to the cache; the others are.
    """
    prune()
    wanted = KERNELS if names is None else names
    missing = sorted((n for n in wanted if not KERNELS[n].ready), key=_work_in, reverse=True)
    count = min(workers or min(os.cpu_count() or 1, WORKERS), len(missing))
    for done, (name, seconds) in enumerate(_compile_all(missing, count), 1):
        if progress is not None:
            progress(name, done, len(missing), seconds)
    if not all(KERNELS[name].kept for name in missing):
        raise UnkeptError(
            "the compiled kernels could not be written",
            hint=f"is {root_directory()} writable, and is there room?",
        )


def _compile_all(names: list[str], workers: int) -> Iterator[tuple[str, float]]:
    """Compile kernels; yield each name and how long it took."""
    if workers <= 1 or not sys.executable:
        yield from map(_compile_one, names)
        return
    shares: list[list[str]] = [[] for _ in range(workers)]
    for name in names:  # the largest first, each to whoever has least to do
        min(shares, key=lambda share: sum(map(_work_in, share))).append(name)
    lines: queue.Queue[str | None] = queue.Queue()

    def follow(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    processes = [
        subprocess.Popen(
            interpreter.command("-m", "fuseloom.dataflow.sim.compiled.warmup", *share),
            stdin=subprocess.PIPE,  # whose end tells it that this process has ended
            stdout=subprocess.PIPE,
            text=True,
            env=interpreter.environment(),
        )
        for share in shares
    ]
    try:
        for process in processes:
            threading.Thread(target=follow, args=(process,), daemon=True).start()
        running = len(processes)
        while running:
            line = lines.get()
            if line is None:
                running -= 1
                continue
            name, seconds = line.split()
            yield name, float(seconds)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _compile_one(name: str) -> tuple[str, float]:
    start = time.perf_counter()
    _ = KERNELS[name].compiled
    return name, time.perf_counter() - start


def _work(names: list[str]) -> None:
    """Run a worker process of :func:`warmup`.

    It does not live long enough for cycles of garbage to matter: looking for them takes a tenth
    of the time.  Where nothing can be kept it ends at once, and who started it says so.
    """
    gc.disable()
    threading.Thread(target=_end_with_who_started_this, daemon=True).start()
    SAID.append("by who started this process")
    for name in names:
        made = _compile_one(name)
        if not KERNELS[name].kept:
            return
        print(*made, flush=True)


def _end_with_who_started_this() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    _work(sys.argv[1:])
