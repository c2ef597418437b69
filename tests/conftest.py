"""What holds for all tests."""

from __future__ import annotations

import pytest


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once, before several workers would each compile them for themselves."""
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and session.config.getoption("numprocesses", None):
        from engine.dataflow.sim.compiled.warmup import warmup

        warmup()
