"""Rows of a comparison in the run store, beside runs of single systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.record import array_machine
from fuseloom.comparison.known import SOURCES
from fuseloom.comparison.rows import TOLERANCE, Comparison, ComparisonRow, FusionSystem
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.records import machine_id
from fuseloom.exploration.store.identity import NUMERICS, RunIdentity, data_hash, engine_version
from fuseloom.exploration.store.runs import Outcome, RunLabel
from fuseloom.exploration.store.store import RunStore
from fuseloom.program import Program
from fuseloom.program.inputs import check_data
from fuseloom.results.check import Check
from fuseloom.results.cpu import NANOSECOND, cpu
from fuseloom.results.record import DataSource, MachineId, RegionRecord, RunRecord


def row_record(
    row: ComparisonRow, name: str, machine: MachineId, source: DataSource | None = None
) -> RunRecord | None:
    """Return a row as the record of a run, or None of a row without cycles and without a time.

    It has one region, the whole program.  Its cycles are simulated or predicted ones of the row's
    machine, or nanoseconds by the clock; its bytes those of intermediates between kernels.

    Parameters
    ----------
    name : str
        Of the program.
    machine : MachineId
        What the row ran on.

    Examples
    --------
    >>> row = ComparisonRow(
    ...     FusionSystem.CALLS, "tuned", applies=True, flops=8, measured_seconds=2e-6,
    ...     max_rel_error=0.0,
    ... )
    >>> made = row_record(row, "mttkrp", cpu())
    >>> made.cycles, made.schedule, made.ok
    (2000, 'calls, tuned', True)
    """
    cycles: float | None = row.simulated_cycles
    if cycles is None and row.predicted_unit == "cycles":
        cycles = row.predicted
    if row.measured_seconds is not None:
        cycles = max(1, row.measured_seconds / NANOSECOND)
    if not row.applies or cycles is None:
        return None
    between = float(row.bytes_between or 0)
    region = RegionRecord(name, (), round(cycles), float(row.flops or 0), between)
    check = None if row.max_rel_error is None else Check(row.max_rel_error, tolerance=TOLERANCE)
    schedule = f"{row.system.value}, {row.way}"
    seconds = row.measured_seconds or 0.0
    return RunRecord(name, schedule, machine, source, (region,), check, seconds)


def keep_rows(
    store: RunStore,
    program: Program,
    data: Mapping[str, Any],
    made: Comparison,
    *,
    presets: Mapping[str, str] | None = None,
    machine: Machine | None = None,
    array: tuple[int, int] = (64, 64),
) -> tuple[RunRecord, ...]:
    """Keep the rows that apply; what is there already stays as it is.

    Parameters
    ----------
    program, data, presets, machine, array
        Those that were compared.

    Raises
    ------
    DataError
        Of data that contradict the program.
    StoreError
        If the store cannot be used.
    """
    simulated = machine or Machine.default()
    machines = {
        FusionSystem.DATAFLOW: machine_id(simulated),
        FusionSystem.ACCESS: array_machine(SystolicArray(*array)),
    }
    contents = data_hash(check_data(program, data))
    source = DataSource(made.data) if made.data else None
    records = []
    for row in made.rows:
        ran_on = machines.get(row.system) or cpu()
        record = row_record(row, made.name, ran_on, source)
        if record is None:
            continue
        preset = (presets or {}).get(row.way, "") if row.system is FusionSystem.DATAFLOW else ""
        identity = RunIdentity(
            str(program), record.schedule, contents, ran_on.fingerprint,
            engine=engine_version(SOURCES), numerics=NUMERICS,
            settings={"preset": preset} if preset else {},
        )  # fmt: skip
        expected = row.predicted if row.predicted_unit == "cycles" else None
        label = RunLabel(made.name, made.data, ran_on.name, expected)
        store.put(identity, Outcome.of(record), label)
        records.append(record)
    return tuple(records)
