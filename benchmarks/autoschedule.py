"""The optimality of the search's schedules, and the time that the search takes.

``python -m benchmarks.autoschedule``

In every small space each schedule is run; the search must find the least, prove it, and its bound
must be below it at every tolerance.  Beside it stands a search at random: as many schedules, drawn
from the same space, as the search has simulated parts; :mod:`benchmarks.baselines`
compares with as many runs of parts.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.spaces import FAMILIES, PROGRAMS, data_of
from fuseloom.dataflow.method import Dataflow
from fuseloom.exploration.search import Search
from fuseloom.program import Program, StoredTensor, parse
from fuseloom.results.method import Budget, Part, every

MOST = 2_000
"""Schedules of a space that are run."""
DRAWS = 200
"""Searches at random whose median is shown."""


@dataclass(frozen=True)
class SpaceRow:
    """One space.

    Attributes
    ----------
    points : int
        Schedules, each of which was run.
    least, found, at_random : float
        Cycles of the best, of what the search found, and of the median search at random.
    met, simulated : int
        Candidates that the search looked at, and parts that it ran.
    seconds : float
        CPU time of the search.
    sound : bool
        Whether the search proved the least, and kept what each tolerance promises.
    """

    name: str
    points: int
    least: float
    found: float
    at_random: float
    met: int
    simulated: int
    seconds: float
    sound: bool

    def __str__(self) -> str:
        right = "best" if self.found == self.least else f"+{self.found / self.least - 1:.1%}"
        return (
            f"{self.name:24} {self.points:6,} {self.least:10,.0f} {right:>6} "
            f"{self.at_random / self.least - 1:9.1%} {self.met:6} {self.simulated:9} "
            f"{self.seconds:8.2f} {'yes' if self.sound else 'NO':>6}"
        )


def problem(
    name: str, family: str, n: int, seed: int
) -> tuple[Program, Mapping[str, StoredTensor]]:
    """A program on a matrix of a family."""
    rng = np.random.default_rng(seed)
    matrix = FAMILIES[family](n, rng)
    program = parse(PROGRAMS[name].format(n=matrix.shape[0], m=matrix.shape[1]))
    return program, data_of(program, matrix, rng)


def paths(method: Dataflow, budget: Budget, most: int = MOST) -> list[list[Part]] | None:
    """Every schedule of a space; None if there are more than so many."""
    ideals = method.ideals
    found: list[set[frozenset[Part]]] = [set() for _ in range(len(ideals))]
    found[0].add(frozenset())
    for ideal in range(len(ideals)):
        for end in ideals.ends(ideal):
            for candidate in every(method.candidates(ideals.units(ideal, end), budget)):
                if isinstance(candidate, Part):  # two orders of the same parts are one schedule
                    found[end] |= {before | {candidate} for before in found[ideal]}
            if len(found[end]) > most:
                return None
    schedules = []
    for chosen in found[-1]:
        part = {part.units: part for part in chosen}
        schedules.append([part[units] for units in ideals.sorted(part)])
    return schedules


def row(name: str, family: str, n: int, seed: int, lanes: int) -> SpaceRow | None:
    """A space, searched and run."""
    program, data = problem(name, family, n, seed)
    budget = Budget(lanes=lanes)
    method = Dataflow(program, data)
    found = paths(method, budget)
    if found is None:
        return None
    runs: dict[Part, float] = {}
    for path in found:
        for number, part in enumerate(path):
            if part not in runs:
                cost = method.measure(path[: number + 1])
                assert cost is not None  # nothing says that it may be abandoned
                runs[part] = cost.cycles
    cycles = [sum(runs[part] for part in path) for path in found]
    began = time.process_time()
    best = Search(Dataflow(program, data), budget).run()
    seconds = time.process_time() - began
    sound = best.certificate.gap == 0
    for gap in (0.02, 0.05, 0.2):
        tolerant = Search(Dataflow(program, data), budget, gap=gap).run()
        proof = tolerant.certificate
        sound &= proof.bound <= min(cycles) and tolerant.cost.cycles * (1 - gap) <= min(cycles)
    counts = best.certificate.counts
    rng = random.Random(seed)
    tries = max(1, round(counts["simulated"] / max(1, len(best.parts))))
    drawn = [min(rng.choices(cycles, k=tries)) for _ in range(DRAWS)]
    return SpaceRow(
        f"{name}, {family}", len(cycles), min(cycles), best.cost.cycles, statistics.median(drawn),
        counts["looked at"], counts["simulated"], seconds, sound,
    )  # fmt: skip


def main() -> None:
    """Print a line per space."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=16, help="rows (default: 16)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lanes", type=int, default=1, help="budget of lanes (default: 1)")
    parser.add_argument("--only", help="programs whose name has that in it")
    options = parser.parse_args()
    print(f"{'space':24} {'points':>6} {'least':>10} {'search':>6} {'at random':>9} "
          f"{'seen':>6} {'simulated':>9} {'CPU, s':>8} {'sound':>6}")  # fmt: skip
    rows = []
    for name in PROGRAMS:
        if options.only and options.only not in name:
            continue
        for family in FAMILIES:
            made = row(name, family, options.size, options.seed, options.lanes)
            if made is None:
                print(f"{name}, {family}: more than {MOST:,} schedules", flush=True)
                continue
            print(made, flush=True)
            rows.append(made)
    best = sum(made.found == made.least for made in rows)
    print(f"{best} of {len(rows)} best, {sum(made.sound for made in rows)} sound")


if __name__ == "__main__":
    main()
