"""Timed kernels of deep fusion in the run store, beside those of XLA's rules."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.runs import Outcome, RunLabel
from fuseloom.exploration.store.store import RunStore
from fuseloom.results.check import Check
from fuseloom.results.cpu import NANOSECOND, cpu
from fuseloom.results.record import DataSource, RegionRecord, RunRecord
from fuseloom.stitch.frames import FusedModule
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.hlo import print_hlo
from fuseloom.stitch.kernel_traffic import frame_traffic
from fuseloom.stitch.module_check import TOLERANCE
from fuseloom.stitch.opcodes import work_of

if TYPE_CHECKING:
    from fuseloom.stitch.end_to_end import EndToEnd

FUSED = "deep fusion"
BASELINE = "XLA's rules of 2018"


def stitch_records(
    made: FusedModule, times: EndToEnd, source: DataSource | None = None
) -> tuple[RunRecord, RunRecord]:
    """Return the records of a run with the kernels of deep fusion, and with those of the rules.

    Each has one region, the computation that is run.  Its cycles are nanoseconds by the clock, its
    bytes those that kernels and calls read and write in memory; its operations the elements that
    are computed, those of a product once for each element that is summed.

    Parameters
    ----------
    made : FusedModule
    times : EndToEnd
    source : DataSource, optional
    """
    frame = made.frames[0]
    work = float(sum(work_of(frame.computation, one) for one in frame.computation.operations))
    traffic = frame_traffic(frame)
    name = made.module.name

    def record(schedule: str, run: tuple[float, float], moved: int, count: int) -> RunRecord:
        nanoseconds, error = run
        region = RegionRecord(name, (), max(1, round(nanoseconds)), work, float(moved))
        check = Check(error, tolerance=TOLERANCE)
        label = f"{schedule}, {count} kernels"
        return RunRecord(name, label, cpu(), source, (region,), check, nanoseconds * NANOSECOND)

    here = (times.fused_whole, times.fused_error)
    there = (times.baseline_whole, times.baseline_error)
    return (
        record(FUSED, here, traffic.fused.moved, frame.fusion.count),
        record(BASELINE, there, traffic.baseline.moved, frame.baseline.count),
    )


def keep_stitched(
    store: RunStore,
    made: FusedModule,
    times: EndToEnd,
    *,
    seed: int = 0,
    settings: Mapping[str, str] | None = None,
) -> tuple[RunRecord, RunRecord]:
    """Keep both runs of a module; what is there already stays as it is.

    Parameters
    ----------
    made : FusedModule
    times : EndToEnd
    seed : int
        Of the random inputs.
    settings : mapping, optional
        What else decides on kernels, such as the products that are fused.

    Raises
    ------
    StoreError
        If the store cannot be used.
    """
    label = f"random, seed {seed}"
    program = print_hlo(made.module)
    contents = hashlib.sha256()
    for name, array in sorted(random_inputs(made.frames[0].computation, seed).items()):
        contents.update(f"{name} {array.dtype} {array.shape}".encode())
        contents.update(array.tobytes())
    records = stitch_records(made, times, DataSource(label))
    for record in records:
        identity = RunIdentity(
            program, record.schedule, contents.hexdigest(), record.machine.fingerprint,
            numerics="float32", settings=settings or {},
        )  # fmt: skip
        names = RunLabel(made.module.name, label, record.machine.name)
        store.put(identity, Outcome.of(record), names)
    return records
