"""The experiments of the Fern paper, and how long compositions take to compile.

``python -m benchmarks.call_experiments [--rounds 9] [--scale 1] [--only TEXT] [--exhaustive]
[--json]``

One table of all 13 experiments and of the paper's Table 3 (T3), each beside the paper's number.
The fastest schedule is searched for; then fused calls, whole calls that allocate their
intermediates, whole calls into room that is there, and, where a library can do the same by its own
composed calls (a convolution with its bias, ReLU in place; a query of Shapely's tree with its
predicate), these, all run in turns on one thread; medians of wall time.  Ratios are to fused calls;
below 1 fusing does not pay.  Experiments 12 and 13 measure sizes of tiles.  Of T3, the time from
calls to a function is measured for chains of 2 to 64 calls, with the line that fits them best.
``--exhaustive`` measures every schedule of the compositions that come with the program instead,
then the one that the search chose beside the best in turns, and tells the ratio; the target is
1.05.  ``--scale`` multiplies the rows, or elements.  ``OPENBLAS_NUM_THREADS=1`` has NumPy use one
core, too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from benchmarks.call_compositions import (
    array_of_tiledb,
    geometries_in_a_window,
    table_of_sqlite,
    torch_layers,
)
from benchmarks.call_rows import ExperimentRow, ExperimentSettings, stored, swept, timed, tuned
from fuseloom.calls.annotated import DataHandle, FunctionCall
from fuseloom.calls.data_kinds import Vector
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.measuring import every_schedule, measure, tune
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.cli.command import positive
from fuseloom.results.text_table import Align, TextColumn, text_table

TARGET = 1.05
"""The most that the schedule of the search may take, over the best."""
AGAIN = 4
"""Rounds of the two that are compared, for each round of all."""
CHAINS = (2, 4, 8, 17, 32, 64)
"""Calls of the chains that are compiled; the longest composition of the paper has 17."""
LAYERS = (
    {"h": 1024, "w": 1024, "c": 3, "o": 16},
    {"h": 512, "w": 512, "c": 16, "o": 32},
    {"h": 256, "w": 256, "c": 32, "o": 32},
)
"""Convolutions: of the first two the intermediate exceeds the caches, of the last it does not."""


def shipped(number: str, name: str, paper: str) -> Callable[[ExperimentSettings], Any]:
    """An experiment whose composition comes with the program."""

    def run(settings: ExperimentSettings) -> list[ExperimentRow]:
        pipeline = PIPELINES[name]
        extents = settings.extents(pipeline.extents)
        case = pipeline.make(extents)
        return [tuned(number, pipeline.text, case, settings, extents, paper)]

    return run


def by_torch(
    number: str, last: str, what: str, paper: str
) -> Callable[[ExperimentSettings], list[ExperimentRow]]:
    """An experiment on layers of PyTorch."""

    def run(settings: ExperimentSettings) -> list[ExperimentRow]:
        import torch

        torch.set_num_threads(1)
        rows = []
        for given in LAYERS:
            extents = settings.extents(given)
            made = torch_layers(extents, last)
            rows.append(tuned(number, what, made.case, settings, extents, paper, made.library))
        return rows

    return run


def geometries(settings: ExperimentSettings) -> list[ExperimentRow]:
    """Experiment 9."""
    made = geometries_in_a_window(settings.of(200_000))
    return [stored("9", "leaves of a tree, then a predicate", made, settings, "up to 1.15 ×")]


def databases(settings: ExperimentSettings) -> list[ExperimentRow]:
    """Experiment 10."""
    cases = {
        "read by TileDB, sigmoid": array_of_tiledb(settings.of(4096), 1024),
        "read by SQLite, sigmoid": table_of_sqlite(settings.of(50_000)),
    }
    return [stored("10", what, made, settings, "1.11 ×") for what, made in cases.items()]


def granularity(settings: ExperimentSettings) -> list[ExperimentRow]:
    """Experiment 12, and the linear layer of the paper's introduction."""
    extents = settings.extents(PIPELINES["add6"].extents)
    case = PIPELINES["add6"].make(extents)
    del case.calls[2:]
    case.expected = case.given["a1"] + case.given["a2"] + case.given["a3"]
    rows = swept("12", "sum of three vectors", case, settings, extents, "time follows L1 and L2")
    extents = settings.extents({"m": 1024, "k": 1024, "n": 1024})
    layer = PIPELINES["gemm-bias-relu"].make(extents)
    paper = "63 % faster (64 × 64)"
    return [*rows, *swept("12", "linear layer", layer, settings, extents, paper)]


