"""Sampled estimates of large graphs, held against their runs.

    python -m benchmarks.at_scale [--cases N] [--seed S] [--runs FILE] [--only TEXT] [--verbose]

Each case draws a program, a family of graphs of 5,000 to 50,000 nodes, a machine, lanes, and a
capacity of the channels.  A row per machine, and one for all: how many regions were compared, the
error of their cycles (median, of 95 in 100, most, in percent), and how many of the runs lie in the
interval that the estimate states, in percent.  The aim is 95 of 100, and a median of 3 % or less
on every machine.  ``--runs`` keeps simulated cycles, which take most of the time.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fuseloom.atomic_files import replacing
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateMode, RegionEstimate, estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError, LimitError
from fuseloom.program import parse

Edges = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def uniform(n: int, rng: np.random.Generator) -> Edges:
    """Edges anywhere."""
    return rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n)


def power_law(n: int, rng: np.random.Generator) -> Edges:
    """Nodes with chances that fall with their rank, in an order of its own on each side."""
    chance = 1.0 / np.arange(1, n + 1) ** 0.8
    chance /= chance.sum()
    ends = [rng.permutation(n)[rng.choice(n, 4 * n, p=chance)] for _ in range(2)]
    return ends[0], ends[1]


def recursive(n: int, rng: np.random.Generator) -> Edges:
    """R-MAT: each bit of both ends is drawn together, (0.57, 0.19, 0.19, 0.05)."""
    rows, columns = np.zeros(4 * n, dtype=np.int64), np.zeros(4 * n, dtype=np.int64)
    for _ in range(int(np.ceil(np.log2(n)))):
        quadrant = rng.choice(4, 4 * n, p=[0.57, 0.19, 0.19, 0.05])
        rows, columns = 2 * rows + quadrant // 2, 2 * columns + quadrant % 2
    return rows % n, columns % n


def roads(n: int, rng: np.random.Generator) -> Edges:
    """A grid of which a tenth of the edges is missing, in both directions."""
    side = int(np.sqrt(n))
    at = np.arange(side * side).reshape(side, side)
    some = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    other = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    kept = rng.random(len(some)) < 0.9
    some, other = some[kept], other[kept]
    return np.concatenate([some, other]), np.concatenate([other, some])


FAMILIES: Mapping[str, Callable[[int, np.random.Generator], Edges]] = {
    "uniform": uniform,
    "power law": power_law,
    "R-MAT": recursive,
    "roads": roads,
}

PROGRAMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "SpMV": ("A: {n}x{n} csr\nx: {n} dense\ny[i] = A[i,j] * x[j]", ("",)),
    "SpMM": ("A: {n}x{n} csr\nX: {n}x8 dense\nY[i,l] = A[i,j] * X[j,l]", ("",)),
    "sum": ("A: {n}x{n} csr\nB: {n}x{n} csr\nC[i,j] = A[i,j] + B[i,j]", ("",)),
    "SDDMM": (
        "A: {n}x{n} csr\nU: {n}x6 dense\nV: {n}x6 dense\n"
        "S[i,j] = U[i,d] * V[j,d]\nT[i,j] = A[i,j] * S[i,j]",
        ("fuse S..T; order S: i,j,d",),
    ),
    "product": ("A: {n}x{n} csr\nB: {n}x{n} csr\nC[i,j] = A[i,k] * B[k,j]", ("",)),
    "inner": (
        "A: {n}x{n} csr\nB: {n}x{n} csr\nM: {n}x{n} csr\n"
        "T[i,j] = A[i,k] * B[k,j]\nC[i,j] = T[i,j] * M[i,j]",
        ("fuse T..C",),
    ),
    "three products": (
        "A: {n}x{n} csr\nB: {n}x{n} csr\nC: {n}x{n} csr\n"
        "T[i,j] = A[i,k] * B[k,j]\nY[i,l] = T[i,j] * C[j,l]",
        ("fuse T..Y", ""),
    ),
    "GCN": (
        "A: {n}x{n} csr\nX: {n}x8 csr\nW1: 8x6 dense\nW2: 6x4 dense\n"
        "T1[i,f] = A[i,k] * X[k,f]\nT2[i,h] = T1[i,f] * W1[f,h]\nH[i,h] = relu(T2[i,h])\n"
        "T3[i,h] = A[i,k] * H[k,h]\nY[i,c] = T3[i,h] * W2[h,c]",
        ("fuse T1..H; fuse T3..Y", ""),
    ),
}

MACHINES = ("default", "ideal", "hbm2", "ddr4", "comal-hbm")
CAPACITIES = (None, None, 4, 16)
LANES = (1, 1, 2, 4)
LONGEST = 5_000_000
"""Cycles; what is expected to take longer is not run."""


@dataclass(frozen=True)
class ScaleCase:
    """A program on a graph and a machine: everything that the cycles of a run depend on."""

    program: str
    schedule: str
    family: str
    n: int
    machine: str
    capacity: int | None
    lanes: int
    seed: int

    @property
    def key(self) -> str:
        """A name that tells it from all others."""
        return json.dumps(list(vars(self).values()))

    @classmethod
    def drawn(cls, random: random.Random) -> ScaleCase:
        """Any case."""
        name = random.choice(list(PROGRAMS))
        return cls(
            name,
            random.choice(PROGRAMS[name][1]),
            random.choice(list(FAMILIES)),
            round(5_000 * 10 ** random.random()),
            random.choice(MACHINES),
            random.choice(CAPACITIES),
            random.choice(LANES),
            random.randrange(1 << 30),
        )

    def compiled(self) -> Compilation:
        """The program in its lanes, with its channels."""
        program = parse(PROGRAMS[self.program][0].format(n=self.n))
        lines = [self.schedule]
        if self.lanes > 1:
            lines.append(f"parallel i by {self.lanes}")
        compilation = compile_program(program, "; ".join(line for line in lines if line))
        if self.capacity is None:
            return compilation
        regions = tuple(
            replace(r, graph=size_buffers(r.graph, r.region.extents, default=self.capacity))
            for r in compilation.regions
        )
        return replace(compilation, regions=regions)

    def data(self, compilation: Compilation) -> dict[str, Any]:
        """Graphs of the family for square matrices, a tenth of the features, dense weights."""
        rng = np.random.default_rng(self.seed)
        data: dict[str, Any] = {}
        for name in compilation.program.inputs:
            declared = compilation.program.tensor(name)
            if declared.format.all_dense:
                data[name] = rng.random(declared.shape)
            elif declared.shape == (self.n, self.n):
                rows, columns = FAMILIES[self.family](self.n, rng)
                data[name] = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), declared.shape)
            else:
                data[name] = sp.random(*declared.shape, 0.1, "csr", random_state=rng)
        return data


@dataclass(frozen=True)
class RegionError:
    """A region's estimate, and the cycles of its run."""

    case: ScaleCase
    estimate: RegionEstimate
    cycles: int

    @property
    def error(self) -> float:
        """Relative to the run; negative where the estimate is low."""
        return self.estimate.cycles / self.cycles - 1.0

    @property
    def inside(self) -> bool:
        """True if the run lies in the interval."""
        return self.estimate.low <= self.cycles <= self.estimate.high

    def __str__(self) -> str:
        case = self.case
        width = (self.estimate.high - self.estimate.low) / max(self.estimate.cycles, 1.0)
        return (
            f"{100 * self.error:8.2f}  {100 * width:6.1f}  {'' if self.inside else 'outside':8}"
            f"{self.cycles:>11,}  {case.machine:9} {case.capacity or '-':>3} x{case.lanes} "
            f"{case.program} {self.estimate.name} [{case.schedule}] {case.family} {case.n:,}"
        )


