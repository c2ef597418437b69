"""A worker process: takes jobs as lines of JSON, and answers so; it keeps nothing between them.

Lines it is sent are ``{"job": key, "target": …, "request": …, "cpu": …, "memory": …}`` and
``{"cancel": key}``; it sends ``{"ready": pid}`` once, ``{"key": …, "share": …, "text": …}`` on the
way and ``{"key": …, "fate": …, "value": …, "reason": …}`` in the end.  It ends with its driver.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from typing import Any, TextIO

from fuseloom.errors import CancelledError
from fuseloom.exploration.executors.job import JobStatus, fate_of, target_of
from fuseloom.exploration.limiting import end_with, leave_signals, limited

PERIOD = 0.1
"""Seconds between two reports of progress, at least."""


def main(parent: int) -> None:
    """Do jobs until the driver closes the pipe, or ends."""
    end_with(parent)
    leave_signals()
    # what libraries print must not land between the answers
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = _JobWorker(answers)
    threading.Thread(target=worker.listen, daemon=True).start()
    worker.tell({"ready": os.getpid()})
    while True:
        worker.do(worker.jobs.get())


class _JobWorker:
    def __init__(self, answers: TextIO) -> None:
        self.jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.cancelled: set[str] = set()
        self._answers = answers

    def listen(self) -> None:
        """Sort what the driver sends; end this process when the pipe closes."""
        for line in sys.stdin:
            message = json.loads(line)
            if "cancel" in message:
                self.cancelled.add(message["cancel"])
            else:
                self.jobs.put(message)
        os._exit(0)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a line to the driver."""
        try:
            line = json.dumps(message, allow_nan=False)
        except (ValueError, TypeError, RecursionError) as problem:
            told = f"its value is no JSON: {problem}"
            line = json.dumps({"key": message["key"], "fate": "failed", "reason": told})
        try:
            self._answers.write(line + "\n")
            self._answers.flush()
        except OSError:  # nobody listens any more
            os._exit(0)

    def do(self, message: dict[str, Any]) -> None:
        """Do a job and answer."""
        key = message["job"]
        last = 0.0

        def report(share: float, text: str) -> bool:
            nonlocal last
            now = time.monotonic()
            if now - last > PERIOD:
                last = now
                self.tell({"key": key, "share": float(share), "text": str(text)[:200]})
            return key not in self.cancelled

        value, fate, reason = None, JobStatus.DONE, ""
        try:
            target = target_of(message["target"])
            with limited(message["cpu"], message["memory"]):
                if key in self.cancelled:
                    raise CancelledError("it was cancelled")
                value = target(message["request"], report)
        except Exception as problem:
            fate, reason = fate_of(problem)
            if key in self.cancelled:
                fate, reason = JobStatus.CANCELLED, "it was cancelled"
            elif isinstance(problem, MemoryError):
                reason = "more memory than it may have"
        self.cancelled.discard(key)
        self.tell({"key": key, "fate": fate.value, "value": value, "reason": reason})
