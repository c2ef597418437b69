"""The cost of checking a run relative to the run itself: time and memory.

    python -m benchmarks.check [--only NAME] [--large]

Every row runs in a process of its own.  Times are wall time; memory is the peak of the process,
the packing of the operands included, after the run and after the check.  A check is to take no more
than twice the time of its run and no more than twice its memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.models import load
from fuseloom.program import parse

Case = Callable[[], tuple[Compilation, Any]]


def product(rows: int, columns: int) -> Case:
    """A large sparse matrix times a dense one."""

    def make() -> tuple[Compilation, Any]:
        rng = np.random.default_rng(0)
        a = sp.random_array((rows, rows), density=10 / rows, rng=rng, format="csr")
        text = f"A: {rows}x{rows} csr\nX: {rows}x{columns} dense\nT[i,j] = A[i,k] * X[k,j]"
        compiled = compile_program(parse(text), "order T: i,k,j")
        return compiled, {"A": a, "X": rng.normal(size=(rows, columns))}

    return make


def model(name: str, data: str, preset: str) -> Case:
    """A model of the paper."""

    def make() -> tuple[Compilation, Any]:
        loaded, stored = load(name, data)
        return compile_program(loaded.program, loaded.presets[preset]), stored

    return make


CASES: dict[str, Case] = {
    "spmm 100,000 x 64": product(100_000, 64),
    "spmm 400 x 16": product(400, 16),
    "gcn karate full": model("gcn", "karate", "full"),
    "gcn cora_ml unfused": model("gcn", "cora_ml", "unfused"),
    "graphsage cora partial": model("graphsage", "cora", "partial"),
}
LARGE: dict[str, Case] = {
    "gcn collab unfused": model("gcn", "collab", "unfused"),
    "spmm 1,000,000 x 64": product(1_000_000, 64),
}


def peak() -> int:
    """Most memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def measure(case: Case) -> dict[str, Any]:
    """Run and check one case in this process."""
    compiled, data = case()
    simulate(compiled, data)  # kernels are loaded
    started = time.perf_counter()
    run = simulate(compiled, data)
    ran, after_run = time.perf_counter() - started, peak()
    started = time.perf_counter()
    check = run.check()
    return {
        "run_s": ran,
        "check_s": time.perf_counter() - started,
        "run_mib": after_run,
        "check_mib": peak(),
        "verdict": str(check),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=[*CASES, *LARGE])
    parser.add_argument("--large", action="store_true", help="the slow rows, too")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    every = {**CASES, **LARGE}
    if options.here:
        print(json.dumps(measure(every[options.only])))
        return
    names = [options.only] if options.only else [*CASES, *(LARGE if options.large else ())]
    titles = f"{'run, s':>9}{'check, s':>10}{'ratio':>7}{'run, MiB':>10}{'check':>8}{'ratio':>7}"
    print(f"{'case':24}{titles}")
    for name in names:
        command = [sys.executable, "-m", "benchmarks.check", "--here", "--only", name]
        made = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        seconds, memory = made["check_s"] / made["run_s"], made["check_mib"] / made["run_mib"]
        print(
            f"{name:24}{made['run_s']:9.3f}{made['check_s']:10.3f}{seconds:7.2f}"
            f"{made['run_mib']:10,}{made['check_mib']:8,}{memory:7.2f}  {made['verdict']}"
        )


if __name__ == "__main__":
    main()
