"""Speed of the compiled engine, in tokens per second of CPU time on one core.

    python -m benchmarks.simulator [--repeat 3] [--quick]

Tokens are summed over all channels, control tokens included.  Packing the graph into arrays is
part of the time; ``loop`` leaves it out.  Tables of :mod:`benchmarks.beside_scipy` follow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.beside_scipy import tables
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG


@dataclass
class Sketch:
    """A graph in the making."""

    nodes: list[Node] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    arrays: dict[int, dict[str, Any]] = field(default_factory=dict)

    def add(
        self, op: str, ins: tuple[int, ...] = (), outs: str = "", depth: int = 1, **params: Any
    ) -> list[int]:
        """Add a node; ``outs`` names the kinds of its outputs; the new streams' ids."""
        first = len(self.streams)
        for kind in outs.split():
            self.streams.append(Stream(len(self.streams), StreamKind(kind), depth))
        made = list(range(first, len(self.streams)))
        self.nodes.append(Node(len(self.nodes), op, ins, tuple(made), params))
        return made

    def bind(self, **arrays: Any) -> None:
        self.arrays[len(self.nodes) - 1] = arrays

    def copy(self, stream: int, count: int = 2) -> list[int]:
        kind, depth = self.streams[stream].kind.value, self.streams[stream].depth
        return self.add("broadcast", (stream,), " ".join([kind] * count), depth)

    def scan(self, ref: int, matrix: sp.csr_matrix, depth: int) -> list[int]:
        made = self.add("scan", (ref,), "crd ref", depth, tensor="A", level=1)
        self.bind(seg=matrix.indptr.astype(np.int64), crd=matrix.indices.astype(np.int64))
        return made

    def load(self, ref: int, values: Any, depth: int) -> int:
        (made,) = self.add("array", (ref,), "val", depth, tensor="A")
        self.bind(vals=np.ascontiguousarray(values, np.float32).reshape(-1))
        return made

    def repeat(self, held: int, like: int, depth: int) -> int:
        (signal,) = self.add("repsig", (like,), "sig", depth)
        (made,) = self.add("repeat", (held, signal), self.streams[held].kind.value, depth)
        return made

    def bound(self, name: str) -> BoundGraph:
        return BoundGraph(Graph(name, tuple(self.nodes), tuple(self.streams)), self.arrays)


def matrix(size: int, nonzeros: int, seed: int = 0) -> sp.csr_matrix:
    """A random square matrix with uneven rows and small integers."""
    rng = np.random.default_rng(seed)
    weight = rng.pareto(2.0, size) + 0.3
    rows = rng.choice(size, nonzeros, p=weight / weight.sum())
    columns = rng.integers(0, size, nonzeros)
    made = sp.csr_matrix((rng.integers(1, 5, nonzeros), (rows, columns)), (size, size), float)
    made.sum_duplicates()
    made.sort_indices()
    return made


def spmm_ikj(a: sp.csr_matrix, x: np.ndarray[Any, Any]) -> BoundGraph:
    """``T[i,j] = A[i,k] * X[k,j]`` row by row, each row in an accumulator."""
    g = Sketch()
    (root,) = g.add("root", (), "ref", 0)
    i, ref_i = g.add("dense_scan", (root,), "crd ref", 1, dim=a.shape[0])
    k, ref_k = g.scan(ref_i, a, 2)
    k, k_outer = g.copy(k)
    j, ref_j = g.add("dense_scan", (k,), "crd ref", 3, dim=x.shape[1])
    j, j_like = g.copy(j)
    left = g.load(g.repeat(ref_k, j_like, 3), a.data, 3)
    right = g.load(ref_j, x, 3)
    (product,) = g.add("binary", (left, right), "val", 3, fn="mul")
    out, val = g.add("spacc1", (k_outer, j, product), "crd val", 2, fn="add", dim=x.shape[1])
    g.add("crdwrite", (i,), tensor="T", level=0)
    g.add("crdwrite", (out,), tensor="T", level=1)
    g.add("valwrite", (val,), tensor="T")
    return g.bound("SpMM i-k-j")


def spmm_ijk(a: sp.csr_matrix, x: np.ndarray[Any, Any]) -> BoundGraph:
    """The same, one inner product after the other."""
    g = Sketch()
    (root,) = g.add("root", (), "ref", 0)
    i, ref_i = g.add("dense_scan", (root,), "crd ref", 1, dim=a.shape[0])
    i, i_like = g.copy(i)
    (root_x,) = g.add("root", (), "ref", 0)
    ref_x = g.repeat(root_x, i_like, 1)
    j, ref_j = g.add("dense_scan", (ref_x,), "crd ref", 2, dim=x.shape[1])
    j, j_like = g.copy(j)
    k, ref_k = g.scan(g.repeat(ref_i, j_like, 2), a, 3)
    k, k_like = g.copy(k)
    (ref_kj,) = g.add("locate", (k, g.repeat(ref_j, k_like, 3)), "ref", 3, dim=a.shape[1])
    left = g.load(ref_k, a.data, 3)
    right = g.load(ref_kj, x.T, 3)
    (product,) = g.add("binary", (left, right), "val", 3, fn="mul")
    (total,) = g.add("reduce", (product,), "val", 2, fn="add")
    g.add("crdwrite", (i,), tensor="T", level=0)
    g.add("crdwrite", (j,), tensor="T", level=1)
    g.add("valwrite", (total,), tensor="T")
    return g.bound("SpMM i-j-k")


