"""Schedules that tuning chooses, measured beside every schedule that fits.

``python -m benchmarks.stitch_tuning [--rounds 9] [--kernels 2] [--only TEXT] [--json]``

Of each example the kernels with the most operations that have at least three schedules are tuned
with an empty performance library, by the sums of times of their operations alone, as in the paper,
and with the best four timed whole.  Then the kernel is run under all its schedules, in turns, in
one thread, and the medians of rounds are divided by that of the best: 1 is the best.  ``warm`` is
the time of tuning again, when all times are known.  Below the table is the share of lookups for
``birnn`` that are known once ``rnn`` has been tuned.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuseloom.errors import LimitError
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import FusedModule, fuse_module
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.operation_timing import PerformanceLookup, time_operations
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.stitched import StitchedKernel
from fuseloom.stitch.tuning import KernelTuner, tune

FINALISTS = 4
LEAST_SCHEDULES = 3
NEAR = 1.15
"""The target: the choice over the best."""


def most_operations(made: FusedModule, count: int) -> list[StitchedKernel]:
    """The kernels with the most operations that have a choice of schedules."""
    kernels = [
        kernel
        for kernel in made.frames[0].fusion.kernels
        if kernel.schedule is not None and len(kernel.satisfiable) >= LEAST_SCHEDULES
    ]
    return sorted(kernels, key=lambda kernel: -len(kernel.operations))[:count]


def compared(name: str, count: int, rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each kernel of an example."""
    made = fuse_module(read_example(name))
    fusion = made.frames[0].fusion
    for kernel in most_operations(made, count):
        with tempfile.TemporaryDirectory() as folder:
            library = PerformanceLibrary(Path(folder, "times.sqlite"))
            by_sums = tune(made.module, fusion, kernel, library).kernel
            chosen = tune(made.module, fusion, kernel, library, finalists=FINALISTS).kernel
            start = time.perf_counter()
            tune(made.module, fusion, kernel, library, finalists=FINALISTS)
            warm = time.perf_counter() - start
            every = [kernel, by_sums, chosen]
            every += [with_schedule(fusion.computation, kernel, one) for one in kernel.satisfiable]
            lookups = list(_lookups(made, library, every))
        medians = _medians(lookups, rounds)
        first, sums, tuned, *_ = medians
        best = min(medians)
        yield {
            "example": name, "kernel": kernel.name, "operations": len(kernel.operations),
            "schedules": len(lookups) - 3, "chosen": tuned / best, "sums": sums / best,
            "fusion": first / best, "best_ns": best, "warm_ms": 1e3 * warm,
        }  # fmt: skip


def _lookups(
    made: FusedModule, library: PerformanceLibrary, kernels: Sequence[StitchedKernel]
) -> Iterator[PerformanceLookup]:
    """Lookups of whole kernels, without those whose buffers do not fit."""
    computation = made.frames[0].fusion.computation
    for kernel in kernels:
        try:
            plan = memory_of(computation, kernel)
        except LimitError:
            continue
        yield library.kernel_lookup(made.module, computation, kernel, plan)


def _medians(lookups: Sequence[PerformanceLookup], rounds: int) -> list[float]:
    """Nanoseconds of each, measured in turns."""
    found = [[one.nanoseconds for one in time_operations(lookups)] for _ in range(rounds)]
    return [statistics.median(of_one) for of_one in zip(*found, strict=True)]


def known_after(first: str, second: str) -> float:
    """The share of an example's lookups that are known once another has been tuned."""
    with tempfile.TemporaryDirectory() as folder:
        library = PerformanceLibrary(Path(folder, "times.sqlite"))
        for name in (first, second):
            made = fuse_module(read_example(name))
            fusion = made.frames[0].fusion
            library.hits = library.misses = 0
            KernelTuner(made.module, fusion, library).tune(*fusion.kernels)
        return library.hits / (library.hits + library.misses)


def shown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table."""
    columns = [TextColumn("example", align=Align.LEFT), TextColumn("kernel", align=Align.LEFT)]
    titles = ("operations", "schedules", "chosen", "by sums", "by fusion", "best, µs", "warm, ms")
    columns += map(TextColumn, titles)
    cells = [
        (
            one["example"], one["kernel"][:30], str(one["operations"]), str(one["schedules"]),
            f"{one['chosen']:.2f}", f"{one['sums']:.2f}", f"{one['fusion']:.2f}",
            f"{one['best_ns'] / 1e3:.1f}", f"{one['warm_ms']:.1f}",
        )
        for one in rows
    ]  # fmt: skip
    return "\n".join(text_table(columns, cells))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--kernels", type=int, default=2, help="of each example")
    parser.add_argument("--only", default="", metavar="TEXT", help="part of a name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        row
        for name in EXAMPLES
        if options.only in name
        for row in compared(name, options.kernels, options.rounds)
    ]
    known = known_after("rnn", "birnn")
    if options.json:
        print(json.dumps({"rows": rows, "known": known}))
        return
    print(shown(rows))
    near = sum(row["chosen"] <= NEAR for row in rows)
    print(f"{near} of {len(rows)} within {NEAR:.2f} of the best")
    print(f"{known:.0%} of the lookups for birnn are known after rnn")


if __name__ == "__main__":
    main()
