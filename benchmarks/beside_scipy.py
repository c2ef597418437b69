"""The cost of simulating against that of computing: ``fl.simulate`` and SciPy's own product.

    python -m benchmarks.beside_scipy [--repeat 5] [--quick]

Both in CPU time on one core, turn by turn in one process, the best of each.  ``simulate`` is all of
a call: storing the operands, binding, packing, the run and its output, but no kernel's compilation.
The last table compiles the program of one GPT-3 decoder, and of twelve.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.models import gpt3


@dataclass(frozen=True)
class Case:
    """A product as a program with data, and as SciPy computes it."""

    name: str
    compiled: Any
    data: dict[str, Any]
    product: Callable[[], Any]
    target: float
    repeat: int = 1  # of the shorter runs, more


def matrix(size: int, in_row: float, seed: int = 0) -> Any:
    """A random square matrix with so many elements in a row on average."""
    rng = np.random.default_rng(seed)
    return sp.random_array(
        (size, size), density=in_row / size, format="csr", rng=rng, dtype=np.float32
    )


def dense(rows: int, in_row: float, target: float, repeat: int) -> Case:
    """CSR times 128 dense columns, order i, k, j."""
    a = matrix(rows, in_row)
    x = np.random.default_rng(1).standard_normal((rows, 128)).astype(np.float32)
    text = f"A: {rows}x{rows} csr\nX: {rows}x128 dense\nT[i,j] = A[i,k] * X[k,j]"
    compiled = fl.compile(fl.parse(text), "order T: i,k,j")
    return Case(
        f"CSR x dense, {rows:,} rows", compiled, {"A": a, "X": x}, lambda: a @ x, target, repeat
    )


def inner(size: int, target: float) -> Case:
    """The product of two sparse matrices, one inner product after the other."""
    a, b = matrix(size, size * 0.01), matrix(size, size * 0.01, 1)
    text = f"A: {size}x{size} csr\nB: {size}x{size} csc\nT[i,j] = A[i,k] * B[k,j]"
    compiled = fl.compile(fl.parse(text), "order T: i,j,k")
    return Case(f"sparse x sparse, {size:,}², i-j-k", compiled, {"A": a, "B": b}, lambda: a @ b,
                target)  # fmt: skip


def seconds(work: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(case: Case, repeat: int) -> str:
    """One row: both times, their ratio, and whether it is as wanted."""
    first = fl.simulate(case.compiled, case.data, engine="compiled")
    assert first.check().ok
    cycles = first.cycles
    del first
    gc.collect()
    ours = theirs = float("inf")
    for _ in range(repeat * case.repeat):
        run = seconds(lambda: fl.simulate(case.compiled, case.data, engine="compiled"))
        ours, theirs = min(ours, run), min(theirs, seconds(case.product))
    ratio = ours / theirs
    verdict = "ok" if ratio <= case.target else "MISSED"
    return (
        f"{case.name:32} {cycles:12,} {1e3 * ours:10.1f} {1e3 * theirs:10.2f} {ratio:8.1f} "
        f"{case.target:7.0f} {verdict}"
    )


def decoders(preset: str, repeat: int) -> str:
    """One row: compiling one decoder, and twelve that differ in names only."""
    best = []
    for count in (1, 12):
        model = gpt3(1_024, 768, 12, 3_072, decoders=count)
        work = [
            seconds(lambda m=model: fl.compile(m.program, m.presets[preset]))  # type: ignore[misc]
            for _ in range(repeat + 1)
        ]
        best.append(min(work))
    ratio = best[1] / best[0]
    verdict = "ok" if ratio <= 1.3 else "MISSED"
    return f"{preset:32} {1e3 * best[0]:10.1f} {1e3 * best[1]:10.1f} {ratio:8.1f}     1.3 {verdict}"


def tables(repeat: int, *, quick: bool) -> None:
    """Print both tables; ``quick`` leaves out the largest matrix."""
    cases = [dense(2_708, 4.9, 15, 10), dense(20_000, 6, 8, 3)]
    if not quick:
        cases.append(dense(235_868, 8.2, 4, 1))
    cases.append(inner(1_000, 400))
    print(f"{'beside SciPy':32} {'cycles':>12} {'simulate':>10} {'product':>10}    ratio  target")
    for case in cases:
        print(measure(case, repeat), flush=True)
    print(f"\n{'compiling GPT-3, ms':32} {'1 decoder':>10} {'12':>10}    ratio  target")
    for preset in ("unfused", "partial", "full"):
        print(decoders(preset, repeat), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="leave out the largest matrix")
    options = parser.parse_args()
    tables(options.repeat, quick=options.quick)


if __name__ == "__main__":
    main()
