"""The timeline of long runs: writing the file of events, opening it, and zooming into it.

    python -m benchmarks.timeline [--events 2 100] [--nodes 60] [--folder FOLDER]

For each number of millions of intervals (busy ones and waits), waits of random lengths are handed
over as the engine hands them over, a file is written of them and opened anew, and windows of 600
columns are asked for: of the whole run, and of ever shorter parts of it.  Ratios compare with
adding up every interval of a window, which is what there is to do without the file.  Shown are
seconds, and the memory that the process took at most.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from fuseloom.dataflow.sim.events.spool import REASONS, WaitSpool
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.events.windows import columns_of, edges_of, intervals_of, most_intervals
from fuseloom.dataflow.sim.observe import Int64

PART = 1 << 18
COLUMNS = 600
TARGET = 0.2
"""Seconds of a zoom in a run of 2 million intervals."""
MIB = 1 << 20


def resident() -> float:
    """MiB of memory of this process that belong to no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget(path: Path) -> None:
    """Let the system keep nothing of a file in memory, as long after it was written."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def hand_over(path: Path, waits: int, nodes: int) -> tuple[WaitSpool, Int64]:
    """Waits of random lengths, between them work of random lengths; the nodes' last cycles."""
    rng = np.random.default_rng(1)
    spool = WaitSpool(path, nodes)
    clocks = np.zeros(nodes, np.int64)
    for start in range(0, waits, PART):
        count = min(PART, waits - start)
        node = start // PART % nodes
        steps = rng.integers(1, 9, 2 * count)
        ends = clocks[node] + np.cumsum(steps)
        whose = np.full(count, node)
        spool.add(whose, rng.choice(REASONS, count), ends[::2], ends[1::2])
        clocks[node] = ends[-1]
    return spool, clocks + 1


def added_up(store: EventStore, start: int, stop: int) -> Int64:
    """The columns of a window from all of its intervals, one after another."""
    edges = edges_of(start, stop, COLUMNS)
    made = np.zeros((store.nodes, 5, COLUMNS), np.int64)
    for node in range(store.nodes):
        found = intervals_of(store, start, stop, [node])
        for kind in range(5):
            own = found.activity == kind
            begins, ends = found.start[own], found.stop[own]
            sums = np.concatenate(([0], np.cumsum(ends - begins)))
            until = np.searchsorted(begins, edges, "left")
            last = np.maximum(until - 1, 0)
            if len(begins):
                inside = np.minimum(sums[last] + edges - begins[last], sums[last + 1])
                made[node, kind] = np.diff(np.where(until > 0, inside, 0))
    return made


def measure(millions: float, nodes: int, folder: Path) -> bool:
    path = folder / "run.events"
    before, started = resident(), time.perf_counter()
    spool, clocks = hand_over(path, round(millions * 1e6 / 2), nodes)
    handed = time.perf_counter()
    spool.finish(clocks, int(clocks.max()))
    written, most = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{millions:g} million intervals of {nodes} nodes, {int(clocks.max()):,} cycles")
    size = path.stat().st_size / MIB
    print(f"  handed over in {handed - started:.2f} s")
    print(f"  file of {size:,.0f} MiB written in {written - handed:.2f} s")
    print(f"  at most {most / 1024:,.0f} MiB resident, {before:,.0f} before")
    forget(path)
    started = time.perf_counter()
    store = EventStore(path)
    opened = time.perf_counter() - started
    first = time.perf_counter()
    columns_of(store, edges_of(0, store.cycles, COLUMNS))
    print(f"  opened in {1e3 * opened:.1f} ms, first picture from the disk after "
          f"{time.perf_counter() - first:.3f} s, {resident() - before:,.0f} MiB more")  # fmt: skip
    slowest = 0.0
    for part in (1, 4, 32, 1024, 1 << 15):
        span = max(COLUMNS, store.cycles // part)
        start = (store.cycles - span) // 3
        times = []
        for shift in range(5):
            at = min(start + shift * span // 7, store.cycles - span)
            began = time.perf_counter()
            found = columns_of(store, edges_of(at, at + span, COLUMNS))
            times.append(time.perf_counter() - began)
        slowest = max(slowest, median(times))
        began = time.perf_counter()
        wanted = None
        if millions <= 10 or part >= 32:
            wanted = added_up(store, at, at + span)
        took = time.perf_counter() - began
        assert wanted is None or np.array_equal(wanted, found)
        ratio = (
            "" if wanted is None else f", {took / median(times):,.1f} times as fast as adding up"
        )
        count = most_intervals(store, at, at + span)
        print(f"  1/{part} of the run, {count:,} intervals: {median(times):.3f} s{ratio}")
    fine = millions > 2 or slowest <= TARGET
    print(f"  slowest zoom {slowest:.3f} s" + ("" if millions > 2 else
          f", target {TARGET} s: {'ok' if fine else 'MISSED'}"))  # fmt: skip
    os.unlink(path)
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=float, nargs="+", default=[2, 100], help="millions")
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--folder", type=Path, help="where to write; needs 24 bytes per interval")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        fine = [measure(millions, options.nodes, Path(folder)) for millions in options.events]
    raise SystemExit(not all(fine))


if __name__ == "__main__":
    main()
