"""The compiled engine on a large graph, beside other ways of simulating, and its cost by size.

    python -m benchmarks.scale [--only big|table|linear]

Every row runs in a process of its own, whose peak memory is printed (operands and the check by
scipy included).  Times are CPU time on one core; packing the operands is part of them.
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

from benchmarks.simulator import Sketch, matrix, spmm_ijk, spmm_ikj
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled

COLUMNS = 128
BIG = (235_868, 2_400_000)
CORA = (2_708, 13_264)
DECADES = (100, 1_000, 10_000, 100_000, 1_000_000)
"""Rows of the matrices whose cost is compared; ten non-zeros in each."""

ELSEWHERE = {
    "generators in Python": ("0.2-0.5", "", "", "", ""),
    "whole streams as arrays": ("139", "168", "119", "", ""),
    "compiled, token by token": ("123", "99", "128", "116", ""),
    "runs of tokens, prototype": ("2,646", "254", "3,468", "2,186", "220"),
}
"""Million tokens per second of earlier designs on a machine of the same kind, packing included."""
GRAPHS = ("small i-k-j", "small i-j-k", "small intersect", "big i-k-j", "big i-j-k")


def spmm_intersect(a: sp.csr_matrix, x: np.ndarray[Any, Any]) -> BoundGraph:
    """Row by row, every row of A intersected with all rows of X."""
    g = Sketch()
    (root,) = g.add("root", (), "ref", 0)
    i, ref_i = g.add("dense_scan", (root,), "crd ref", 1, dim=a.shape[0])
    i, i_like = g.copy(i)
    (root_x,) = g.add("root", (), "ref", 0)
    k_x, ref_x = g.add("dense_scan", (g.repeat(root_x, i_like, 1),), "crd ref", 2, dim=a.shape[1])
    k_a, ref_a = g.scan(ref_i, a, 2)
    k, ref_a, ref_x = g.add("intersect", (k_a, ref_a, k_x, ref_x), "crd ref ref", 2)
    j, ref_j = g.add("dense_scan", (ref_x,), "crd ref", 3, dim=x.shape[1])
    j, j_like = g.copy(j)
    left = g.load(g.repeat(ref_a, j_like, 3), a.data, 3)
    right = g.load(ref_j, x, 3)
    (product,) = g.add("binary", (left, right), "val", 3, fn="mul")
    out, val = g.add("spacc1", (k, j, product), "crd val", 2, fn="add", dim=x.shape[1])
    g.add("crdwrite", (i,), tensor="T", level=0)
    g.add("crdwrite", (out,), tensor="T", level=1)
    g.add("valwrite", (val,), tensor="T")
    return g.bound("SpMM i-k-j, intersected")


def dense_result(result: Any, rows: int, columns: int) -> np.ndarray[Any, Any]:
    """Return the output of the three writers as a matrix; rows without an entry are 0."""
    *_, inner, vals = sorted(result.outputs)
    values, made = result.outputs[vals]["vals"], result.outputs[inner]
    if "seg" not in made or len(values) == rows * columns:
        return values.reshape(rows, columns)
    seg = made["seg"]
    dense = np.zeros((rows, columns), np.float32)
    outer = result.outputs[sorted(result.outputs)[0]]["crd"]
    lengths = np.diff(seg)
    dense[np.repeat(outer[: len(lengths)], lengths), made["crd"]] = values
    return dense


def run(make: Callable[..., BoundGraph], size: tuple[int, int], columns: int) -> dict[str, Any]:
    """Simulate one product and check it."""
    small = spmm_ikj(matrix(40, 150), np.ones((40, 8)))
    compiled.run(small, Machine.default())  # loads the kernels
    a = matrix(*size)
    rows = np.diff(a.indptr)
    if (rows == 0).any():  # an entry in every row, so that rows and outputs correspond
        a = (a + sp.diags_array((rows == 0).astype(float), format="csr")).tocsr()
        a.eliminate_zeros()
    x = np.random.default_rng(1).integers(-3, 4, (size[0], columns)).astype(np.float32)
    graph = make(a, x)
    compiled.run(make(matrix(40, 150), np.ones((40, 8))), Machine.default())
    start = time.process_time()
    result = compiled.run(graph, Machine.default())
    seconds = time.process_time() - start
    right = np.array_equal(dense_result(result, size[0], columns), a.astype(np.float32) @ x)
    return {
        "tokens": result.total_tokens,
        "cycles": result.cycles,
        "seconds": seconds,
        "nonzeros": int(a.nnz),
        "right": right,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    }


MAKE = {"i-k-j": spmm_ikj, "i-j-k": spmm_ijk, "intersect": spmm_intersect}


def apart(make: str, rows: int, nonzeros: int, columns: int) -> dict[str, Any]:
    """The same in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.scale", "--run", make]
    call += [str(number) for number in (rows, nonzeros, columns)]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def show(name: str, got: dict[str, Any]) -> None:
    print(
        f"{name:24} {got['nonzeros']:12,} {got['tokens'] / 1e6:10,.1f} {got['cycles']:14,} "
        f"{got['seconds']:8.2f} {got['tokens'] / got['seconds'] / 1e6:9,.0f} "
        f"{1e9 * got['seconds'] / got['tokens']:9.2f} {got['peak'] / 2**20:9,.0f}  "
        f"{'equals scipy' if got['right'] else 'WRONG'}",
        flush=True,
    )


HEAD = (
    f"{'graph':24} {'non-zeros':>12} {'Mtokens':>10} {'cycles':>14} {'s':>8} "
    f"{'Mtok/s':>9} {'ns/token':>9} {'peak MiB':>9}"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=["table", "big", "linear"])
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        name, *sizes = options.run
        rows, nonzeros, columns = map(int, sizes)
        print(json.dumps(run(MAKE[name], (rows, nonzeros), columns)))
        return
    rates: dict[str, str] = {}
    if options.only != "linear":
        print(HEAD)
        for name in GRAPHS:
            size, _, order = name.partition(" ")
            if options.only == "big" and size != "big":
                continue
            rows, nonzeros = CORA if size == "small" else BIG
            got = apart(order, rows, nonzeros, COLUMNS)
            show(f"{name} ({rows:,})", got)
            rates[name] = f"{got['tokens'] / got['seconds'] / 1e6:,.0f}"
    if options.only in (None, "table"):
        print(f"\n{'Mtokens/s':28}" + "".join(f"{name:>17}" for name in GRAPHS))
        for name, row in ELSEWHERE.items():
            print(f"{name:28}" + "".join(f"{cell:>17}" for cell in row))
        print(f"{'here':28}" + "".join(f"{rates.get(name, ''):>17}" for name in GRAPHS))
    if options.only in (None, "linear"):
        print(f"\n{HEAD}")
        for order, columns in (("i-k-j", 16), ("i-j-k", 4)):
            for rows in DECADES:
                show(f"{order} ({rows:,})", apart(order, rows, 10 * rows, columns))


if __name__ == "__main__":
    main()
