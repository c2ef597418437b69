"""Whether certificates are ever wrong: random small spaces, each of whose parts is run.

``python -m benchmarks.certificates --spaces 500``

Programs of a few statements are drawn, with formats, data, budgets and machines.  Every way of
every part is run, which gives the best schedule there is, as parts are independent; the search must
find it, its bound must be below it at every tolerance and wherever it is stopped, and every floor
must be below the run of every way.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import Any

import numpy as np

from engine.dataflow.method import Dataflow
from engine.dataflow.sim.machine import Machine
from engine.errors import DataError, FuseloomError, SimulationError
from engine.explore.search import Search
from engine.program import Program, parse
from engine.results.method import Budget, Part, every

MOST_PARTS = 60
"""Parts of a space that are run; larger spaces are left out."""
SIZES = {"i": (2, 5), "j": (2, 5), "k": (2, 5), "l": (1, 3)}


@dataclass(frozen=True)
class Space:
    """A program with data, budget and machine."""

    program: Program
    data: Mapping[str, Any]
    budget: Budget
    machine: Machine
    sized: bool

    def method(self) -> Dataflow:
        return Dataflow(self.program, self.data, self.machine, sized=self.sized)


def space(seed: int) -> Space:
    """A space drawn at random."""
    rng = random.Random(seed)
    size = {x: rng.randint(*sizes) for x, sizes in SIZES.items()}
    declared: list[str] = []
    formats = ["csr", "dcsr", "csc", "dcsc", "dense"]

    def matrix(rows: str, columns: str) -> str:
        name = f"A{len(declared)}"
        declared.append(f"{name}: {size[rows]}x{size[columns]} {rng.choice(formats)}")
        return name

    lines: list[str] = []
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
    program = parse("\n".join([*declared, *lines, f"output {current}"]))
    draw, density = np.random.default_rng(seed), rng.choice([0.2, 0.4, 0.7, 1.0])
    data = {}
    for name in program.inputs:
        shape_ = program.tensor(name).shape
        data[name] = (draw.random(shape_) < density) * (draw.random(shape_) + 0.5)
    budget = Budget(lanes=rng.choice([1, 1, 1, 2]), copies=rng.choice([0, 0, 1]))
    machine = Machine.preset(rng.choice(["default", "default", "default", "hbm2"]))
    return Space(program, data, budget, machine, rng.random() < 0.1)


def best_of(given: Space, method: Dataflow) -> tuple[float, int, int] | None:
    """Cycles of the best schedule, parts that were run, and schedules; None if they are too many.

    Raises
    ------
    AssertionError
        If a floor is above a run.
    """
    size = len(method.units)
    spans = [(begin, end) for begin in range(size) for end in method.ends(begin)]
    ways: dict[tuple[int, int], list[Part]] = {}
    for begin, end in spans:
        left = MOST_PARTS - sum(map(len, ways.values()))
        found = (w for w in every(method.ways(begin, end, given.budget)) if isinstance(w, Part))
        ways[begin, end] = [*islice(found, left + 1)]
        if len(ways[begin, end]) > left:
            return None
    count = sum(map(len, ways.values()))
    floors = method.floors(given.budget)
    least: dict[tuple[int, int], float] = {}
    for begin, end in sorted(
        spans, key=lambda at: at[1] - at[0]
    ):  # short ones write for the others
        closer = method.floor(begin, end, given.budget)
        for part in ways[begin, end]:
            try:
                cost = method.measure((part,))
            except (SimulationError, DataError):  # it fails, or all that write for it do
                continue
            assert cost is not None
            bounds = floors[begin, end], closer, part.least
            assert max(bounds) <= cost.cycles, (part.text, bounds, cost.cycles)
            least[begin, end] = min(least.get((begin, end), inf), cost.cycles)
    after, schedules = [inf] * size + [0.0], [0] * size + [1]
    for begin in range(size - 1, -1, -1):
        for end in method.ends(begin):
            after[begin] = min(after[begin], least.get((begin, end), inf) + after[end])
            schedules[begin] += len(ways[begin, end]) * schedules[end]
    return after[0], count, schedules[0]


def wrong(given: Space, method: Dataflow, best: float, seed: int) -> str:
    """What is wrong with a search of a space; nothing if that is empty."""
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
    parser.add_argument("--verbose", action="store_true", help="a line per space")
    options = parser.parse_args()
    began, seed = time.process_time(), options.seed
    parts: list[int] = []
    schedules: list[int] = []
    bad = large = 0
    while len(parts) < options.spaces:
        given = space(seed)
        method = given.method()
        try:
            found = best_of(given, method)
            problem = "" if found is None else wrong(given, method, found[0], seed)
        except AssertionError as reason:
            found, problem = (0.0, 0, 0), f"a floor is above a run: {reason}"
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
