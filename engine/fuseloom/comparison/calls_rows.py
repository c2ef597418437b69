"""A program's statements as calls of NumPy: whole, fused tile by tile, and tuned."""

from __future__ import annotations

from collections.abc import Iterator

from fuseloom.calls.measuring import PipelineMeasurement, TiledSchedule, every_tile, measure, tune
from fuseloom.calls.program_calls import TILE, program_case
from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import ComparisonRow, FusionSystem, refused_rows
from fuseloom.errors import CancelledError, FuseloomError

WHOLE, FUSED, TUNED = "unfused", "fused", "tuned"


def calls_rows(problem: ComparedProgram) -> Iterator[ComparisonRow]:
    """Return the rows of calls: on whole arrays, in tiles of the middle size, and tuned.

    Kernels are calls; between them are intermediates, of fused calls those of a tile.
    """
    problem.progress("calls")
    try:
        case = program_case(problem.dense, problem.data, problem.reference)
        sizes = every_tile(case)
        middle = TiledSchedule(sizes[len(sizes) // 2])
        (fused,) = measure(case, TILE, [middle], rounds=problem.rounds, seconds=problem.seconds)
        problem.progress("calls, tuned")
        tuned = tune(case, TILE, rounds=problem.rounds, seconds=problem.seconds)[0]
    except CancelledError:
        raise
    except FuseloomError as refusal:
        yield from refused_rows(FusionSystem.CALLS, (WHOLE, FUSED, TUNED), refusal)
        return
    times = fused.timings
    error = fused.unfused_error / fused.scale
    whole = min(times.unfused_fresh, times.unfused_preallocated)
    yield ComparisonRow(
        FusionSystem.CALLS, WHOLE, applies=True, kernels=len(case.calls),
        bytes_between=problem.dense_bytes(*(call.function.name for call in case.calls)),
        recompute=1.0,
        flops=problem.dense_flops, measured_seconds=whole, max_rel_error=error,
    )  # fmt: skip
    yield _tiled(problem, FUSED, fused)
    yield _tiled(problem, TUNED, tuned)


def _tiled(problem: ComparedProgram, way: str, made: PipelineMeasurement) -> ComparisonRow:
    counts = made.counts
    flops = sum(
        problem.dense_operations[name] * computed / max(1, counts.whole[name])
        for name, computed in counts.computed.items()
    )
    return ComparisonRow(
        FusionSystem.CALLS, way, applies=True, reason=str(made.schedule), kernels=counts.calls,
        bytes_between=counts.room,
        recompute=flops / problem.dense_flops if problem.dense_flops else None, flops=flops,
        measured_seconds=made.timings.fused, max_rel_error=made.max_rel_error,
    )  # fmt: skip
