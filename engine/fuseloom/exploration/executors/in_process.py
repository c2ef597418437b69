"""Jobs in this process, one after another."""

from __future__ import annotations

import time
from collections import deque

from fuseloom.exploration.executors.job import (
    Job,
    JobResult,
    JobStatus,
    Progress,
    fate_of,
    target_of,
)


class InProcess:
    """Carries out jobs when their answers are asked for.

    Limits of wall time hold where the job reports its progress; those of memory and CPU time do
    not, and a job that kills its process kills this one.  What it has finished is kept by then.

    Parameters
    ----------
    progress : callable, optional
        See :data:`Progress`.
    """

    wanted = 1

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._jobs: deque[Job] = deque()
        self._cancelled: set[str] = set()

    def submit(self, job: Job) -> None:
        """Take a job."""
        self._jobs.append(job)

    def cancel(self, key: str) -> None:
        """End a job, also the one that runs, when it next reports."""
        self._cancelled.add(key)

    def next(self) -> JobResult | None:
        """Do the next job; None if there is none."""
        if not self._jobs:
            return None
        job = self._jobs.popleft()
        try:
            return self._done(job)
        finally:
            self._cancelled.discard(job.key)

    def _done(self, job: Job) -> JobResult:
        began = time.monotonic()
        late = f"more than {job.limits.wall:g} s of time" if job.limits.wall else ""

        def over() -> bool:
            return job.limits.wall is not None and time.monotonic() - began > job.limits.wall

        def report(share: float, text: str) -> bool:
            if self._progress is not None:
                self._progress(job.key, share, text)
            return not (over() or job.key in self._cancelled)

        if job.key in self._cancelled:
            return JobResult(job.key, JobStatus.CANCELLED, reason="it was cancelled")
        try:
            value = target_of(job.target)(job.request, report)
        except Exception as problem:
            seconds = time.monotonic() - began
            if job.key in self._cancelled:
                return JobResult(job.key, JobStatus.CANCELLED, None, "it was cancelled", seconds)
            if over():
                return JobResult(job.key, JobStatus.LIMIT, None, late, seconds)
            fate, reason = fate_of(problem)
            return JobResult(job.key, fate, None, reason, seconds)
        return JobResult(job.key, JobStatus.DONE, value, "", time.monotonic() - began)

    def close(self) -> None:
        """Give up what has not been begun."""
        self._jobs.clear()

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
