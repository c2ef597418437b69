"""The limits of a server: for a page, for a request, and for all together."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from typing import Any

MIB = 1 << 20
VARIABLE = "FUSELOOM_BUDGETS"
"""Environment variable by which ``fuseloom serve`` tells the page's script; JSON."""

KEEP_RUNS = "FUSELOOM_KEEP_RUNS"
"""Environment variable with the file that ``fuseloom serve --keep-runs`` keeps runs in."""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    """Bytes of main memory, or of what a container may use."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        total = 4096 * MIB
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:
            return min(total, int(limit.read()))
    except (OSError, ValueError):
        return total


def _budget(default: Any, text: str) -> Any:
    make = default if callable(default) else lambda: default
    return field(default_factory=make, metadata={"help": text})


@dataclass(frozen=True)
class Budgets:
    """Limits of a server; sizes are MiB, times seconds.

    The field ``sessions`` is the flag ``--max-sessions``, and so on.
    """

    sessions: int = _budget(lambda: 20 * _cores(), "pages open at once")
    workers: int = _budget(
        lambda: max(2, min(10 * _cores(), _memory() // MIB // 512)),
        "pages with a process of their own; others wait until one is idle",
    )
    runs: int = _budget(_cores, "simulations at once; others wait in line")
    memory: int = _budget(
        lambda: max(512, min(1024, _memory() // MIB // 4)), "MiB a request may take"
    )
    run_memory: int = _budget(
        lambda: max(512, min(4096, _memory() // MIB // (2 * _cores()))), "MiB a simulation may take"
    )
    cpu_time: int = _budget(10, "seconds of CPU time of a request")
    wall_time: int = _budget(30, "seconds from a request to its answer")
    draw_time: int = _budget(20, "seconds of CPU time of drawing a graph, or of ranking orders")
    run_time: int = _budget(900, "seconds of a simulation")
    programs: int = _budget(8, "edited programs a page keeps for a quick return")
    records: int = _budget(100, "runs a page keeps")
    kept: int = _budget(1024, "MiB of the run store from which --keep-runs keeps no more")
    statements: int = _budget(250, "statements of an edited program")
    text: int = _budget(100_000, "characters of a program or schedule")
    graph_nodes: int = _budget(1500, "nodes of a graph that is drawn")
    upload_file: int = _budget(64, "MiB of a file that a page sends")
    upload: int = _budget(4, "MiB of a message from a browser")
    pending: int = _budget(16, "requests of a page that wait")

    @classmethod
    def of(cls, given: Any) -> Budgets:
        """Budgets from plain data, the others by default.

        Raises
        ------
        ValueError
            If a name is unknown, or a number is none or not positive.
        """
        known = {f.name for f in fields(cls)}
        for name, value in dict(given).items():
            if name not in known:
                raise ValueError(f"no budget is called {name!r}")
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"budget {name} is {value!r}; it is an integer from 1 on")
        return cls(**given)

    @classmethod
    def from_environment(cls) -> Budgets:
        """Return the limits from :data:`VARIABLE`, the others by default."""
        return cls.of(json.loads(os.environ.get(VARIABLE) or "{}"))

    def to_dict(self) -> dict[str, int]:
        """Plain data."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
