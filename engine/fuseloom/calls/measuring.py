"""Fused and unfused calls measured in turns, and the verdict: to fuse or not to fuse."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.calls.annotated import AnnotatedFunction, FunctionCall
from fuseloom.calls.caches import cache_sizes
from fuseloom.calls.commands import BreakBefore, Parallelize, ScheduleCommand
from fuseloom.calls.fused import CodeLanguage, FusedFunction
from fuseloom.calls.pipelines import PipelineCase
from fuseloom.calls.recomputation import ScheduleCounts
from fuseloom.calls.whole_calls import WholeCalls
from fuseloom.timing import check_rounds, in_turns, rounds_within
from fuseloom.wording import counted

ROUNDS = 7
MOST_TILES = 2_048
"""Tiles of the largest number that is tried: more cost more in calls than they can win."""
FINALISTS = 6
"""Schedules that are measured in turns, of all that were tried once."""
MOST_SUBSETS = 4
"""Places to break of which every choice is tried."""
SHORT_RUNS = 3
"""Runs of which the shortest counts, where schedules are tried and not measured."""
GAIN = 1.05
"""How much faster fused calls must be to be worth it: less is noise."""
TILES = (8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384, 65_536)
"""Sizes of tiles that are tried."""


@dataclass(frozen=True)
class PipelineTimings:
    """Times of a composition, each the median of several rounds in turns, in seconds.

    Attributes
    ----------
    fused : float
    unfused_fresh : float
        Whole calls that allocate their intermediates.
    unfused_preallocated : float
        Whole calls into intermediates that are there.
    """

    fused: float
    unfused_fresh: float
    unfused_preallocated: float

    @property
    def gain(self) -> float:
        """The time of the best unfused calls, over that of fused ones."""
        return min(self.unfused_fresh, self.unfused_preallocated) / self.fused


@dataclass(frozen=True)
class PipelineMeasurement:
    """A composition, measured with a schedule.

    Attributes
    ----------
    schedule : TiledSchedule
    counts : ScheduleCounts
    timings : PipelineTimings
    max_abs_error : float
        Of the fused result, against one that was computed by other means.
    unfused_error : float
        Of the unfused result, against the same.
    pipeline, source : str
        Nodes and generated code.
    overhead : float
        Seconds of the fused calls with functions that do nothing: loops, parts and calls.
    scale : float
        The largest value of the result.
    unfused_bytes : int
        Bytes of arrays that whole calls read and write.
    """

    schedule: TiledSchedule
    counts: ScheduleCounts
    timings: PipelineTimings
    max_abs_error: float
    unfused_error: float
    pipeline: str
    source: str
    overhead: float = 0.0
    scale: float = 1.0
    unfused_bytes: int = 0

    @property
    def max_rel_error(self) -> float:
        """The error of the fused result, relative to its largest value."""
        return self.max_abs_error / self.scale

    @property
    def verdict(self) -> str:
        """``fuse`` or ``do not fuse``."""
        return "fuse" if self.timings.gain >= GAIN else "do not fuse"

    @property
    def reason(self) -> str:
        """The verdict in words."""
        times, most = self.timings, max(self.counts.recomputation.values())
        room = counted(self.counts.room, "byte")
        cache = next((x for x in cache_sizes() if x >= self.counts.room), None)
        fits = (
            "no cache holds them" if cache is None else f"a cache of {cache >> 10:,} KiB holds them"
        )
        each = self.overhead / max(1, self.counts.calls)
        whole = min(times.unfused_fresh, times.unfused_preallocated)
        parts = len(self.schedule.breaks) + 1
        told = "" if parts == 1 else f"in {parts} parts, "
        told += (
            f"fused calls take {times.fused * 1e3:.3g} ms, whole calls {whole * 1e3:.3g} ms; "
            f"intermediates of a tile have {room}: {fits}"
        )
        if most > 1.005:
            told += f"; {most:.2f} times as many elements are computed of one of them"
        return (
            f"{told}; {self.counts.calls:,} calls take {self.overhead * 1e3:.3g} ms before they "
            f"compute anything, {each * 1e6:.3g} µs each"
        )


@dataclass(frozen=True)
class TiledSchedule:
    """A way to run a composition.

    Attributes
    ----------
    tile : int
        The size of tiles of the last stage, and of every stage of several calls.
    breaks : tuple of int
        Calls before which is not fused.
    """

    tile: int
    breaks: tuple[int, ...] = ()

    def __str__(self) -> str:
        told = f"tiles of {self.tile}"
        return f"{told}, breaks before {', '.join(map(str, self.breaks))}" if self.breaks else told


def measure(
    case: PipelineCase,
    variable: str,
    candidates: Sequence[TiledSchedule],
    *,
    commands: Sequence[ScheduleCommand] = (),
    workers: int = 1,
    rounds: int = ROUNDS,
    seconds: float = inf,
    language: CodeLanguage = CodeLanguage.PYTHON,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[PipelineMeasurement, ...]:
    """Measure schedules and whole calls, all in turns.

    Parameters
    ----------
    variable : str
        The size of tiles that is chosen; others are whole extents.
    candidates : sequence of TiledSchedule
    commands : sequence of ScheduleCommand
        Of every candidate, behind its breaks.
    workers : int
        Threads among which tiles are dealt.
    rounds : int
    seconds : float
        After so long no other round begins; there is one.
    language : CodeLanguage
        Of the fused calls.
    progress : callable
        Given the number of each round; what it raises ends the work.

    Returns
    -------
    tuple of PipelineMeasurement
        The fastest first.

    Raises
    ------
    DataError, ScheduleError
        If a size or a break is none.
    ProgramError
        If there is no round, or no time.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> case = PIPELINES["blur"].make({"h": 32, "w": 32})
    >>> (made,) = measure(case, "n", [TiledSchedule(8)], rounds=1)
    >>> made.counts.recomputation["t1"], made.max_abs_error < 1e-5
    (1.1764705882352942, True)
    """
    check_rounds(rounds, seconds)
    whole = WholeCalls(case.composition, case.arguments)
    fused = [_Fused(case, variable, x, workers, commands, language) for x in candidates]
    runs: list[Callable[[], None]] = [lambda: whole(fresh=True), whole, *fused]
    errors = []
    for run in runs:  # once, so that nothing is compiled or loaded while it counts
        case.result.fill(np.nan if case.result.dtype.kind in "fc" else 0)
        run()
        errors.append(_error(case.result, case.expected))
    times: list[list[float]] = [[] for _ in runs]
    timed = [*zip(runs, times, strict=True)]
    for number in rounds_within(rounds, seconds):
        progress(number)
        for run, found in in_turns(timed, number):
            began = time.perf_counter()
            run()
            found.append(time.perf_counter() - began)
    fresh, kept, *each = map(median, times)
    finite = np.abs(case.expected[np.isfinite(case.expected)])
    scale = float(np.max(finite, initial=0)) or 1.0
    moved = whole.moved_bytes
    made = [
        PipelineMeasurement(
            one.schedule, one.function.counts(**one.arguments),
            PipelineTimings(seconds, fresh, kept), error, errors[1],
            str(one.function.scheduled), one.function.source, one.overhead(), scale, moved,
        )
        for one, seconds, error in zip(fused, each, errors[2:], strict=True)
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda one: one.timings.fused))


class _Fused:
    """A composition with a schedule, ready to run."""

    def __init__(
        self,
        case: PipelineCase,
        variable: str,
        schedule: TiledSchedule,
        workers: int,
        commands: Sequence[ScheduleCommand] = (),
        language: CodeLanguage = CodeLanguage.PYTHON,
    ) -> None:
        every: list[ScheduleCommand] = [BreakBefore(place) for place in schedule.breaks]
        every += commands
        if workers > 1 and not any(isinstance(x, Parallelize) for x in commands):
            every.append(Parallelize(0))
        self.schedule = schedule
        self.commands = every
        self.function = FusedFunction(case.composition, every, workers, language)
        sizes: dict[str, int] = {}
        for stage in self.function.scheduled.stages:
            fused = len(stage.resolution.composition.calls) > 1
            for name in stage.resolution.parameters:
                if name == variable or (fused and name.endswith(f"_{variable}")):
                    sizes[name] = schedule.tile
        self.arguments = {**case.arguments, **sizes}

    def __call__(self) -> None:
        self.function(**self.arguments)

    def overhead(self) -> float:
        """Seconds of a run whose functions do nothing."""
        function = self.function
        calls = [_without_work(call) for call in function.composition.calls]
        empty = FusedFunction(calls, self.commands, function.workers, function.language)
        empty(**self.arguments)
        return _shortest(lambda: empty(**self.arguments))


def _shortest(run: Callable[[], None]) -> float:
    """The shortest of a few times."""
    times = []
    for _ in range(SHORT_RUNS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def _nothing(*_: Any) -> None:
    """Do nothing."""


def _without_work(call: FunctionCall) -> FunctionCall:
    """The same call of a function that does nothing."""
    made = call.function
    empty = AnnotatedFunction(_nothing, made.annotation, made.parameters, made.name)
    return FunctionCall(empty, call.arguments)


def tune(
    case: PipelineCase,
    variable: str,
    *,
    workers: int = 1,
    rounds: int = ROUNDS,
    language: CodeLanguage = CodeLanguage.PYTHON,
    seconds: float = inf,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[PipelineMeasurement, ...]:
    """Try sizes of tiles and places to break, and measure the fastest few in turns.

    Of up to four places every choice is tried, of more each alone, none and all; sizes are tried up
    to the first that is the whole extent.

    Parameters
    ----------
    variable, workers, rounds, language
        As :func:`measure` takes them; all schedules are tried in Python.
    seconds : float
        After so long no other schedule is tried, and after so long again no other round of those
        measured begins; there is one of each.
    progress : callable
        Given the share of schedules that were tried; what it raises ends the work.

    Returns
    -------
    tuple of PipelineMeasurement
        The fastest first.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> made = tune(PIPELINES["blur"].make({"h": 20, "w": 20}), "n", rounds=1)
    >>> len(made), {one.schedule.breaks for one in made} <= {(), (1,)}
    (6, True)
    """
    check_rounds(rounds, seconds)
    candidates = every_schedule(case)
    tried: list[tuple[float, TiledSchedule]] = []
    end = time.perf_counter() + seconds
    for number, candidate in enumerate(candidates):
        progress(number / len(candidates))
        run = _Fused(case, variable, candidate, workers)
        run()
        tried.append((_shortest(run), candidate))
        if time.perf_counter() > end:
            break
    best = [candidate for _, candidate in sorted(tried, key=lambda one: one[0])[:FINALISTS]]
    return measure(
        case, variable, best, workers=workers, rounds=rounds, seconds=seconds, language=language
    )


def every_schedule(case: PipelineCase) -> tuple[TiledSchedule, ...]:
    """The schedules that :func:`tune` tries: at most 2,048 tiles each.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> len(every_schedule(PIPELINES["blur"].make({"h": 20, "w": 20})))
    6
    """
    sizes = every_tile(case)
    places = range(1, len(case.composition.calls))
    breaks: list[tuple[int, ...]] = [(), *((place,) for place in places)]
    if len(places) <= MOST_SUBSETS:
        breaks = [x for n in range(len(places) + 1) for x in combinations(places, n)]
    elif len(places) > 1:
        breaks.append(tuple(places))
    return tuple(TiledSchedule(tile, choice) for choice in breaks for tile in sizes)


def every_tile(case: PipelineCase) -> tuple[int, ...]:
    """Sizes of tiles that are tried: of at most 2,048 tiles, the last of one.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> every_tile(PIPELINES["blur"].make({"h": 40, "w": 20}))
    (8, 16, 32, 64)
    """
    extent = case.result.shape[1] if case.result.ndim == 4 else case.result.shape[0]
    sizes = [tile for tile in TILES if tile < extent <= MOST_TILES * tile]
    sizes += [tile for tile in TILES if tile >= extent][:1] or [extent]
    return tuple(sizes)


def _error(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """The largest difference; infinite where only one is infinite or no number."""
    same = found == expected
    if found.dtype.kind == "b":
        return float(np.max(~same, initial=0))
    same |= np.isnan(found) & np.isnan(expected)
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(found - expected))
    return float(np.max(np.where(np.isnan(difference), np.inf, difference), initial=0))
