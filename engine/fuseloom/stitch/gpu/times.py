"""Times of CUDA kernels that GPU jobs measured: read, kept, and used to choose schedules."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from fuseloom.codegen.shared_objects import key_of
from fuseloom.errors import DataError, FuseloomError, StoreError
from fuseloom.program import regular_files
from fuseloom.stitch.consistency import ScheduleConsistency
from fuseloom.stitch.frames import FusedModule
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.gpu.job import BACKEND, VERSION, cuda_key
from fuseloom.stitch.kernel_code import KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.operation_timing import PerformanceKey, PerformanceTime
from fuseloom.stitch.performance_keys import PerformanceKeys
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import StitchedKernel

KIND = "fuseloom gpu times"
MOST_BYTES = 50_000_000
"""Of a file of times."""
MOST_KERNELS = 100_000
LONGEST = 200
"""Characters of a name."""
_MOST_NUMBER = 2**31


@dataclass(frozen=True)
class ModelRun:
    """A whole model on a card.

    Attributes
    ----------
    way : str
        ``stitched``, by PyTorch as it is (``eager``), or compiled by it (``compiled``).
    nanoseconds : float
    launches : int or None
        Kernels that ran on the card; None if they were not counted.
    error : float
        The largest difference from the meaning of the model, by its largest value.
    """

    way: str
    nanoseconds: float
    launches: int | None
    error: float


@dataclass(frozen=True)
class GpuTimes:
    """The result of a job.

    Attributes
    ----------
    job : str
        The name of the module.
    card : str
    capability : int
        Ten times the compute capability; 0 of the processor.
    compiler : str
    on_cpu : bool
        True if no card ran it, and its times say nothing.
    times : mapping
        Per key of a kernel that was right its time; the keys are of no machine.
    wrong : tuple of str
        Functions that were not.
    models : tuple of ModelRun
    """

    job: str
    card: str
    capability: int
    compiler: str
    on_cpu: bool
    times: Mapping[PerformanceKey, PerformanceTime]
    wrong: tuple[str, ...]
    models: tuple[ModelRun, ...]

    @property
    def machine(self) -> str:
        """The fingerprint of the card."""
        return card_fingerprint(self.card)


def card_fingerprint(card: str) -> str:
    """Return a short text that differs between cards."""
    return key_of("card", card)[:16]


def read_times(path: Path) -> GpuTimes:
    """Read the result of a job.

    Raises
    ------
    DataError
        If it cannot be read, is of another version, or something in it is not as jobs write it.
    """
    text = regular_files.text(path, MOST_BYTES, what="result of a job", error=DataError)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path} is no JSON: {error}", hint="give the result.json of a job"
        ) from None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise DataError(f"{path} is no result of a job", hint="give the result.json of a job")
    if found.get("version") != VERSION:
        raise DataError(
            f"{path} is of version {found.get('version')!r}, and this program reads {VERSION}",
            hint="pack the job anew with this program, and run it again",
        )
    try:
        return _result(found)
    except (KeyError, TypeError, ValueError, FuseloomError) as error:
        raise DataError(
            f"{path} is not as a job writes it: {_told(error)}", hint="run the job again"
        ) from None


def _told(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return error.message if isinstance(error, FuseloomError) else str(error)


def _result(found: Mapping[str, Any]) -> GpuTimes:
    kernels, model = found["kernels"], found["model"]
    if not isinstance(kernels, list) or len(kernels) > MOST_KERNELS:
        raise ValueError(f"kernels are no list of at most {MOST_KERNELS:,}")
    if not isinstance(model, dict):
        raise ValueError("model is no object")
    times: dict[PerformanceKey, PerformanceTime] = {}
    wrong: list[str] = []
    for one in kernels:
        if one["ok"] is not True:
            wrong.append(_text(one, "function"))
            continue
        times[_key(one["key"])] = PerformanceTime(_time(one), _number(one, "runs", 1))
    models = [
        ModelRun(_text({"way": way}, "way"), _time(one), _launches(one), _amount(one, "error"))
        for way, one in model.items()
        if isinstance(one, dict) and "nanoseconds" in one
    ]
    return GpuTimes(
        _text(found, "job"), _text(found, "card"), _number(found, "capability"),
        _text(found, "compiler"), found["on_cpu"] is not False, times, tuple(wrong), tuple(models),
    )  # fmt: skip


def _key(found: Mapping[str, Any]) -> PerformanceKey:
    given: dict[str, Any] = {}
    for one in fields(PerformanceKey):
        number = isinstance(one.default, int) or str(one.type) == "int"
        given[one.name] = _number(found, one.name) if number else _text(found, one.name)
    if given["backend"] != BACKEND or given["machine"]:
        raise ValueError(f"a key is of {given['backend']} and {given['machine'] or 'no machine'}")
    return PerformanceKey(**given)


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found[name]
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(f"{name} is no text of at most {LONGEST} characters")
    return value


def _number(found: Mapping[str, Any], name: str, least: int = 0) -> int:
    value = found[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_NUMBER:
        raise ValueError(f"{name} is no number from {least} to {_MOST_NUMBER:,}")
    return value


def _amount(found: Mapping[str, Any], name: str) -> float:
    value = found[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"{name} is no amount")
    return float(value)


def _time(found: Mapping[str, Any]) -> float:
    value = _amount(found, "nanoseconds")
    if not 0 < value < math.inf:
        raise ValueError("nanoseconds are no time")
    return value


def _launches(found: Mapping[str, Any]) -> int | None:
    return None if found["launches"] is None else _number(found, "launches")


def import_times(result: GpuTimes, library: PerformanceLibrary) -> int:
    """Keep the times of a result in a library, and return how many they are.

    Raises
    ------
    StoreError
        If no card ran the job, or the library cannot be written.
    """
    if result.on_cpu:
        raise StoreError(
            f"{result.job} ran on the processor, whose times say nothing of a card",
            hint="run the job where there is a GPU, without --on-cpu",
        )
    if library.in_memory:
        raise StoreError("; ".join(library.said), hint="name another file by FUSELOOM_TIMES")
    library.put({replace(key, machine=result.machine): time for key, time in result.times.items()})
    return len(result.times)


@dataclass(frozen=True)
class CardChoice:
    """A module with schedules by times of a card.

    Attributes
    ----------
    made : FusedModule
    nanoseconds : mapping
        Per kernel the time of its schedule, if it is known.
    """

    made: FusedModule
    nanoseconds: Mapping[str, float]


def fastest_on_card(
    made: FusedModule,
    library: PerformanceLibrary,
    *,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
) -> CardChoice:
    """Choose, for each kernel of the computation that is run, the fastest schedule that is known.

    Parameters
    ----------
    made : FusedModule
    library : PerformanceLibrary
        Of the fingerprint of the card.
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing
    """
    first, *others = made.frames
    fusion = first.fusion
    chosen: list[StitchedKernel] = []
    found: dict[str, float] = {}
    keys, checker = PerformanceKeys(library.machine), ScheduleConsistency(fusion.computation)
    for kernel in fusion.kernels:
        best, least = kernel, math.inf
        for variant in _variants(checker, kernel):
            (code,) = kernel_codes(
                made.module, replace(fusion, kernels=(variant,)), KernelLanguage.CUDA,
                limit=limit, sharing=sharing,
            )  # fmt: skip
            if code.phased is None:
                continue
            key = cuda_key(keys, made.module, fusion.computation, code)
            if key in library:
                time = library.times([])[key].nanoseconds
                if time < least:
                    best, least = variant, time
        chosen.append(best)
        if least < math.inf:
            found[kernel.name] = least
    fusion = replace(fusion, kernels=tuple(chosen))
    return CardChoice(replace(made, frames=(replace(first, fusion=fusion), *others)), found)


def _variants(checker: ScheduleConsistency, kernel: StitchedKernel) -> Sequence[StitchedKernel]:
    if kernel.schedule is None or kernel.is_call:
        return ()
    computation = checker.computation
    others = (one for one in kernel.satisfiable if one != kernel.schedule)
    return [kernel, *(with_schedule(computation, kernel, one, checker) for one in others)]
