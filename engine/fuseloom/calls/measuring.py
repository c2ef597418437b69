"""Fused and unfused calls measured in turns, and the verdict: to fuse or not to fuse."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.calls.annotated import DataHandle, IntegerArgument
from fuseloom.calls.composition import Composition
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.pipelines import PipelineCase
from fuseloom.calls.polynomials import DataField, Symbol
from fuseloom.calls.recomputation import ScheduleCounts
from fuseloom.calls.resolution import whole_parts
from fuseloom.calls.schedule import BreakBefore, Parallelize, ScheduleCommand
from fuseloom.wording import counted

ROUNDS = 7
MOST_TILES = 2_048
"""Tiles of the largest number that is tried: more cost more in calls than they can win."""
FINALISTS = 4
"""Schedules that are measured in turns, of all that were tried once."""
MOST_SUBSETS = 4
"""Places to break of which every choice is tried."""
GAIN = 1.02
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
    """

    schedule: TiledSchedule
    counts: ScheduleCounts
    timings: PipelineTimings
    max_abs_error: float
    unfused_error: float
    pipeline: str
    source: str

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
        each = times.fused / max(1, self.counts.calls)
        whole = min(times.unfused_fresh, times.unfused_preallocated)
        parts = len(self.schedule.breaks) + 1
        told = "" if parts == 1 else f"in {parts} parts, "
        told += (
            f"fused calls take {times.fused * 1e3:.3g} ms, whole calls {whole * 1e3:.3g} ms; "
            f"intermediates of a tile have {room}: {fits}"
        )
        if most > 1.005:
            told += f"; {most:.2f} times as many elements are computed of one of them"
        return f"{told}; {self.counts.calls:,} calls, {each * 1e6:.3g} µs each"


