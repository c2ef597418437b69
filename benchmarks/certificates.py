"""The correctness of certificates: random small spaces, each of whose parts is run.

``python -m benchmarks.certificates --spaces 500``

Programs of a few statements are drawn, with formats, data, budgets and machines: every other one
branches.  Every way of every part is run, which gives the best schedule there is, as parts are
independent; the search must find it, its bound must be below it at every tolerance and wherever it
is stopped, and every lower bound must be below the run of every candidate.  Cuts are listed without
the ideals that the search goes by: in every order of the statements, every cut into runs of
neighbours.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from math import inf, prod
from typing import Any

import networkx as nx
import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.method import Dataflow
from fuseloom.errors import DataError, FuseloomError, SimulationError
from fuseloom.exploration.search import Search
from fuseloom.program import Program, parse
from fuseloom.results.method import Budget, Part, every
from fuseloom.results.order_ideals import Units

MOST_PARTS = 80
"""Parts of a space that are run; larger spaces are left out."""
SIZES = {"i": (2, 5), "j": (2, 5), "k": (2, 5), "l": (1, 3)}


@dataclass(frozen=True)
class CertifiedSpace:
    """A program with data, budget and machine."""

    program: Program
    data: Mapping[str, Any]
    budget: Budget
    machine: Machine
    sized: bool

    def method(self) -> Dataflow:
        return Dataflow(self.program, self.data, self.machine, sized=self.sized)


def space(seed: int, nonzero: bool = False) -> CertifiedSpace:
    """A space drawn at random; that of a program that branches where the seed is odd.

    Parameters
    ----------
    nonzero : bool
        Whether what a relu makes has no zeros, and other results may have none.
    """
    rng = random.Random(seed)
    drawn = _Drawn(rng)
    if seed % 2:
        _branching(rng, drawn)
    else:
        _straight(rng, drawn)
    if nonzero:
        drawn.lines = [_without_zeros(line, rng) for line in drawn.lines]
    program = parse(drawn.text())
    draw, density = np.random.default_rng(seed), rng.choice([0.2, 0.4, 0.7, 1.0])
    data = {}
    for name in program.inputs:
        shape_ = program.tensor(name).shape
        there = draw.random(shape_) < density
        values = draw.random(shape_) + 0.5
        if nonzero:
            values = draw.integers(1, 4, shape_) * draw.choice([1, -1], shape_)
        data[name] = there * values
    budget = Budget(lanes=rng.choice([1, 1, 1, 2]), copies=rng.choice([0, 0, 1]))
    machine = Machine.preset(rng.choice(["default", "default", "default", "hbm2"]))
    return CertifiedSpace(program, data, budget, machine, rng.random() < 0.1)


def _without_zeros(line: str, rng: random.Random) -> str:
    out, right = line.split(" = ")
    chosen = right.startswith("relu") or rng.random() < 0.2
    return f"{out} = nonzero({right})" if chosen and not right.startswith("max") else line


class _Drawn:
    """A program under way."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.size = {x: rng.randint(*sizes) for x, sizes in SIZES.items()}
        self.declared: list[str] = []
        self.lines: list[str] = []
        self.outputs: list[str] = []

    def matrix(self, rows: str, columns: str) -> str:
        name = f"A{len(self.declared)}"
        formats = ["csr", "dcsr", "csc", "dcsc", "dense"]
        shape = f"{self.size[rows]}x{self.size[columns]}"
        self.declared.append(f"{name}: {shape} {self.rng.choice(formats)}")
        return name

    def text(self) -> str:
        return "\n".join([*self.declared, *self.lines, f"output {', '.join(self.outputs)}"])


def _straight(rng: random.Random, drawn: _Drawn) -> None:
    """Statements each of which reads the one before it."""
    matrix, lines = drawn.matrix, drawn.lines
    current, shape = matrix("i", "j"), ("i", "j")
    for number in range(rng.choice([1, 2, 2, 3])):
        name, (x, y) = f"T{number}", shape
        z = next(w for w in rng.sample("jkl", 3) if w not in shape)
        access = f"{current}[{x},{y}]"
        match rng.choice(["product", "product", "mask", "add", "relu", "norm", "turned"]):
            case "product":
                lines.append(f"{name}[{x},{z}] = {access} * {matrix(y, z)}[{y},{z}]")
                shape = x, z
            case "turned":
                lines.append(f"{name}[{x},{z}] = {matrix(z, y)}[{z},{y}] * {access}")
                shape = x, z
            case "mask":
                lines.append(f"{name}[{x},{y}] = {access} * {matrix(x, y)}[{x},{y}]")
            case "add":
                lines.append(f"{name}[{x},{y}] = {access} + {matrix(x, y)}[{x},{y}]")
            case "relu":
                lines.append(f"{name}[{x},{y}] = relu({access})")
            case "norm":
                lines.append(f"S{number}[{x}] = {rng.choice(['', f'max[{y}] '])}{access}")
                lines.append(f"{name}[{x},{y}] = {access} - S{number}[{x}]")
        current = name
    drawn.outputs.append(current)


