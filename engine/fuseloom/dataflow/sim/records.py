"""The records that runs leave (:mod:`fuseloom.results.record`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import Detail, region_record
from fuseloom.dataflow.sim.explain.perfetto import TracedRegion
from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.results.check import Check
from fuseloom.results.document import finite
from fuseloom.results.record import DataSource, MachineId, RunRecord
from fuseloom.results.run_parts import WrittenTensor

if TYPE_CHECKING:
    from fuseloom.dataflow.sim.imported_runs import ImportedRun


def traced_regions(run: Run | ImportedRun) -> list[TracedRegion]:
    """The regions of a run; an imported graph is one."""
    if isinstance(run, Run):
        return [TracedRegion(r.name, r.result, r.path) for r in run.regions]
    return [TracedRegion(run.imported.graph.name, run.result, run.path)]


def program_record(
    run: Run, check: Check | None, detail: Detail, source: DataSource | None = None
) -> RunRecord:
    """The record of a program's run on data from there."""
    regions = zip(traced_regions(run), run.regions, strict=True)
    return RunRecord(
        run.compilation.program.name,
        str(run.compilation.schedule),
        machine_id(run.machine),
        source,
        tuple(
            region_record(t, run.machine, r.region.order, r.work, detail, r.actions)
            for t, r in regions
        ),
        check,
        run.seconds,
    )


def graph_record(run: ImportedRun, check: Check | None, detail: Detail) -> RunRecord:
    """The record of an imported graph's run."""
    (region,) = traced_regions(run)
    repairs: Any = (
        {"rule": r.rule.name, "node": r.node, "change": r.change, "why": r.why}
        for r in run.imported.repairs
    )
    outputs = None
    if detail.outputs:
        outputs = {t.name: _output(run, t.name) for t in run.imported.outputs}
    return RunRecord(
        region.name,
        "",
        machine_id(run.machine),
        None,
        (region_record(region, run.machine, (), run.work, detail, run.actions),),
        check,
        run.seconds,
        tuple(repairs),
        outputs,
    )


def machine_id(machine: Machine) -> MachineId:
    """Which machine a run was on."""
    return MachineId(machine.name, machine.fingerprint)


def _output(run: ImportedRun, name: str) -> WrittenTensor:
    """A result by coordinates, and level by level as the writers hold it."""
    levels, values = run.written(name)
    made: WrittenTensor = {
        "levels": levels,
        "level_values": _numbers(values),
        "shape": None,
        "coordinates": None,
        "values": None,
        "problem": run.problems.get(name),
    }
    if name in run.problems:
        return made
    stored = run.outputs[name]
    coordinates, found = stored.to_coo()
    return {
        **made,
        "shape": list(stored.tensor.shape),
        "coordinates": coordinates.tolist(),
        "values": _numbers(found),
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Values as JSON has them, which knows no infinity."""
    return [finite(float(v)) for v in values]
