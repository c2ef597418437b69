"""A Dask scheduler with workers on this machine, each a process that can be killed."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from tests.waiting import until

ROOT = Path(__file__).parents[3]


class Cluster:
    """A scheduler at one address and so many workers of one thread each."""

    def __init__(self, folder: Path, workers: int) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._folder = folder
        self._log = (folder / "dask.log").open("ab")
        self.seen: set[psutil.Process] = set()
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in range(workers)]

    def mend(self) -> None:
        """Start again what has ended."""
        self.note()
        if self.scheduler.poll() is not None:
            self.scheduler = self._scheduler()
        for place, worker in enumerate(self.workers):
            if worker.poll() is not None:
                self.workers[place] = self._worker()

    def jobs(self) -> list[psutil.Process]:
        """The processes in which workers do jobs."""
        found: list[psutil.Process] = []
        for worker in self.workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                found += psutil.Process(worker.pid).children()
        return found

    def note(self) -> None:
        """Remember the processes that there are."""
        self.seen.update(self.jobs())

    def close(self) -> None:
        """End all; nothing is left behind."""
        self.note()
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()
        self._log.close()
        until(lambda: not any(p.is_running() for p in self.seen), "no process is left")

    def _scheduler(self) -> subprocess.Popen[bytes]:
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))

    def _worker(self) -> subprocess.Popen[bytes]:
        return self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1",
            "--local-directory", str(self._folder / "work"), "--death-timeout", "60",
        )  # fmt: skip

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *options]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.Popen(command, stdout=self._log, stderr=self._log, env=environment)
