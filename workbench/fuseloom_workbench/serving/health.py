"""``/health``: whether the server works, and how much it has to do."""

from __future__ import annotations

import json
import os
import time

from tornado.web import RequestHandler

from fuseloom_workbench.service.supervisor import Supervisor


def memory() -> int:
    """Bytes of main memory that this process has."""
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


class Health(RequestHandler):
    """200 when pages can be worked on, 503 while the engine is loading or cannot be loaded."""

    def initialize(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    def get(self) -> None:
        ready = self._supervisor.ready
        self.set_status(200 if ready else 503)
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        report = {
            "status": "ready" if ready else "loading",
            "seconds": round(time.time() - self._supervisor.started, 1),
            "memory": memory(),
            **self._supervisor.counts(),
            "limits": self._supervisor.budgets.to_dict(),
        }
        self.finish(json.dumps(report) + "\n")