def tiles_of_sgerb(settings: ExperimentSettings) -> list[ExperimentRow]:
    """Experiment 13."""
    pipeline = PIPELINES["sgerb"]
    extents = settings.extents(pipeline.extents)
    case = pipeline.make(extents)
    return swept("13", pipeline.text, case, settings, extents, "a curve")


def compile_times(settings: ExperimentSettings) -> list[ExperimentRow]:
    """Table 3: from calls to a function, which is linear in the number of calls."""
    chains = {length: _chain(length) for length in CHAINS}
    for calls in chains.values():
        FusedFunction(calls).code.compile()
    rounds = [
        {length: timed(lambda: FusedFunction(calls).code.compile())  # noqa: B023
         for length, calls in chains.items()}
        for _ in range(settings.rounds)
    ]  # fmt: skip
    times = {length: median(one[length] for one in rounds) for length in CHAINS}
    seconds = np.array(list(times.values()))
    line = Polynomial.fit(CHAINS, seconds, 1)
    left = float(((seconds - line(np.array(CHAINS))) ** 2).sum())
    fit = 1 - left / float(((seconds - seconds.mean()) ** 2).sum())
    slope = line.convert().coef[1]
    told = f"{slope * 1e3:.2f} ms for each call, R² {fit:.3f} over {CHAINS[0]} to {CHAINS[-1]}"
    return [ExperimentRow("T3", "compile a chain", "17 calls", "6.91 ms, linear", told, times[17])]


def _chain(length: int) -> list[FunctionCall]:
    """Calls of which each reads the output of the one before."""
    handles = [DataHandle(f"v{number}", Vector()) for number in range(length + 1)]
    square = LIBRARY["square"].annotated
    return [square(one, other) for one, other in pairwise(handles)]


@dataclass(frozen=True)
class CallExperiment:
    """An experiment of the paper.

    Attributes
    ----------
    number, name : str
    run : callable
        Gives its rows.
    """

    number: str
    name: str
    run: Callable[[ExperimentSettings], Sequence[ExperimentRow]]


_LAYER = "convolution, bias, ReLU"
EXPERIMENTS = (
    CallExperiment("1", "convolution", by_torch(
        "1", "relu", _LAYER, "1.44 × over unfused, 1 % slower than oneDNN")),
    CallExperiment("2", "Haversine", shipped(
        "2", "haversine", "1.09 × over unfused, within 8 % of ISPC")),
    CallExperiment("3", "sgerb", shipped("3", "sgerb", "1.24 × over composed Accelerate")),
    CallExperiment("4", "blur", shipped("4", "blur", "2.53 × over unfused, 0.88 × Halide")),
    CallExperiment("5", "unsharp mask", shipped(
        "5", "unsharp", "1.94 × over unfused, 0.91 × Halide")),
    CallExperiment("6", "convolution and pooling", by_torch(
        "6", "pool", f"{_LAYER}, max pooling", "34.8 % faster, 12.6 % than oneDNN")),
    CallExperiment("7", "convolution, pooling, tanh", by_torch(
        "7", "tanh", f"{_LAYER}, max pooling, tanh", "42.8 % faster, 10.9 % than oneDNN")),
    CallExperiment("8", "sgerb with sums", shipped(
        "8", "sgerb-sums", "1.45 × over ArmPL, 1.65 × over Accelerate")),
    CallExperiment("9", "tree of geometries", geometries),
    CallExperiment("10", "databases", databases),
    CallExperiment("11", "sum of six vectors", shipped(
        "11", "add6", "1.27 × over unfused, 2.6 × slower than ISPC")),
    CallExperiment("12", "granularity", granularity),
    CallExperiment("13", "tiles of sgerb", tiles_of_sgerb),
    CallExperiment("T3", "compilation", compile_times),
)  # fmt: skip


