"""The Dask worker's part of :class:`fuseloom.exploration.executors.dask.DaskWorkers`.

Jobs are done in processes of their own, one per thread that has work; they end when the worker
closes, when the driver leaves, or when they have had nothing to do for a while.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from distributed import Reschedule, WorkerPlugin, get_worker

from fuseloom.errors import FuseloomError
from fuseloom.exploration.executors.job import Job, JobLimits, JobResult, JobStatus, Progress
from fuseloom.exploration.executors.local import LocalProcesses
from fuseloom.exploration.store.identity import engine_version
from fuseloom.program import regular_files

LOOK = 0.25
"""Seconds between two looks whether a job is still wanted."""
_TELL = 0.5
"""Seconds between two reports of a job."""
_IDLE = 30.0
"""Seconds after which a process without a job ends."""


def given(content: bytes) -> bytes:
    """The content of a file, as a task that can be done again."""
    return content


class Processes(WorkerPlugin):  # type: ignore[misc]  # Dask has no types
    """The processes of a Dask worker that do jobs: one per thread, while there is work."""

    def setup(self, worker: Any) -> None:
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._lock = threading.Lock()
        self._over = False

    def teardown(self, worker: Any) -> None:
        """The worker closes, or the driver has left."""
        with self._lock:
            self._over = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for process in idle:
            process.end()
        for process in busy:
            process.stop()

    @contextlib.contextmanager
    def process(self) -> Iterator[_Process]:
        """A process for one job."""
        with self._lock:
            process = self._idle.pop() if self._idle else _Process()
            self._busy.add(process)
        try:
            yield process
        finally:
            with self._lock:
                self._busy.discard(process)
                self._idle.append(process)
            timer = threading.Timer(_IDLE, self._end_idle, (process, process.jobs))
            timer.daemon = True
            timer.start()
            if self._over:
                self._end_idle(process, process.jobs)

    def _end_idle(self, process: _Process, jobs: int) -> None:
        """End a process that has had no job since."""
        with self._lock:
            if process not in self._idle or process.jobs != jobs:
                return
            self._idle.remove(process)
        process.end()


class _Process:
    """A worker process, used by one thread at a time."""

    def __init__(self) -> None:
        self.jobs = 0
        self._report: Progress | None = None
        self._key = ""
        self._executor = LocalProcesses(1, self._hear)

    def do(self, job: Job, report: Progress, unwanted: Callable[[], bool]) -> JobResult:
        """Do a job; it is cancelled when it turns out that nobody wants it any more."""
        self.jobs += 1
        self._report, self._key = report, job.key
        over = threading.Event()

        def watch() -> None:
            while not over.wait(LOOK):
                if unwanted():
                    self.stop()

        threading.Thread(target=watch, daemon=True).start()
        try:
            self._executor.submit(job)
            while (answer := self._executor.next()) is not None:
                if answer.key == job.key:
                    return answer
            raise AssertionError("a job without an answer")
        finally:
            self._key = ""
            over.set()

    def stop(self) -> None:
        """Cancel what is done; may be called by any thread."""
        if self._key:
            self._executor.cancel(self._key)

    def end(self) -> None:
        """End the process, which has nothing to do."""
        self._executor.close()

    def _hear(self, key: str, share: float, text: str) -> None:
        if self._report is not None:
            self._report(key, share, text)


def carry_out(payload: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """Do a job on this Dask worker: its answer as plain data.

    Raises
    ------
    FuseloomError
        If this worker has another version of Fuseloom than the driver.
    """
    if payload["engine"] != engine_version():
        raise FuseloomError(f"a worker has version {engine_version()}, not {payload['engine']}")
    worker = get_worker()
    task = worker.get_current_task()
    last = 0.0

    def report(key: str, share: float, text: str) -> None:
        nonlocal last
        if time.monotonic() - last > _TELL:
            last = time.monotonic()
            worker.log_event(payload["plugin"], {"key": key, "share": share, "text": text})

    def unwanted() -> bool:
        known = worker.state.tasks.get(task)
        return known is None or known.state in ("cancelled", "released", "forgotten")

    request = _with_files(payload["request"], _stored(files, Path(worker.local_directory)))
    limits = JobLimits(payload["cpu"], payload["wall"], payload["memory"])
    with worker.plugins[payload["plugin"]].process() as process:
        job = Job(payload["key"], payload["target"], request, limits)
        answer = process.do(job, report, unwanted)
    if answer.fate is JobStatus.CANCELLED:  # nobody wants it, or this worker closes
        raise Reschedule
    return {
        "fate": answer.fate.value, "value": answer.value, "reason": answer.reason,
        "seconds": answer.seconds,
    }  # fmt: skip


def _stored(files: Mapping[str, bytes], folder: Path) -> dict[str, str]:
    """Copies of files on this worker, by what they were called."""
    found = {}
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        path = folder / "fuseloom-files" / f"{digest}{Path(name).suffix}"
        if not path.exists():
            regular_files.write_bytes(path, content)
        found[name] = str(path)
    return found


def _with_files(value: Any, places: Mapping[str, str]) -> Any:
    """Plain data with other paths in place of those that were given."""
    match value:
        case str():
            return places.get(value, value)
        case Mapping():
            return {name: _with_files(inner, places) for name, inner in value.items()}
        case list() | tuple():
            return [_with_files(inner, places) for inner in value]
    return value
