"""Fused and unfused calls measured in turns, and the verdict: to fuse or not to fuse."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
from fuseloom.calls.schedule import Parallelize, ScheduleCommand
from fuseloom.wording import counted

ROUNDS = 7
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
        """How many times as fast fused calls are as the best unfused ones."""
        return min(self.unfused_fresh, self.unfused_preallocated) / self.fused


@dataclass(frozen=True)
class PipelineMeasurement:
    """A composition, measured with tiles of a size.

    Attributes
    ----------
    tile : int
    counts : ScheduleCounts
    timings : PipelineTimings
    max_abs_error : float
        Of the fused result, against one that was computed by other means.
    unfused_error : float
        Of the unfused result, against the same.
    pipeline, source : str
        Nodes and generated code.
    """

    tile: int
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
        told = (
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


def measure(
    case: PipelineCase,
    variable: str,
    tile: int,
    *,
    workers: int = 1,
    rounds: int = ROUNDS,
    progress: Callable[[int], None] = lambda _: None,
) -> PipelineMeasurement:
    """Measure fused and unfused calls in turns.

    Parameters
    ----------
    variable : str
        The size of tiles that is chosen; others are whole extents.
    tile : int
    workers : int
        Threads among which tiles are dealt.
    rounds : int
    progress : callable
        Given the number of each round; what it raises ends the work.

    Raises
    ------
    DataError
        If the size is none.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> made = measure(PIPELINES["blur"].make({"h": 32, "w": 32}), "n", 8, rounds=1)
    >>> made.counts.recomputation["t1"], made.max_abs_error < 1e-5
    (1.1764705882352942, True)
    """
    composition, arguments = case.composition, case.arguments
    commands: list[ScheduleCommand] = [Parallelize(0)] if workers > 1 else []
    fused = FusedFunction(composition, commands, workers)
    sizes = {**arguments, variable: tile}
    whole = WholeCalls(composition, arguments)
    runs: dict[str, Callable[[], None]] = {
        "fused": lambda: fused(**sizes),
        "unfused_fresh": lambda: whole(fresh=True),
        "unfused_preallocated": whole,
    }
    errors = {}
    for name, run in runs.items():  # once, so that nothing is compiled or loaded while it counts
        case.result.fill(np.nan)
        run()
        errors[name] = _error(case.result, case.expected)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds):
        progress(number)
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - began)
    return PipelineMeasurement(
        tile, fused.counts(**sizes), PipelineTimings(**{k: median(v) for k, v in times.items()}),
        errors["fused"], errors["unfused_preallocated"], str(fused.scheduled), fused.source,
    )  # fmt: skip


def tune(
    case: PipelineCase,
    variable: str,
    *,
    workers: int = 1,
    rounds: int = ROUNDS,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[PipelineMeasurement, ...]:
    """Measure tiles of several sizes, up to the first that is the whole extent.

    Parameters
    ----------
    variable, workers, rounds
        As :func:`measure` takes them.
    progress : callable
        Given each size before it is measured; what it raises ends the work.

    Returns
    -------
    tuple of PipelineMeasurement
        The fastest first.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> made = tune(PIPELINES["blur"].make({"h": 20, "w": 20}), "n", rounds=1)
    >>> sorted(one.tile for one in made)
    [8, 16, 32]
    """
    found = []
    extent = case.result.shape[1] if case.result.ndim == 4 else case.result.shape[0]
    for tile in TILES:
        progress(tile)
        found.append(measure(case, variable, tile, workers=workers, rounds=rounds))
        if tile >= extent:
            break
    return tuple(sorted(found, key=lambda one: one.timings.fused))


def _error(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    return float(np.max(np.abs(found - expected))) if found.size else 0.0