def chosen_and_best(name: str, settings: ExperimentSettings) -> dict[str, Any]:
    """The schedule of the search beside the best of all that it tries.

    All are measured in turns, and then those two once more: the smallest of many medians is small
    by chance, too.
    """
    pipeline = PIPELINES[name]
    case = pipeline.make(settings.extents(pipeline.extents))
    chosen = tune(case, pipeline.tile, rounds=settings.rounds)[0].schedule
    every = measure(case, pipeline.tile, every_schedule(case), rounds=settings.rounds)
    two = dict.fromkeys((chosen, every[0].schedule))
    again = measure(case, pipeline.tile, [*two], rounds=AGAIN * settings.rounds)
    times = {one.schedule: one.timings.fused for one in again}
    best, seconds = every[0].schedule, times[chosen]
    return {
        "name": name,
        "schedules": len(every),
        "chosen": asdict(chosen),
        "best": asdict(best),
        "chosen_seconds": seconds,
        "best_seconds": times[best],
        "ratio": seconds / times[best],
        "target": TARGET,
    }


def shown(rows: Sequence[ExperimentRow]) -> str:
    """Rows as a table for people."""
    titles = ("fused, ms", "fresh / fused", "kept / fused", "library / fused")
    left = [TextColumn(title, align=Align.LEFT) for title in ("no.", "what", "extents")]
    right = [TextColumn(title, align=Align.LEFT) for title in ("paper", "verdict")]
    cells = [
        (
            row.number, row.what, row.extents, f"{row.fused * 1e3:.2f}",
            *(
                "" if seconds is None else f"{seconds / row.fused:.2f}"
                for seconds in (row.fresh, row.kept, row.library)
            ),
            row.paper, row.verdict,
        )
        for row in rows
    ]  # fmt: skip
    return "\n".join(text_table([*left, *map(TextColumn, titles), *right], cells))


def shown_choices(rows: Sequence[Mapping[str, Any]]) -> str:
    """Choices of the search as a table for people."""
    titles = ("schedules", "chosen", "breaks", "best", "breaks", "chosen / best", "within 1.05")
    columns = [TextColumn("composition", align=Align.LEFT), *map(TextColumn, titles)]
    cells = [
        (
            row["name"], f"{row['schedules']:,}",
            *(
                text for one in (row["chosen"], row["best"])
                for text in (f"{one['tile']:,}", ", ".join(map(str, one["breaks"])) or "none")
            ),
            f"{row['ratio']:.3f}", "yes" if row["ratio"] <= TARGET else "NO",
        )
        for row in rows
    ]  # fmt: skip
    return "\n".join(text_table(columns, cells))


def _scale(text: str) -> float:
    value = float(text)
    if not 0 < value < 100:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 100")
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=positive, default=9)
    parser.add_argument("--scale", type=_scale, default=1.0)
    parser.add_argument("--only", default="", metavar="TEXT", help="a number, or part of a name")
    parser.add_argument("--exhaustive", action="store_true", help="measure every schedule")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    settings = ExperimentSettings(options.rounds, options.scale)
    if options.exhaustive:
        choices = [chosen_and_best(name, settings) for name in PIPELINES if options.only in name]
        print(json.dumps(choices) if options.json else shown_choices(choices))
        return
    rows = [
        row
        for one in EXPERIMENTS
        if options.only in (one.number, "") or options.only in one.name
        for row in one.run(settings)
    ]
    print(json.dumps(list(map(asdict, rows))) if options.json else shown(rows))


if __name__ == "__main__":
    main()