@lru_cache(maxsize=1)
def cache_sizes() -> tuple[int, ...]:
    """Bytes of the data caches of this machine, the smallest first; none where it does not say.

    Examples
    --------
    >>> list(cache_sizes()) == sorted(cache_sizes())
    True
    """
    found = set()
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            kind = (folder / "type").read_text(encoding="ascii").strip()
            text = (folder / "size").read_text(encoding="ascii").strip()
        except OSError:
            continue
        if kind != "Instruction" and text[:-1].isdecimal() and text[-1] in "KM":
            found.add(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
    return tuple(sorted(found))


class WholeCalls:
    """A composition as calls on whole arrays, one after another.

    Parameters
    ----------
    composition : Composition
    given : mapping
        Arrays by name, the result's room among them; and integer arguments.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> case = PIPELINES["add6"].make({"n": 10})
    >>> WholeCalls(case.composition, case.arguments)()
    >>> bool(np.allclose(case.result, case.expected))
    True
    """

    def __init__(self, composition: Composition, given: Mapping[str, Any]) -> None:
        self.composition = composition
        self.given = given
        values: dict[Symbol | DataField, int] = {
            Symbol(name): given[name] for name in composition.integers
        }
        for handle in (*composition.given, composition.result):
            for field, extent in handle.kind.whole(given[handle.name]).items():
                values[DataField(handle.name, field)] = extent
        self.fields = {
            handle: {name: value.evaluate(values) for name, value in part.items()}
            for handle, part in whole_parts(composition).items()
        }
        self.rooms = self._rooms()

    def _rooms(self) -> dict[DataHandle, Any]:
        return {
            handle: handle.kind.allocate(fields)
            for handle, fields in self.fields.items()
            if handle != self.composition.result
        }

    def __call__(self, *, fresh: bool = False) -> None:
        """Compute the result.

        Parameters
        ----------
        fresh : bool
            Allocate the intermediates anew.
        """
        rooms = self._rooms() if fresh else self.rooms
        for call in self.composition.calls:
            arguments = []
            for value in call.arguments.values():
                if isinstance(value, DataHandle):
                    arguments.append(rooms[value] if value in rooms else self.given[value.name])
                elif isinstance(value, IntegerArgument):
                    arguments.append(self.given[value.name])
                else:
                    arguments.append(value)
            call.function.function(*arguments)


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


def measure(
    case: PipelineCase,
    variable: str,
    candidates: Sequence[TiledSchedule],
    *,
    commands: Sequence[ScheduleCommand] = (),
    workers: int = 1,
    rounds: int = ROUNDS,
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

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> case = PIPELINES["blur"].make({"h": 32, "w": 32})
    >>> (made,) = measure(case, "n", [TiledSchedule(8)], rounds=1)
    >>> made.counts.recomputation["t1"], made.max_abs_error < 1e-5
    (1.1764705882352942, True)
    """
    whole = WholeCalls(case.composition, case.arguments)
    fused = [_Fused(case, variable, x, workers, commands) for x in candidates]
    runs: list[Callable[[], None]] = [lambda: whole(fresh=True), whole, *fused]
    errors = []
    for run in runs:  # once, so that nothing is compiled or loaded while it counts
        case.result.fill(np.nan)
        run()
        errors.append(_error(case.result, case.expected))
    times: list[list[float]] = [[] for _ in runs]
    for number in range(rounds):
        progress(number)
        for run, found in zip(runs, times, strict=True):
            began = time.perf_counter()
            run()
            found.append(time.perf_counter() - began)
    fresh, kept, *each = map(median, times)
    made = [
        PipelineMeasurement(
            one.schedule, one.function.counts(**one.arguments),
            PipelineTimings(seconds, fresh, kept), error, errors[1],
            str(one.function.scheduled), one.function.source,
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
    ) -> None:
        every: list[ScheduleCommand] = [BreakBefore(place) for place in schedule.breaks]
        every += commands
        if workers > 1 and not any(isinstance(x, Parallelize) for x in commands):
            every.append(Parallelize(0))
        self.schedule = schedule
        self.function = FusedFunction(case.composition, every, workers)
        sizes: dict[str, int] = {}
        for stage in self.function.scheduled.stages:
            fused = len(stage.resolution.composition.calls) > 1
            for name in stage.resolution.parameters:
                if name == variable or (fused and name.endswith(f"_{variable}")):
                    sizes[name] = schedule.tile
        self.arguments = {**case.arguments, **sizes}

    def __call__(self) -> None:
        self.function(**self.arguments)


def tune(
    case: PipelineCase,
    variable: str,
    *,
    workers: int = 1,
    rounds: int = ROUNDS,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[PipelineMeasurement, ...]:
    """Try sizes of tiles and places to break, and measure the fastest few in turns.

    Of up to four places every choice is tried, of more each alone, none and all; sizes are tried up
    to the first that is the whole extent.

    Parameters
    ----------
    variable, workers, rounds
        As :func:`measure` takes them.
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
    (4, True)
    """
    candidates = every_schedule(case)
    tried: list[tuple[float, TiledSchedule]] = []
    for number, candidate in enumerate(candidates):
        progress(number / len(candidates))
        run = _Fused(case, variable, candidate, workers)
        run()
        began = time.perf_counter()
        run()
        tried.append((time.perf_counter() - began, candidate))
    best = [candidate for _, candidate in sorted(tried, key=lambda one: one[0])[:FINALISTS]]
    return measure(case, variable, best, workers=workers, rounds=rounds)


def every_schedule(case: PipelineCase) -> tuple[TiledSchedule, ...]:
    """The schedules that :func:`tune` tries: at most 2,048 tiles each.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> len(every_schedule(PIPELINES["blur"].make({"h": 20, "w": 20})))
    6
    """
    extent = case.result.shape[1] if case.result.ndim == 4 else case.result.shape[0]
    sizes = [tile for tile in TILES if tile < extent <= MOST_TILES * tile]
    sizes += [tile for tile in TILES if tile >= extent][:1] or [extent]
    places = range(1, len(case.composition.calls))
    breaks: list[tuple[int, ...]] = [(), *((place,) for place in places)]
    if len(places) <= MOST_SUBSETS:
        breaks = [x for n in range(len(places) + 1) for x in combinations(places, n)]
    elif len(places) > 1:
        breaks.append(tuple(places))
    return tuple(TiledSchedule(tile, choice) for choice in breaks for tile in sizes)


def _error(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    return float(np.max(np.abs(found - expected))) if found.size else 0.0
