"""The gain from executors: 200 runs in this process, in two processes, and on Dask workers.

    python -m benchmarks.executors [--runs 200] [--workers 2] [--repeat 1] [--dask]

Each executor does the same sweep into a store of its own, one after another in one run, so that
their ratio means something on a machine that has other work, too; the load average is printed
beside.  Times are wall time from the first configuration to the last, starting workers included;
what Dask's own processes take to start is not.  CPU time is that of this process and of the
workers that it starts, so not that on Dask: half of it, on two cores, is what a sweep would take
on a machine without other work, and the ratio printed of it is the gain to expect there.  The runs
are compared: whoever does them, they are the same but for their seconds.  Target: 1.7 times as
fast on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuseloom.exploration.store import RunStore
from fuseloom.exploration.sweep import Base, Space, explore
from fuseloom.results.record import RunRecord

TARGET = 1.7


def space(runs: int) -> Space:
    """Runs of some tenths of a second, as sweeps have them."""
    axes: dict[str, Any] = {
        "preset": ["partial", "unfused"],
        "load_latency": range(1, max(runs // 4, 1) + 1),
        "capacity": ["sized", "none"],
    }
    base = Base("gcn", "random", sizes={"nodes": 200}, order="first")
    return Space(base, axes)


def used() -> float:
    """Seconds of CPU time of this process and of those that it has ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def swept(runs: int, path: Path, **executor: Any) -> tuple[float, float]:
    """Seconds of a sweep, by the clock and of CPU time."""
    began, before = time.perf_counter(), used()
    found = explore(space(runs), store=path, simulate=True, estimated=False, **executor)
    assert found.ok
    assert set(found.new) == {"done"}, found.new
    return time.perf_counter() - began, used() - before


def records(path: Path) -> dict[str, RunRecord]:
    with RunStore(path) as store:
        return {r.key: replace(r.record, seconds=0) for r in store.whole() if r.record is not None}


@contextmanager
def dask(folder: Path, workers: int) -> Iterator[str]:
    """The address of a scheduler with so many workers of one thread."""
    file = folder / "scheduler.json"
    start = [sys.executable, "-m"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    told = ["--no-dashboard", "--scheduler-file", str(file)]
    processes = [
        subprocess.Popen([*start, "distributed.cli.dask_scheduler", "--port", "0", *told], **quiet)
    ]
    try:
        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        worker = [*start, "distributed.cli.dask_worker", *told, "--nthreads", "1", "--no-nanny",
                  "--local-directory", str(folder)]  # fmt: skip
        processes += [subprocess.Popen(worker, **quiet) for _ in range(workers)]
        time.sleep(5.0)
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--dask", action="store_true", help="on Dask workers, too")
    given = parser.parse_args()
    for _ in range(given.repeat):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            explore(space(4), store=folder / "warm.sqlite", simulate=True, jobs=0)
            print(f"load average {os.getloadavg()[0]:.2f}", flush=True)
            alone, cpu = swept(given.runs, folder / "alone.sqlite", jobs=0)
            _print("in this process", alone, alone)
            several, shared = swept(given.runs, folder / "several.sqlite", jobs=given.workers)
            _print(f"{given.workers} processes", several, alone)
            print(f"CPU time {cpu:.1f} s and {shared:.1f} s: {given.workers * cpu / shared:.2f}x "
                  f"on {given.workers} cores without other work", flush=True)  # fmt: skip
            kept = [records(folder / f"{file}.sqlite") for file in ("alone", "several")]
            if given.dask:
                with dask(folder, given.workers) as address:
                    there, _ = swept(given.runs, folder / "dask.sqlite", scheduler=address)
                _print(f"{given.workers} Dask workers", there, alone)
                kept.append(records(folder / "dask.sqlite"))
            same = all(other == kept[0] for other in kept)
            print(f"{len(kept[0]):,} runs, {'equal' if same else 'NOT EQUAL'}; "
                  f"load average {os.getloadavg()[0]:.2f}; target {TARGET}x")  # fmt: skip


def _print(name: str, seconds: float, alone: float) -> None:
    print(f"{name:20} {seconds:8.1f} s  {alone / seconds:5.2f}x", flush=True)


if __name__ == "__main__":
    main()
