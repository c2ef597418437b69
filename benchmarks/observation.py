"""The cost of observing a run: CPU time of observed runs of the compiled engine over plain ones.

    python -m benchmarks.observation [--repeat 9]

A round runs the graph plain and with each level of observation, one after the other in one
process; shown is the median of the rounds' ratios, and how far the rounds lie apart (quartiles).
Packing the graph is left out, reading the observation from memory is not.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import numpy as np
import scipy.sparse as sp

from benchmarks.simulator import matrix, spmm_ijk, spmm_ikj
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.observe import Observe

LEVELS = (
    ("timelines, means", Observe()),
    ("and maxima", Observe(peaks=True)),
    ("and the log", Observe(log=True)),
    ("timelines, events", Observe(events=Path(tempfile.gettempdir()) / "observation.events")),
)
TARGET = 1.2
"""Of the first level, which is what a user gets who asks for nothing else."""


def cpu_time(graph: BoundGraph, machine: Machine, observe: Observe | None) -> float:
    simulation = compiled.Simulation(graph, machine, observe=observe)
    start = time.process_time()
    simulation.run()
    return time.process_time() - start


def measure(name: str, graph: BoundGraph, capacity: int | None, repeat: int) -> str:
    machine = Machine.default(capacity)
    plain: list[float] = []
    ratios: list[list[float]] = [[] for _ in LEVELS]
    for _ in range(repeat):
        before = cpu_time(graph, machine, None)
        observed = [cpu_time(graph, machine, observe) for _, observe in LEVELS]
        # Twice, and the mean: the machine's speed drifts.
        base = (before + cpu_time(graph, machine, None)) / 2
        plain.append(base)
        for found, spent in zip(ratios, observed, strict=True):
            found.append(spent / base)
    row = f"{name:32} {capacity or '∞':>6} {1e3 * median(plain):9.1f}"
    for found in ratios:
        low, _, high = quantiles(found)
        row += f"   {median(found):5.2f} ({low:.2f} to {high:.2f})"
    return f"{row}   {'ok' if median(ratios[0]) <= TARGET else 'MISSED'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    cora = matrix(2708, 13_264)
    x = np.random.default_rng(1).integers(-3, 4, (2708, 128)).astype(np.float32)
    ikj, ijk = spmm_ikj(cora, x), spmm_ijk(cora, x)
    diagonal = spmm_ikj(sp.identity(100_000, format="csr"), np.ones((100_000, 1)))
    heads = "".join(f"   {level:>22}" for level, _ in LEVELS)
    print(f"{'graph':32} {'slots':>6} {'plain, ms':>9}{heads}   target {TARGET}")
    for name, graph, capacity in (
        ("SpMM i-k-j, 2708², 128 columns", ikj, None),
        ("SpMM i-j-k, 2708², 128 columns", ijk, None),
        ("all fibers of length 1", diagonal, None),
        ("SpMM i-k-j", ikj, 64),
        ("SpMM i-j-k", ijk, 64),
    ):
        print(measure(name, graph, capacity, options.repeat), flush=True)


if __name__ == "__main__":
    main()
