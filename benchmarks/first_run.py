"""The time of the first run after an installation, when no kernel has been compiled yet.

    python -m benchmarks.first_run [--repeat 1]

Each command runs in a process of its own with an empty cache of kernels, as a user would type it.
Shown are seconds on the clock, which is what the user waits, and of CPU time; both depend on the
number of cores, which is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median

from fuseloom.dataflow.sim.compiled.cache import ENVIRONMENT

GCN = "simulate --model gcn --data karate --preset full --engine compiled --json"


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock and of CPU time, and what the command printed."""

    wall: float
    cpu: float
    printed: str


def taken(command: str, cache: str) -> Taken:
    """Run ``fuseloom COMMAND`` with that cache of kernels."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "fuseloom", *command.split()],
        env={**os.environ, ENVIRONMENT: cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system
    return Taken(wall, cpu - before.children_user - before.children_system, done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    rows: dict[str, list[Taken]] = {}
    for _ in range(options.repeat):
        with tempfile.TemporaryDirectory() as cache:
            first = taken(GCN, cache)
            rows.setdefault("fused GCN, first run", []).append(first)
            rows.setdefault("fused GCN, second run", []).append(taken(GCN, cache))
        with tempfile.TemporaryDirectory() as cache:
            rows.setdefault("all kernels (warmup)", []).append(taken("warmup", cache))
        assert json.loads(first.printed)["check"]["ok"]
    targets = {"fused GCN, first run": 20.0, "all kernels (warmup)": 60.0}
    print(
        f"{'on ' + str(os.cpu_count()) + ' cores':24} {'clock, s':>9} {'CPU, s':>9} {'target':>7}"
    )
    for name, times in rows.items():
        wall, target = median(t.wall for t in times), targets.get(name)
        verdict = "" if target is None else f"{target:7.0f} {'ok' if wall <= target else 'MISSED'}"
        print(f"{name:24} {wall:9.1f} {median(t.cpu for t in times):9.1f} {verdict}")


if __name__ == "__main__":
    main()
