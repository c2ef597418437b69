"""The simulator against Verilator on the same graphs, and the cost of emitting hardware.

    python -m benchmarks.hardware [--repeat 3] [--only NAME] [--capacities]

Each program has one region, so it is one graph, with channels of finite capacities.  *simulated* is
a whole call of ``fl.simulate``, with packing and output, the kernels compiled before, *unbounded*
the same with channels without bounds; *Verilator* is the run of the compiled test bench, which
compares words, too.  They take turns, the least of each counts, in seconds of CPU time; the ratio
is of Verilator to *simulated*.  *emit* is from the simulated region to Verilog, *build* is
Verilator (``-O3``) with its C++ compiler (``-O1``), both by the clock.  The cycles of both are
printed, and the run ends with an error where values are not the same.  With ``--capacities`` only
the simulator runs, with channels of several capacities: kernels process as many tokens in a row as
their channels have room for, and the fewer these are, the more often they take turns.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.running import read_run, run_tool, verilate
from fuseloom.dataflow.rtl.whole_programs import RegionHardware, region_hardware

T = TypeVar("T")
MACHINE = Machine.preset("rtl")
LIMIT = 600.0
"""Seconds of one build or run."""
CAPACITIES = (16, 64, 256, 1024)
"""Tokens of channels besides those of ``compiled.sized()``."""


def matrix(rows: int, in_row: float, seed: int) -> Any:
    """A random square CSR matrix with so many elements in a row on average."""
    rng = np.random.default_rng(seed)
    return sp.random_array(
        (rows, rows), density=in_row / rows, format="csr", rng=rng, dtype=np.float32
    )


def programs() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name, compilation and data of what is run."""
    rng = np.random.default_rng(3)
    spmv = fl.parse("A: 3000x3000 csr\nx: 3000 dense\ny[i] = A[i,k] * x[k]")
    x = rng.standard_normal(3_000).astype(np.float32)
    yield "CSR x vector", fl.compile(spmv, "order y: i,k"), {"A": matrix(3_000, 30, 0), "x": x}
    spmm = fl.parse("A: 400x400 csr\nX: 400x32 dense\nT[i,j] = A[i,k] * X[k,j]")
    x = rng.standard_normal((400, 32)).astype(np.float32)
    yield "CSR x dense", fl.compile(spmm, "order T: i,k,j"), {"A": matrix(400, 8, 1), "X": x}
    inner = fl.parse("A: 200x200 csr\nB: 200x200 csc\nT[i,j] = A[i,k] * B[k,j]")
    operands = {"A": matrix(200, 4, 2), "B": matrix(200, 4, 4)}
    yield "inner product", fl.compile(inner, "order T: i,j,k"), operands
    gcn, data = fl.load("gcn", "karate")
    yield "GCN, Karate, fused", fl.compile(gcn.program, gcn.presets["full"]), dict(data)


def cpu_seconds() -> float:
    """CPU time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def least(repeat: int, *tasks: Callable[[], object]) -> list[float]:
    """The least CPU seconds of each task; they take turns."""
    taken = [float("inf")] * len(tasks)
    for _ in range(repeat):
        for number, task in enumerate(tasks):
            began = cpu_seconds()
            task()
            taken[number] = min(taken[number], cpu_seconds() - began)
    return taken


def timed(task: Callable[[], T]) -> tuple[T, float]:
    """Run a task; return its result and the seconds that it took."""
    began = time.perf_counter()
    made = task()
    return made, time.perf_counter() - began


def compare(name: str, compiled: Compilation, data: dict[str, Any], repeat: int) -> None:
    """Print the row of a program of one region.

    Raises
    ------
    SystemExit
        If the hardware's words are not the simulator's.
    """
    sized = compiled.sized()

    def simulate() -> Any:
        return fl.simulate(sized, data, MACHINE)

    def unbounded() -> Any:
        return fl.simulate(compiled, data, MACHINE)

    unbounded()
    run = simulate()
    assert len(run.regions) == 1, name
    hardware: RegionHardware
    hardware, emitting = timed(lambda: region_hardware(run, 0))
    with tempfile.TemporaryDirectory(prefix="fuseloom-rtl-") as path:
        folder = Path(path)
        hardware.project.write(folder)
        program, building = timed(lambda: verilate(hardware.project, folder, LIMIT))

        def verilator() -> str:
            return run_tool([str(program)], folder, LIMIT)

        compared = hardware.compared(read_run(verilator()))
        if not compared.done.passed:
            raise SystemExit(f"{name}: the hardware's words are not the simulator's")
        bounded, free, running = least(repeat, simulate, unbounded, verilator)
    print(
        f"{name:20} {len(hardware.graph.units):>5} {run.cycles:>9,} {compared.cycles:>9,} "
        f"{bounded:>9.4f} {free:>9.4f} {running:>9.3f} {running / bounded:>6.0f} "
        f"{emitting:>6.2f} {building:>6.1f}",
        flush=True,
    )


def by_capacity(name: str, compiled: Compilation, data: dict[str, Any], repeat: int) -> None:
    """Print the simulator's seconds with channels of each capacity."""
    every = [compiled.sized(), *map(compiled.sized, CAPACITIES), compiled]
    tasks = [partial(fl.simulate, one, data, MACHINE) for one in every]
    for task in tasks:
        task()
    taken = least(repeat, *tasks)
    print(f"{name:20} {'':>5} " + " ".join(f"{seconds:>9.4f}" for seconds in taken), flush=True)


def main() -> None:
    """Print a row per program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="turns (default: 3)")
    parser.add_argument("--only", help="programs with these words in their name")
    parser.add_argument("--capacities", action="store_true", help="only the simulator")
    options = parser.parse_args()
    if options.capacities:
        heads = ("sized", *CAPACITIES, "unbounded")
        print(f"{'':20} {'':>5} " + " ".join(f"{head:>9}" for head in heads))
    else:
        heading()
    for name, compiled, data in programs():
        if options.only is None or options.only in name:
            (by_capacity if options.capacities else compare)(name, compiled, data, options.repeat)


def heading() -> None:
    """Print the names of the columns."""
    print(
        f"{'':20} {'nodes':>5} {'cycles':>9} {'Verilator':>9} {'simulated':>9} {'unbounded':>9} "
        f"{'Verilator':>9} {'ratio':>6} {'emit':>6} {'build':>6}"
    )


if __name__ == "__main__":
    main()