@dataclass(frozen=True)
class KernelCase:
    """One row of the table."""

    name: str
    graph: BoundGraph
    capacity: int | None = None
    target: float | None = None  # million tokens per second


def cpu_time(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The best of several runs, in seconds of CPU time, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def measure(case: KernelCase, repeat: int) -> str:
    machine = Machine.default(case.capacity)
    total, result = cpu_time(lambda: compiled.run(case.graph, machine), repeat)
    loops = []
    for _ in range(repeat):
        simulation = compiled.Simulation(case.graph, machine)
        start = time.process_time()
        simulation.run()
        loops.append(time.process_time() - start)
    tokens = result.total_tokens
    rate = tokens / total / 1e6
    verdict = "" if case.target is None else "ok" if rate >= case.target else "MISSED"
    target = "" if case.target is None else f"{case.target:,.0f}"
    return (
        f"{case.name:34} {case.capacity or '∞':>6} {tokens / 1e6:10.2f} {result.cycles:12,} "
        f"{rate:10.0f} {tokens / min(loops) / 1e6:10.0f} {target:>7} {verdict}"
    )


def against_interpreter(name: str, graph: BoundGraph, capacity: int | None, repeat: int) -> str:
    machine = Machine.default(capacity)
    slow, golden = cpu_time(lambda: interpreter.run(graph, machine), 1)
    fast, kernel = cpu_time(lambda: compiled.run(graph, machine), repeat)
    same = np.array_equal(golden.clocks, kernel.clocks)
    return (
        f"{name:34} {capacity or '∞':>6} {golden.total_tokens / slow / 1e6:10.2f} "
        f"{golden.total_tokens / fast / 1e6:10.1f} {slow / fast:9.0f}x   "
        f"clocks {'equal' if same else 'DIFFER'}"
    )


_WARM = """
from benchmarks.simulator import *
a = matrix(40, 150)
compiled.run(spmm_ikj(a, np.ones((40, 8))), Machine.default())
"""


def warm_start(repeat: int) -> float:
    """Seconds of CPU time of a process that imports, loads kernels and runs a small graph.

    Modules come with their bytecode, as pip installs them.
    """
    best = float("inf")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(repeat + 1):  # the first fills the cache
        before = os.times()
        subprocess.run([sys.executable, "-c", _WARM], check=True, env=environment)
        after = os.times()
        used = (after.children_user - before.children_user) + (
            after.children_system - before.children_system
        )
        best = min(best, used)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="leave out the slow rows")
    options = parser.parse_args()
    cora = matrix(2708, 13_264)
    x = np.random.default_rng(1).integers(-3, 4, (2708, 128)).astype(np.float32)
    ikj, ijk = spmm_ikj(cora, x), spmm_ijk(cora, x)
    diagonal = spmm_ikj(sp.identity(100_000, format="csr"), np.ones((100_000, 1)))
    cases = [
        KernelCase("SpMM i-k-j, 2708², 128 columns", ikj, target=2_000),
        KernelCase("SpMM i-j-k, 2708², 128 columns", ijk, target=200),
        KernelCase("all fibers of length 1", diagonal, target=90),
        KernelCase("SpMM i-k-j", ikj, 1024),
        KernelCase("SpMM i-k-j", ikj, 64, target=100),
        KernelCase("SpMM i-j-k", ijk, 64, target=100),
    ]
    if not options.quick:
        cases += [KernelCase("SpMM i-k-j", ikj, 8), KernelCase("SpMM i-j-k", ijk, 8)]
        cases += [KernelCase("SpMM i-k-j", ikj, 2)]
    print(f"{'graph':34} {'slots':>6} {'Mtokens':>10} {'cycles':>12} ", end="")
    print(f"{'Mtok/s':>10} {'loop':>10} {'target':>7}")
    for case in cases:
        print(measure(case, options.repeat), flush=True)
    small = spmm_ikj(matrix(200, 800), x[:200])
    print(f"\n{'against the interpreter':34} {'slots':>6} {'golden':>10} {'kernels':>10}  (Mtok/s)")
    print(against_interpreter("SpMM i-k-j, 200², 128 columns", small, None, options.repeat))
    print(against_interpreter("SpMM i-k-j, 200², 128 columns", small, 16, options.repeat))
    tiny = spmm_ikj(sp.identity(5_000, format="csr"), np.ones((5_000, 1)))
    print(against_interpreter("all fibers of length 1", tiny, None, options.repeat))
    print()
    tables(options.repeat, quick=options.quick)
    print(
        f"\nwarm start (import, kernels, small run): "
        f"{warm_start(options.repeat):.2f} s of CPU time (target 1.5)"
    )


if __name__ == "__main__":
    main()