def _branching(rng: random.Random, drawn: _Drawn) -> None:
    """Statements that read any two tensors before them."""
    matrix, lines = drawn.matrix, drawn.lines
    tensors = {matrix("i", "j"): ("i", "j")}
    unread: dict[str, None] = {}
    for number in range(rng.choice([3, 3, 4, 4, 5])):
        name, inner = f"T{number}", [t for t in tensors if t.startswith("T")]
        one = rng.choice(inner if inner and rng.random() < 0.8 else list(tensors))
        x, y = tensors[one]
        access = f"{one}[{x},{y}]"
        alike = [t for t in inner if t != one and tensors[t] == (x, y)]
        unread.pop(one, None)
        match rng.choice(["product", "mask", "add", "relu", "meet", "meet", "meet"]):
            case "product":
                z = next(w for w in rng.sample("jkl", 3) if w not in (x, y))
                lines.append(f"{name}[{x},{z}] = {access} * {matrix(y, z)}[{y},{z}]")
                tensors[name] = x, z
            case "meet" if alike:
                other = rng.choice(alike)
                unread.pop(other, None)
                lines.append(f"{name}[{x},{y}] = {access} {rng.choice('+*-')} {other}[{x},{y}]")
                tensors[name] = x, y
            case "mask" | "add" as kind:
                sign = "*" if kind == "mask" else "+"
                lines.append(f"{name}[{x},{y}] = {access} {sign} {matrix(x, y)}[{x},{y}]")
                tensors[name] = x, y
            case _:
                lines.append(f"{name}[{x},{y}] = relu({access})")
                tensors[name] = x, y
        unread[name] = None
    drawn.outputs += unread


def cuts(program: Program) -> set[frozenset[Units]]:
    """Every cut of a program into regions: in every order, into runs of neighbours."""
    position = {s.out.tensor: k for k, s in enumerate(program.live)}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(position.values())
    for s in program.live:
        graph.add_edges_from(
            (position[a.tensor], position[s.out.tensor]) for a in s.operands if a.tensor in position
        )
    found: set[frozenset[Units]] = set()
    for order in nx.all_topological_sorts(graph):
        for number in range(len(order)):
            for inner in combinations(range(1, len(order)), number):
                ends = [0, *inner, len(order)]
                found.add(frozenset(tuple(sorted(order[a:b])) for a, b in pairwise(ends)))
    return found


def best_of(
    given: CertifiedSpace, method: Dataflow, most: int = MOST_PARTS
) -> tuple[float, int, int] | None:
    """Cycles of the best schedule, parts that were run, and schedules; None if they are too many.

    Raises
    ------
    AssertionError
        If a lower bound is above a run, or there are other schedules than are counted.
    """
    listed = cuts(method.program)
    regions = sorted({units for cut in listed for units in cut}, key=lambda u: (len(u), u))
    assert set(regions) == set(method.ideals.parts()), "other regions than those searched"
    candidates: dict[Units, list[Part]] = {}
    for units in regions:
        left = most - sum(map(len, candidates.values()))
        some = (w for w in every(method.candidates(units, given.budget)) if isinstance(w, Part))
        candidates[units] = [*islice(some, left + 1)]
        if len(candidates[units]) > left:
            return None
    count = sum(map(len, candidates.values()))
    lower_bounds = method.lower_bounds(given.budget)
    least = dict.fromkeys(regions, inf)
    for units in regions:  # small ones write for the others
        closer = method.lower_bound(units, given.budget)
        for part in candidates[units]:
            try:
                cost = method.measure((part,))
            except (SimulationError, DataError):  # it fails, or all that write for it do
                continue
            assert cost is not None
            bounds = lower_bounds[method.ideals.edges(units)].max(), closer, part.least
            assert max(bounds) <= cost.cycles, (part.text, bounds, cost.cycles)
            least[units] = min(least[units], cost.cycles)
    best = min(sum(least[units] for units in cut) for cut in listed)
    schedules = sum(prod(len(candidates[units]) for units in cut) for cut in listed)
    counted = method.ideals.count({units: len(found) for units, found in candidates.items()})
    assert counted == schedules, f"{counted} schedules counted, {schedules} listed"
    return best, count, schedules


def wrong(given: CertifiedSpace, method: Dataflow, best: float, seed: int) -> str:
    """Return the fault of a search of a space; empty if there is none."""
    rng = random.Random(seed)
    for gap in (0.0, 0.05, 0.3):
        for stop in (None, rng.randint(1, 4)):
            try:
                found = Search(method, given.budget, gap=gap, most_runs=stop).run()
            except FuseloomError as reason:
                if best < inf:
                    return f"gap {gap}: {reason}"
                continue
            cycles, proof = found.cost.cycles, found.certificate
            if cycles < best or proof.bound > best:
                return f"gap {gap}, {stop} runs: {proof.bound} to {cycles}, and the best is {best}"
            if stop is None and cycles * (1 - gap) > best + 1e-9:
                return f"gap {gap}: {cycles}, and the best is {best}"
    return ""


def main() -> None:
    """Print what is wrong, and how many spaces there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spaces", type=int, default=500, help="how many (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (default: 0)")
    parser.add_argument("--nonzero", action="store_true", help="with results without zeros")
    parser.add_argument("--verbose", action="store_true", help="a line per space")
    options = parser.parse_args()
    began, seed = time.process_time(), options.seed
    parts: list[int] = []
    schedules: list[int] = []
    bad = large = 0
    while len(parts) < options.spaces:
        given = space(seed, options.nonzero)
        method = given.method()
        try:
            found = best_of(given, method)
            problem = "" if found is None else wrong(given, method, found[0], seed)
        except AssertionError as reason:
            found, problem = (0.0, 0, 0), f"{reason}"
        if problem:
            bad += 1
            print(f"seed {seed}: {problem}\n{given.program}", flush=True)
        if found is None:
            large += 1
        else:
            parts.append(found[1])
            schedules.append(found[2])
        seed += 1
        if options.verbose:
            print(seed, len(parts), large, f"{time.process_time() - began:.1f}", flush=True)
    print(
        f"{len(parts)} spaces of {min(schedules):,} to {max(schedules):,} schedules, "
        f"{sum(parts):,} parts run, {large} left out as too large: {bad} wrong; "
        f"{time.process_time() - began:,.0f} s of CPU time"
    )


if __name__ == "__main__":
    main()
