"""Jobs in worker processes of this machine: a job may end its worker, and nothing else.

A worker does one job at a time.  One that is killed by its job is replaced; the job is begun once
more, and if it kills that worker, too, it is quarantined.  Where the system has killed a worker
(``SIGKILL``, as when memory runs out) another job may have been the cause: then the second time
it runs alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from typing import Any

from fuseloom import interpreter
from fuseloom.errors import DataError, FuseloomError
from fuseloom.exploration.executors.job import Job, JobResult, JobStatus, Progress
from fuseloom.wording import counted

_BOOT = "import sys; from fuseloom.exploration.executors.worker import main; main(int(sys.argv[1]))"
GRACE = 0.5
"""Seconds a job that is cancelled may take to end, before its worker is killed."""
TRIES = 2
"""Workers that a job may kill."""
_STILLBORN = 3
_KILLED_EARLY = 20
"""Workers that may end, or be killed by others, one after another before they are ready."""
_LOOK = 1.0


class LocalProcesses:
    """Carries out jobs in worker processes, which end with this object or its process.

    Parameters
    ----------
    workers : int, optional
        Processes at a time; by default one for each core that this process may use.
    progress : callable, optional
        See :data:`Progress`; it is called while :meth:`next` waits.
    """

    def __init__(self, workers: int | None = None, progress: Progress | None = None) -> None:
        if workers is not None and workers < 1:
            raise DataError(f"{counted(workers, 'worker')}", hint="at least one is needed")
        self.workers = workers or _cores()
        self.wanted = 2 * self.workers
        self._progress = progress
        self._waiting: deque[Job] = deque()
        self._alone: deque[Job] = deque()
        self._deaths: dict[str, int] = {}
        self._answers: deque[JobResult] = deque()
        self._cancels: deque[str] = deque()
        self._processes: list[_WorkerProcess] = []
        self._stillborn = self._killed_early = 0
        self._selector = selectors.DefaultSelector()
        self._bell, self._rope = os.pipe()
        self._selector.register(self._bell, selectors.EVENT_READ, None)
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The numbers of the worker processes."""
        return [worker.process.pid for worker in self._processes]

    def submit(self, job: Job) -> None:
        """Take a job.

        Raises
        ------
        DataError
            If its request is no JSON, or this executor was closed.
        """
        if self._closed:
            raise DataError("the executor is closed")
        try:
            json.dumps(job.request, allow_nan=False)
        except (ValueError, TypeError, RecursionError) as problem:
            raise DataError(f"the request of job {job.key[:40]} is no JSON: {problem}") from None
        self._waiting.append(job)
        self._assign()

    def cancel(self, key: str) -> None:
        """End a job; may be called by any thread."""
        self._cancels.append(key)
        with contextlib.suppress(OSError):
            os.write(self._rope, b".")

    def next(self) -> JobResult | None:
        """Wait for the next answer; None if there is no job left.

        Raises
        ------
        FuseloomError
            If worker processes cannot be started.
        """
        while not self._answers and not self._closed:
            self._take_cancels()
            self._assign()
            if self._answers:
                break
            if not (self._waiting or self._alone or any(w.job for w in self._processes)):
                return None
            for event, _ in self._selector.select(self._until()):
                if event.data is None:
                    os.read(self._bell, 4096)
                else:
                    self._hear(event.data)
            self._enforce()
        return self._answers.popleft() if self._answers else None

    def close(self) -> None:
        """End all workers and wait until they have; harmless when that was done."""
        if self._closed:
            return
        self._closed = True
        for worker in self._processes:
            worker.process.kill()
        for worker in self._processes:
            worker.process.wait()
            worker.shut()
        self._processes.clear()
        self._waiting.clear()
        self._alone.clear()
        self._selector.close()
        os.close(self._bell)
        os.close(self._rope)

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Inside -------------------------------------------------------------------------------------

    def _assign(self) -> None:
        """Give jobs to workers that have none; start workers where they lack."""
        busy = [worker for worker in self._processes if worker.job is not None]
        if self._alone:
            if not busy:
                self._give(self._alone)
            return
        if busy and busy[0].alone:
            return
        missing = min(len(self._waiting) + len(busy), self.workers) - len(self._processes)
        for _ in range(missing):
            self._start()
        while self._waiting and self._give(self._waiting):
            pass

    def _give(self, jobs: deque[Job]) -> bool:
        """Give the first of these jobs to a worker; False if none is free."""
        free = next((w for w in self._processes if w.ready and w.job is None), None)
        if free is None:
            if not self._processes:
                self._start()
            return False
        job = jobs.popleft()
        free.begin(job, alone=jobs is self._alone)
        return True

    def _start(self) -> None:
        worker = _WorkerProcess()
        self._processes.append(worker)
        self._selector.register(worker.output, selectors.EVENT_READ, worker)

    def _until(self) -> float:
        """Seconds until something is to be looked at."""
        ends = [w.deadline for w in self._processes if w.deadline is not None]
        return max(min([_LOOK, *(end - time.monotonic() for end in ends)]), 0.0)

    def _hear(self, worker: _WorkerProcess) -> None:
        """Take what a worker has sent; if it has ended, that."""
        received = worker.receive()
        reports = []
        for message in worker.messages(received):
            if "ready" in message:
                worker.ready = True
                self._stillborn = self._killed_early = 0
            elif worker.job is None or message["key"] != worker.job.key:
                continue
            elif "fate" in message:
                self._deaths.pop(worker.job.key, None)
                value = message.get("value")
                self._answer(worker, JobStatus(message["fate"]), message["reason"], value)
            else:
                reports.append(message)
        if not received:
            self._reap(worker)
        if self._progress is not None:
            for message in reports:  # in the end, since it may raise
                self._progress(message["key"], message["share"], message["text"])

    def _answer(
        self, worker: _WorkerProcess, fate: JobStatus, reason: str, value: Any = None
    ) -> None:
        job = worker.end()
        self._answers.append(JobResult(job.key, fate, value, reason, worker.seconds))

    def _enforce(self) -> None:
        """Kill workers whose job has had its time; notice those that end without a word."""
        now = time.monotonic()
        for worker in list(self._processes):
            if worker.deadline is not None and now >= worker.deadline:
                worker.deadline = None
                worker.late = True
                worker.process.kill()
            elif worker.process.poll() is not None:
                while worker in self._processes:
                    self._hear(worker)

    def _reap(self, worker: _WorkerProcess) -> None:
        """A worker has ended: answer for its job, or begin that once more."""
        self._selector.unregister(worker.output)
        self._processes.remove(worker)
        code = worker.process.wait()
        words = worker.last_line()
        worker.shut()
        if not worker.ready:
            killed = code == -signal.SIGKILL
            self._killed_early += killed
            self._stillborn += not killed
            if self._stillborn >= _STILLBORN or self._killed_early >= _KILLED_EARLY:
                raise FuseloomError(
                    f"worker processes end before they are ready: {words or _ending(code)}",
                    hint="see whether this Python can import fuseloom, and has memory to",
                )
        job = worker.job
        if job is None:
            return
        if worker.cancelled:
            self._answer(worker, JobStatus.CANCELLED, "it was cancelled")
        elif worker.late:
            self._answer(worker, JobStatus.LIMIT, f"more than {job.limits.wall:g} s of time")
        elif code == -signal.SIGXCPU:
            self._answer(
                worker, JobStatus.LIMIT, f"more than {job.limits.cpu or 0:g} s of CPU time"
            )
        else:
            self._died(worker, job, _ending(code), words)
            return
        self._deaths.pop(job.key, None)

    def _died(self, worker: _WorkerProcess, job: Job, ending: str, words: str) -> None:
        deaths = self._deaths.get(job.key, 0) + 1
        if deaths >= TRIES:
            self._deaths.pop(job.key, None)
            told = f"{ending}: {words}" if words else ending
            self._answer(
                worker,
                JobStatus.QUARANTINED,
                f"it has killed {counted(deaths, 'worker')}, by {told}",
            )
            return
        self._deaths[job.key] = deaths
        worker.end()
        by_system = worker.process.returncode == -signal.SIGKILL
        (self._alone if by_system else self._waiting).appendleft(job)

    def _take_cancels(self) -> None:
        while self._cancels:
            key = self._cancels.popleft()
            for worker in self._processes:
                if worker.job is not None and worker.job.key == key:
                    worker.cancel()
            for jobs in (self._waiting, self._alone):
                for job in [job for job in jobs if job.key == key]:
                    jobs.remove(job)
                    self._deaths.pop(key, None)
                    self._answers.append(
                        JobResult(key, JobStatus.CANCELLED, None, "it was cancelled")
                    )


