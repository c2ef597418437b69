"""The delay until a cancelled run notices it, and the cost of a run's reports.

    python -m benchmarks.reports [--repeat 3]

A run asks at every report whether to go on, so the longest time between two reports, in CPU time
on one core, is the longest a cancelled run goes on (target: 200 ms).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.simulator import matrix, spmm_ijk, spmm_ikj
from benchmarks.tiles import products
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import Progress
from fuseloom.dataflow.sim.result import EngineResult

Run = Callable[[Progress | None], EngineResult]
TARGET = 0.2


def on_kernels(bound: BoundGraph, machine: Machine) -> Run:
    ready = with_ports(bound, machine)
    return lambda progress: compiled.Simulation(ready, machine).run(progress)


def on_golden(bound: BoundGraph, machine: Machine) -> Run:
    return lambda progress: interpreter.run(bound, machine, progress=progress)


def cases() -> dict[str, Run]:
    default, hbm2 = Machine.default(), Machine.preset("hbm2")
    x = np.random.default_rng(1).integers(-3, 4, (2708, 128)).astype(np.float32)
    cora, small = matrix(2708, 13_264), matrix(300, 1_200)
    units = spmm_ikj(sp.identity(1_000_000, format="csr"), np.ones((1_000_000, 1)))
    return {
        "SpMM i-k-j": on_kernels(spmm_ikj(cora, x), default),
        "SpMM i-k-j, capacity 2": on_kernels(spmm_ikj(small, x[:300]), Machine.default(2)),
        "SpMM i-j-k": on_kernels(spmm_ijk(cora, x), default),
        "SpMM i-j-k, HBM2": on_kernels(spmm_ijk(small, x[:300]), hbm2),
        "fibers of length 1": on_kernels(units, default),
        "tiles of 16": on_kernels(products(16, 200, 64)[0], default),
        "tiles of 64": on_kernels(products(64, 20, 64)[0], default),
        "tiles of 256": on_kernels(products(256, 4, 16)[0], default),
        "tiles of 512": on_kernels(products(512, 2, 8)[0], default),
        "golden models, SpMM i-k-j": on_golden(spmm_ikj(small, x[:300]), default),
        "golden models, tiles of 64": on_golden(products(64, 10, 32)[0], default),
    }


def longest_wait(run: Run) -> tuple[float, int, float]:
    """Seconds between two reports at most, reports, and seconds in all."""
    times = [time.process_time()]

    def progress(tokens: int, share: float) -> None:
        times.append(time.process_time())

    run(progress)
    times.append(time.process_time())
    return float(np.diff(times).max()), len(times) - 2, times[-1] - times[0]


def plain(run: Run, repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        run(None)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print(f"{'run':26} {'s':>8} {'reports':>8} {'longest wait':>13} {'reported/plain':>15}")
    for name, run in cases().items():
        run(None)  # loads the kernels
        told: list[Any] = [longest_wait(run) for _ in range(repeat)]
        wait, count, _ = min(told)
        seconds = min(t for *_, t in told)
        verdict = "ok" if wait <= TARGET else "MISSED"
        ratio = seconds / plain(run, repeat)
        print(f"{name:26} {seconds:8.3f} {count:8} {1e3 * wait:10.1f} ms {ratio:14.2f}x {verdict}")


if __name__ == "__main__":
    main()
