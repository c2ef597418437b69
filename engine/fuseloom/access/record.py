"""A mapping as the record of a run, beside those of the dataflow machine."""

from __future__ import annotations

import hashlib

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.memory import BufferedMemory
from fuseloom.access.sweep import ArrayDesign
from fuseloom.errors import ProgramError
from fuseloom.results import Check
from fuseloom.results.record import DataSource, MachineId, RegionRecord, RunRecord

TOLERANCE = 1e-4
"""The largest error, relative to the largest value, of a mapping that is right."""


def array_machine(array: SystolicArray, memory: BufferedMemory | None = None) -> MachineId:
    """An array and its memory, if transfers count, as a machine.

    Examples
    --------
    >>> array_machine(SystolicArray(8, 8)).name
    'systolic array 8 × 8'
    """
    name = f"systolic array {array.rows} × {array.columns}"
    return MachineId(name, hashlib.sha256(repr((array, memory)).encode()).hexdigest())


def mapped_record(
    design: ArrayDesign, name: str, source: DataSource | None = None, *, schedule: str = ""
) -> RunRecord:
    """Return the record of layers on an array: a region per layer that the array computes.

    Its cycles are those of the calls with all transfers; its operations two per multiplication (a
    product and a sum).

    Parameters
    ----------
    name : str
        What people call the network or kernel.
    schedule : str
        The rules that were used.

    Raises
    ------
    ProgramError
        If nothing is computed by the array.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.layers import Layer
    >>> from fuseloom.access.meaning import evaluate, random_data
    >>> from fuseloom.access.sweep import compare_arrays
    >>> data = random_data(matmul(8, 8, 8))
    >>> layer = Layer("matmul", matmul(8, 8, 8), data, evaluate(matmul(8, 8, 8), data))
    >>> (design,) = compare_arrays([layer], [], [SystolicArray(8, 8)], [BufferedMemory()])
    >>> made = mapped_record(design, "matmul")
    >>> made.ok, made.regions[0].flops, made.cycles
    (True, 1024.0, 36)
    """
    regions = []
    for layer in design.made.layers:
        if not layer.mapped.calls:
            continue
        traffic = layer.mapped.traffic(design.memory)
        work = sum(call.multiplications for call in layer.mapped.calls)
        moved = float(traffic.read + traffic.written)
        regions.append(RegionRecord(layer.name, (), traffic.cycles, 2.0 * work, moved))
    if not regions:
        raise ProgramError("nothing is computed by the array: there is no run to keep")
    check = Check(design.made.max_rel_error, tolerance=TOLERANCE)
    seconds = sum(mapped.seconds for mapped in design.made.distinct)
    return RunRecord(
        name,
        schedule,
        array_machine(design.array, design.memory),
        source,
        tuple(regions),
        check,
        seconds,
    )
