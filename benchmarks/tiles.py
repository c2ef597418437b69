"""Speed of the compiled engine on blocks: tile products per second against numpy's.

    python -m benchmarks.tiles [--repeat 5]

A sparse matrix of b × b blocks times a dense one, row by row, and nothing but the products through
``np.matmul`` on one batch of as many pairs of tiles, both in CPU time in the same run.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy is to use one core as well

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter

REF, VAL = StreamKind.REF, StreamKind.VAL


def products(block: int, rows: int, terms: int) -> tuple[BoundGraph, Any, Any]:
    """``rows`` sums of ``terms`` products of tiles each, and the tiles."""
    rng = np.random.default_rng(0)
    shape = (rows * terms, block, block)
    a, b = (rng.standard_normal(shape, dtype=np.float32) for _ in range(2))
    tile = {"tile": "ij", "block": block}
    matmul = {"fn": "mul", "tile": "ik,kj->ij", "block": block}
    kinds = [REF, StreamKind.CRD, REF, StreamKind.CRD, REF, REF, REF, VAL, VAL, VAL, VAL]
    nodes = (
        ("root", (), (0,), {}),
        ("dense_scan", (0,), (1, 2), {"dim": rows}),
        ("dense_scan", (2,), (3, 4), {"dim": terms}),
        ("broadcast", (4,), (5, 6), {}),
        ("array", (5,), (7,), {"tensor": "A", **tile}),
        ("array", (6,), (8,), {"tensor": "B", **tile}),
        ("binary", (7, 8), (9,), matmul),
        ("reduce", (9,), (10,), {"fn": "add", **tile}),
        ("valwrite", (10,), (), {"tensor": "T", **tile}),
        ("sink", (1,), (), {}),
        ("sink", (3,), (), {}),
    )
    graph = Graph(
        "products",
        tuple(Node(k, op, ins, outs, params) for k, (op, ins, outs, params) in enumerate(nodes)),
        tuple(Stream(k, kind, 1) for k, kind in enumerate(kinds)),
    )
    return BoundGraph(graph, {4: {"vals": a}, 5: {"vals": b}}), a, b


def cpu_time(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The best of several runs, in seconds of CPU time, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def measure(block: int, repeat: int) -> str:
    rows, terms = 64, max(1, 400_000 // block**2 // 16)
    bound, a, b = products(block, rows, terms)
    machine = Machine.default()
    count = rows * terms
    compiled.run(products(block, 1, 1)[0], machine)  # loads the kernels
    ours, result = cpu_time(lambda: compiled.run(bound, machine), repeat)
    loops = []
    for _ in range(repeat):
        simulation = compiled.Simulation(bound, machine)
        start = time.process_time()
        simulation.run()
        loops.append(time.process_time() - start)
    theirs, made = cpu_time(lambda: np.matmul(a, b), repeat)
    sums = made.reshape(rows, terms, block, block).sum(axis=1)
    error = np.abs(result.outputs[8]["vals"] - sums).max() / np.abs(sums).max()
    small = products(block, 4, min(terms, 50))[0]
    golden, _ = cpu_time(lambda: interpreter.run(small, machine), 1)
    kernel, _ = cpu_time(lambda: compiled.run(small, machine), repeat)
    loop = min(loops)
    return (
        f"{block:5} {count:9,} {count / ours:12,.0f} {count / loop:12,.0f} {count / theirs:12,.0f} "
        f"{loop / theirs:9.2f} {2 * block**3 * count / loop / 1e9:8.1f} {error:10.1e} "
        f"{golden / kernel:8.0f}x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{'':15} {'tile products per second':^38} {'loop /':>9}")
    print(
        f"{'edge':>5} {'products':>9} {'run':>12} {'loop':>12} {'np.matmul':>12} {'matmul':>9} "
        f"{'GFLOP/s':>8} {'difference':>10} {'golden':>9}"
    )
    for block in (4, 16, 64):
        print(measure(block, options.repeat), flush=True)


if __name__ == "__main__":
    main()