def compared(
    case: ScaleCase, runs: dict[str, list[int]], mode: EstimateMode
) -> Iterator[RegionError]:
    """The regions of a case; none where it cannot be compiled, or takes too long."""
    try:
        compilation = case.compiled()
    except FuseloomError:
        return
    data = case.data(compilation)
    machine = Machine.preset(case.machine)
    estimates = estimate(compilation, data, mode=mode, machine=machine)
    if estimates.cycles > LONGEST:
        return
    if case.key not in runs:
        try:
            run = simulate(compilation, data, machine)
        except FuseloomError as reason:  # too much memory, or what the reference's quirks refuse
            if not (isinstance(reason, LimitError) or machine.quirks.active):
                raise
            runs[case.key] = []
        else:
            runs[case.key] = [region.cycles for region in run.regions]
    if not runs[case.key]:
        return
    for mine, cycles in zip(estimates.regions, runs[case.key], strict=True):
        yield RegionError(case, mine, cycles)


def row(name: str, found: list[RegionError]) -> str:
    """Format a row: regions, errors (median, 95 in 100, most), runs inside the interval."""
    errors = 100 * np.abs([each.error for each in found])
    inside = 100 * float(np.mean([each.inside for each in found]))
    return (
        f"{name:12}{len(found):6}{np.median(errors):9.2f}{np.quantile(errors, 0.95):9.2f}"
        f"{errors.max():9.2f}{inside:9.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--runs", type=Path, help="a file that keeps simulated cycles")
    parser.add_argument("--only", default="", help="cases whose text has this")
    parser.add_argument("--mode", choices=[m.value for m in EstimateMode], default="sampled")
    parser.add_argument("--verbose", action="store_true", help="a line for every region")
    options = parser.parse_args()
    runs: dict[str, list[int]] = {}
    if options.runs is not None and options.runs.exists():
        runs = json.loads(options.runs.read_text())
    chosen = random.Random(options.seed)
    found: list[RegionError] = []
    taken = 0.0
    for _ in range(options.cases):
        case = ScaleCase.drawn(chosen)
        if options.only not in case.key:
            continue
        started = time.process_time()
        for each in compared(case, runs, EstimateMode(options.mode)):
            found.append(each)
            if options.verbose:
                print(each, flush=True)
        taken += time.process_time() - started
        if options.runs is not None:
            with replacing(options.runs) as file:
                file.write(json.dumps(runs).encode())
    print(f"{'':12}{'':6}{'median %':>9}{'95 %':>9}{'most %':>9}{'inside %':>9}")
    for machine in MACHINES:
        mine = [each for each in found if each.case.machine == machine]
        if mine:
            print(row(machine, mine))
    if found:
        print(row("all", found))
    print(f"{taken:.0f} s of CPU time")


if __name__ == "__main__":
    main()
