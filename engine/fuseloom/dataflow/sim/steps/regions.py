"""Recordings of a compiled program's regions, and of a graph with its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import Engine
from fuseloom.dataflow.sim.output import output_tensor
from fuseloom.dataflow.sim.program_runs import do_reshapes, simulate_region
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.sim.steps.recorder import RecordingLimits, record
from fuseloom.dataflow.sim.steps.recording import Recording
from fuseloom.errors import SimulationError
from fuseloom.program.functions import Op
from fuseloom.program.inputs import check_data
from fuseloom.program.storage import StoredTensor


def bound_region(
    compilation: Compilation,
    region: int,
    data: Mapping[str, Any],
    machine: Machine | None = None,
    limits: Limits | None = None,
) -> BoundGraph:
    """The graph of one region of a compiled program with what it reads.

    Regions before it whose results it needs are run for that.

    Parameters
    ----------
    region : int
        Its position in ``compilation.regions``.
    data : mapping
        Every input by name: stored tensors, numpy arrays or scipy sparse matrices.
    limits : Limits, optional
        What the run of a region before it may use.

    Raises
    ------
    DataError
        If the data do not fit the program.
    SimulationError
        If there is no such region, or a run fails.
    """
    if not 0 <= region < len(compilation.regions):
        raise SimulationError(
            f"there is no region {region}", hint=f"there are {len(compilation.regions)}"
        )
    machine = machine or Machine.default()
    known: dict[str, StoredTensor] = dict(check_data(compilation.program, data))
    do_reshapes(compilation.program, known, {})
    for number in _needed(compilation, region):
        before = compilation.regions[number]
        run = simulate_region(before, known, machine, engine=Engine.AUTO, limits=limits)
        for name in before.region.outputs:
            known[name] = output_tensor(run.result, compilation.program.tensor(name))
        do_reshapes(compilation.program, known, {})
    return bind(compilation.regions[region].graph, known)


def record_region(
    compilation: Compilation,
    region: int,
    data: Mapping[str, Any],
    machine: Machine | None = None,
    kept: RecordingLimits | None = None,
) -> Recording:
    """Record one region of a compiled program (see :func:`bound_region`)."""
    machine = machine or Machine.default()
    return record(bound_region(compilation, region, data, machine), machine, kept)


def _needed(compilation: Compilation, region: int) -> list[int]:
    """Regions whose results a region needs, first those that run first."""
    reshapes = [s for s in compilation.program.statements if s.op is Op.RESHAPE]
    wanted = set(compilation.regions[region].region.inputs)
    found: list[int] = []
    for number in reversed(range(region)):
        for statement in reversed(reshapes):  # memory does them, whoever wrote the operand
            if statement.out.tensor in wanted:
                wanted.update(operand.tensor for operand in statement.operands)
        before = compilation.regions[number].region
        if wanted.intersection(before.outputs):
            found.append(number)
            wanted.update(before.inputs)
    return found[::-1]


def record_graph(
    graph: Graph,
    data: Mapping[str, StoredTensor],
    machine: Machine | None = None,
    kept: RecordingLimits | None = None,
) -> Recording:
    """Record a graph on stored tensors (:func:`fuseloom.dataflow.sim.binding.bind`)."""
    return record(bind(graph, data), machine or Machine.default(), kept)
