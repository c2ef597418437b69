"""The search against searches without knowledge, with as many runs.

``python -m benchmarks.baselines``

On 50 problems: schedules drawn at random, and by Optuna's TPE (if it is installed), each with as
many runs of parts as the search has simulated until it had proved its answer.  Their medians over
some seeds are compared with what the search found.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

from benchmarks.autoschedule import problem
from benchmarks.spaces import FAMILIES, PROGRAMS
from fuseloom.dataflow.method import Dataflow
from fuseloom.exploration.baselines import DrawnSchedules, at_random, by_tpe
from fuseloom.exploration.search import Search
from fuseloom.models import load
from fuseloom.program import Program
from fuseloom.results.method import Budget

MODELS = (("attention", {}), ("spmm", {}), ("spmv", {}), ("autoencoder", {}), ("gcn", {}))
"""Models that make problems, too, on random data."""


def problems(size: int) -> Iterator[tuple[str, Program, Mapping[str, Any]]]:
    """Names, programs and data."""
    for name in PROGRAMS:
        for number, family in enumerate(FAMILIES):
            yield f"{name}, {family}", *problem(name, family, size, number)
    for name, options in MODELS:
        model, data = load(name, "random", **options)
        yield name, model.program, data


def row(
    name: str, program: Program, data: Mapping[str, Any], seeds: int, limit: float
) -> tuple[float, dict[str, float]]:
    """Compare the search with the medians of the others; print one line."""
    method, budget = Dataflow(program, data), Budget()
    best = Search(method, budget, gap=0.02, time_limit=limit).run()
    runs = max(best.certificate.counts["simulated"], 1)
    searches: dict[str, Callable[..., DrawnSchedules]] = {
        "at random": partial(at_random, method, budget)
    }
    if find_spec("optuna"):
        searches["TPE"] = partial(by_tpe, method, budget)
    found = {
        other: statistics.median(search(runs, seed).cycles for seed in range(seeds))
        for other, search in searches.items()
    }
    told = "  ".join(f"{other} {cycles / best.cost.cycles:8.3f}" for other, cycles in found.items())
    print(f"{name:24} {best.cost.cycles:10,.0f} {runs:4} runs  {told}", flush=True)
    return best.cost.cycles, found


def main() -> None:
    """Print a line per problem, and on how many the search is as good or better."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10, help="rows (default: 10)")
    parser.add_argument("--seeds", type=int, default=5, help="of each other search (default: 5)")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a search")
    parser.add_argument("--only", help="problems whose name has that in it")
    options = parser.parse_args()
    rows = [
        row(name, program, data, options.seeds, options.limit)
        for name, program, data in problems(options.size)
        if not options.only or options.only in name
    ]
    for other in rows[0][1] if rows else ():
        good = sum(cycles <= found[other] for cycles, found in rows)
        better = sum(cycles < found[other] for cycles, found in rows)
        print(f"{other}: as good or better on {good} of {len(rows)}, better on {better}")


if __name__ == "__main__":
    main()