class _WorkerProcess:
    """A worker process as its driver sees it."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self.process = subprocess.Popen(
            interpreter.command("-c", _BOOT, str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=interpreter.environment(),
            bufsize=0,
        )
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)  # who inherits the pipe may keep it open
        self.job: Job | None = None
        self.ready = self.alone = self.late = self.cancelled = False
        self.deadline: float | None = None
        self.seconds = 0.0
        self._began = 0.0
        self._rest = b""

    def begin(self, job: Job, *, alone: bool) -> None:
        """Send a job; if the process is gone, that is noticed when it is read."""
        self.job, self.alone, self._began = job, alone, time.monotonic()
        wall = job.limits.wall
        self.deadline = None if wall is None else self._began + wall
        self._send(
            {"job": job.key, "target": job.target, "request": job.request,
             "cpu": job.limits.cpu, "memory": job.limits.memory}
        )  # fmt: skip

    def cancel(self) -> None:
        """Ask the job to end; soon after, its process is killed."""
        assert self.job is not None
        self.cancelled = True
        self.deadline = time.monotonic() + GRACE
        self._send({"cancel": self.job.key})

    def end(self) -> Job:
        """The job is over."""
        assert self.job is not None
        job, self.job, self.deadline = self.job, None, None
        self.alone = self.cancelled = False
        self.seconds = time.monotonic() - self._began
        return job

    def receive(self) -> bytes:
        """Return the bytes that the process has sent; none if it has ended."""
        try:
            return os.read(self.output, 1 << 20)
        except OSError:
            return b""

    def messages(self, received: bytes) -> list[dict[str, Any]]:
        """The lines that are complete."""
        *lines, self._rest = (self._rest + received).split(b"\n")
        return [json.loads(line) for line in lines]

    def last_line(self) -> str:
        """The last line that the process wrote where errors go."""
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(self._errors.tell() - 2_000, 0))
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            return lines[-1][:200] if lines else ""
        return ""

    def shut(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            rest = memoryview(json.dumps(message).encode() + b"\n")
            while rest:  # a pipe takes what it has room for
                rest = rest[self.process.stdin.write(rest) or 0 :]


def _ending(code: int) -> str:
    """Describe the end of a process, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
