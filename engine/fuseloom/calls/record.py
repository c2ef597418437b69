"""Measured calls as records of runs, beside those of the dataflow machine."""

from __future__ import annotations

from fuseloom.calls.measuring import PipelineMeasurement
from fuseloom.results.check import Check
from fuseloom.results.cpu import NANOSECOND, cpu
from fuseloom.results.record import DataSource, RegionRecord, RunRecord

TOLERANCE = 1e-3
"""The largest error, relative to the largest value, of a result that is right in float32."""


def fused_record(
    made: PipelineMeasurement, name: str, source: DataSource | None = None
) -> RunRecord:
    """Return the record of fused calls.

    It has one region, all calls.  Its cycles are nanoseconds by the clock, its bytes those that
    calls read and write of what is given, returned or kept whole; its operations the elements that
    calls compute, as nobody can look into them.

    Parameters
    ----------
    name : str
        Of the composition.

    Examples
    --------
    >>> from fuseloom.calls.measuring import TiledSchedule, measure
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> case = PIPELINES["add6"].make({"n": 32})
    >>> made = fused_record(measure(case, "n", [TiledSchedule(8)], rounds=1)[0], "add6")
    >>> made.ok, made.schedule, made.flops, made.bytes
    (True, 'tiles of 8', 160.0, 896.0)
    """
    counts = made.counts
    work = float(sum(counts.computed.values()))
    moved = float(counts.whole_bytes)
    return _record(made, name, str(made.schedule), made.timings.fused, work, moved, source)


def whole_record(
    made: PipelineMeasurement, name: str, source: DataSource | None = None
) -> RunRecord:
    """Return the record of the whole calls that fused ones were measured beside.

    As :func:`fused_record`, of calls into room that is there; all that calls read and write counts.
    """
    counts = made.counts
    work = float(sum(counts.whole.values()))
    seconds = made.timings.unfused_preallocated
    return _record(
        made, name, "whole calls", seconds, work, float(made.unfused_bytes), source,
        made.unfused_error,
    )  # fmt: skip


def _record(
    made: PipelineMeasurement,
    name: str,
    schedule: str,
    seconds: float,
    work: float,
    moved: float,
    source: DataSource | None,
    error: float | None = None,
) -> RunRecord:
    region = RegionRecord(name, (), max(1, round(seconds / NANOSECOND)), work, moved)
    largest = (made.max_abs_error if error is None else error) / made.scale
    check = Check(largest, tolerance=TOLERANCE)
    return RunRecord(name, schedule, cpu(), source, (region,), check, seconds)
