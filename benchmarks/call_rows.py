"""Rows of the table of experiments with calls: compositions, measured in turns with other ways."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.call_compositions import PackagedCase
from fuseloom.calls.caches import cache_sizes
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.measuring import (
    GAIN,
    MOST_TILES,
    TILES,
    TiledSchedule,
    measure,
    tune,
)
from fuseloom.calls.pipelines import PipelineCase
from fuseloom.calls.whole_calls import WholeCalls

TOLERANCE = 1e-4
"""The largest error of a fused result, relative to the largest value."""


@dataclass(frozen=True)
class ExperimentSettings:
    """Options of the command.

    Attributes
    ----------
    rounds : int
    scale : float
    """

    rounds: int
    scale: float

    def extents(self, given: Mapping[str, int]) -> dict[str, int]:
        """Extents of which the first is scaled."""
        first = next(iter(given))
        return {**given, first: self.of(given[first])}

    def of(self, extent: int) -> int:
        """One extent, scaled."""
        return max(8, round(extent * self.scale))


@dataclass(frozen=True)
class ExperimentRow:
    """A line of the table.

    Attributes
    ----------
    number, what, extents, paper, verdict : str
    fused, fresh, kept, library : float or None
        Seconds of fused calls, of whole calls that allocate, of whole calls into room that is
        there, and of the library's own composed calls.
    """

    number: str
    what: str
    extents: str
    paper: str
    verdict: str
    fused: float
    fresh: float | None = None
    kept: float | None = None
    library: float | None = None


def words(extents: Mapping[str, int]) -> str:
    """Extents in words."""
    return ", ".join(f"{name} = {value:,}" for name, value in extents.items())


def judged(fused: float, *whole: float | None) -> str:
    """The verdict, which is about the fastest of the other ways."""
    best = min(seconds for seconds in whole if seconds is not None)
    return "fuse" if best / fused >= GAIN else "do not fuse"


def checked(name: str, found: Any, expected: Any) -> None:
    """Refuse a wrong result."""
    error = np.abs(np.subtract(found, expected, dtype=np.float64)).max()
    if not error <= TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise AssertionError(f"{name}: an error of {error:.1e}")


def timed(work: Callable[[], Any]) -> float:
    """Wall time of a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tuned(
    number: str,
    what: str,
    case: PipelineCase,
    settings: ExperimentSettings,
    extents: Mapping[str, int],
    paper: str,
    library: Callable[[], Any] | None = None,
) -> ExperimentRow:
    """The row of a composition with its fastest schedule."""
    chosen = tune(case, "n", rounds=settings.rounds)[0].schedule
    composed: list[float] = []
    if library is not None:
        library()

    def in_turn(_: int) -> None:
        if library is not None:
            composed.append(timed(library))

    (made,) = measure(case, "n", [chosen], rounds=settings.rounds, progress=in_turn)
    checked(what, case.result, case.expected)
    times, other = made.timings, median(composed) if composed else None
    parts = f", {len(chosen.breaks) + 1} parts" if chosen.breaks else ""
    verdict = judged(times.fused, times.unfused_fresh, times.unfused_preallocated, other)
    return ExperimentRow(
        number, what, words(extents), paper, f"{verdict}; tiles of {chosen.tile:,}{parts}",
        times.fused, times.unfused_fresh, times.unfused_preallocated, other,
    )  # fmt: skip


def sizes_of_tiles(rows: int) -> list[int]:
    """Sizes that are tried of a result; the last is all of it."""
    return [*(tile for tile in TILES if tile < rows <= MOST_TILES * tile), rows]


def stored(
    number: str, what: str, made: PackagedCase, settings: ExperimentSettings, paper: str
) -> ExperimentRow:
    """The row of a composition on data structures that are read by parts."""
    composition, rows = made.case.composition, len(made.case.result)
    fused, whole = FusedFunction(composition), WholeCalls(composition, made.arguments)
    tile = min(
        sizes_of_tiles(rows), key=lambda size: timed(lambda: fused(**made.arguments, n=size))
    )
    runs = {
        "fused": lambda: fused(**made.arguments, n=tile),
        "fresh": lambda: whole(fresh=True),
        "kept": whole,
        **({"library": made.library} if made.library is not None else {}),
    }
    for name in ("fused", "fresh", "kept"):
        made.case.result.fill(0)
        runs[name]()
        checked(f"{what}, {name}", made.case.result, made.case.expected)
    rounds = [{name: timed(run) for name, run in runs.items()} for _ in range(settings.rounds)]
    times = {name: median(one[name] for one in rounds) for name in runs}
    verdict = judged(times["fused"], *(times[name] for name in runs if name != "fused"))
    extents = " × ".join(f"{extent:,}" for extent in made.case.result.shape)
    return ExperimentRow(number, what, extents, paper, f"{verdict}; tiles of {tile:,}", **times)


def swept(
    number: str,
    what: str,
    case: PipelineCase,
    settings: ExperimentSettings,
    extents: Mapping[str, int],
    paper: str,
) -> list[ExperimentRow]:
    """A row for each size of tiles."""
    rows, caches = len(case.result), cache_sizes()
    sizes = sizes_of_tiles(rows)
    made = measure(case, "n", [TiledSchedule(tile) for tile in sizes], rounds=settings.rounds)
    checked(what, case.result, case.expected)
    found = []
    for rank, one in enumerate(made):
        times, room = one.timings, one.counts.room
        level = next((n for n, size in enumerate(caches, 1) if room <= size), None)
        cache = "no cache holds it" if level is None else f"L{level} holds it"
        told = f"{'the fastest; ' if rank == 0 else ''}room of {room:,} bytes, {cache}"
        found.append((one.schedule.tile, ExperimentRow(
            number, f"{what}, tiles of {one.schedule.tile:,}", words(extents), paper, told,
            times.fused, times.unfused_fresh, times.unfused_preallocated,
        )))  # fmt: skip
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]
