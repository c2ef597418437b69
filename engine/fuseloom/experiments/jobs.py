"""The jobs of a figure's workers: a run or an estimate of one configuration, data included.

Data are made or read where they are used, so that the driver stays small; a message names them.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.statistics import ExpectedStatistics
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.dataflow.samml.traits import Role
from fuseloom.dataflow.sim.checking import CheckStep, check_outputs
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.program_runs import RegionRun, Run, simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.errors import ScheduleError
from fuseloom.experiments.configuration import Configuration, How, Orders
from fuseloom.experiments.notes import Notes
from fuseloom.experiments.workloads import Foreseen, foreseen, load
from fuseloom.models import Loaded, Model
from fuseloom.program.formats import suggestion
from fuseloom.results.check import Check

RUN = "fuseloom.experiments.jobs:run_configuration"
ESTIMATE = "fuseloom.experiments.jobs:estimate_configuration"
Report = Callable[[float, str], bool]
LEAST_EFFORT = 20.0
"""The check of a region may take as long as if its run had taken so many seconds, at least; where
that does not do for all rows, some are drawn."""


def request_of(
    configuration: Configuration, data_dir: Path | None, notes: Path, key: str
) -> dict[str, Any]:
    """The message for :data:`RUN` and :data:`ESTIMATE`.

    Parameters
    ----------
    notes : Path
        File of the notes; what a run took is kept there under ``key``.
    """
    return {
        "configuration": configuration.to_dict(),
        "data_dir": None if data_dir is None else str(data_dir),
        "notes": str(notes),
        "key": key,
    }


def schedule_text(configuration: Configuration, model: Model) -> str:
    """The schedule of a configuration, as text.

    Raises
    ------
    ScheduleError
        If the model has no preset of that name.
    """
    parts = []
    if configuration.preset:
        if configuration.preset not in model.presets:
            raise ScheduleError(
                f"{configuration.workload} has no preset {configuration.preset!r}",
                hint=suggestion(configuration.preset, [*model.presets]),
            )
        parts.append(model.presets[configuration.preset])
    return "; ".join(part for part in (*parts, configuration.settings) if part)


def compiled(
    configuration: Configuration, loaded: Loaded | Foreseen, machine: Machine
) -> Compilation:
    """The program of a configuration under its schedule, and under its orders."""
    text = schedule_text(configuration, loaded.model)
    made = compile_program(loaded.model.program, text)
    if configuration.orders is Orders.BEST:
        made = best_orders(made, loaded.data, machine=machine).compilation
    return made


def run_configuration(request: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Simulate and check a configuration; the record of the run as plain data.

    Raises
    ------
    FuseloomError
        Whatever stands in the way; or the run was told to end.
    """
    given = Configuration.from_dict(request["configuration"])
    with _measured() as took:
        loaded = _loaded(given, request)
        machine = Machine.preset(given.machine)
        made = compiled(given, loaded, machine)
        run = simulate(made, loaded.data, machine, progress=report)
        check = _checked(run)
    source = loaded.source
    regions = [
        {"name": r.name, "busiest": max(map(int, r.result.busy), default=0), "words": words(r)}
        for r in run.regions
    ]
    note = {"regions": regions, "schedule": str(made.resolved), **took}
    with Notes(Path(request["notes"])) as notes:
        notes.put(request["key"], note)
    return program_record(run, check, Detail(), source).to_dict()


def estimate_configuration(request: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Estimate a configuration: cycles, FLOPs, bytes and busiest nodes of every region."""
    given = Configuration.from_dict(request["configuration"])
    with _measured() as took:
        loaded = foreseen(given) or _loaded(given, request)
        report(0.5, "estimating")
        machine = Machine.preset(given.machine)
        made = compiled(given, loaded, machine)
        data = spread_evenly(loaded) if given.how is How.HEURISTIC else loaded.data
        found = estimate(made, data, machine=machine)
    return {
        "regions": [
            {
                "name": r.name,
                "cycles": float(r.cycles),
                "flops": float(r.flops),
                "bytes": float(r.bytes),
                "words": r.bytes / WORD + _scanned(region.graph, [n.tokens for n in r.nodes]),
                "mode": r.mode.value,
            }
            for region, r in zip(made.regions, found.regions, strict=True)
        ],
        "schedule": str(made.resolved),
        "label": loaded.label,
        "standin": isinstance(loaded, Loaded) and loaded.standin,
        **took,
    }


def spread_evenly(loaded: Loaded | Foreseen) -> Mapping[str, ExpectedStatistics]:
    """All that a heuristic of sizes and averages knows of data: how many elements there are."""
    if isinstance(loaded, Foreseen):
        return loaded.data
    program = loaded.model.program
    return {
        name: ExpectedStatistics.uniform(program.tensor(name), float(tensor.nnz))
        for name, tensor in loaded.data.items()
    }


def words(run: RegionRun) -> float:
    """Words that a region reads and writes, as the published counters have them.

    To ours they add the coordinates that scanners of dense levels make (``docs/spec/accounting.md``
    §4): those read no memory here, and are counted as reads there.
    """
    put = [
        max((int(run.result.values[s]) for s in node.outputs if s is not None), default=0)
        for node in run.result.graph.nodes
    ]
    return run.work.bytes / WORD + _scanned(run.result.graph, put)


def _scanned(graph: Graph, put: Sequence[float]) -> float:
    """Coordinates that scanners of dense levels make, of what each node puts."""
    scanners = (primitive(node.op).role is Role.DENSE_LEVEL for node in graph.nodes)
    return float(sum(count for count, scans in zip(put, scanners, strict=True) if scans))


def _checked(run: Run) -> Check:
    """Compare what fits into about the run's time; rows are drawn where that is not all."""
    steps = [
        CheckStep(
            r.name,
            r.region.region.statements,
            r.region.region.outputs,
            max(LEAST_EFFORT, r.seconds),
        )
        for r in run.regions
    ]
    live = run.compilation.program.live
    reshapes = [CheckStep(s.out.tensor, (s,), (s.out.tensor,)) for s in live if not s.op.fuses]
    return check_outputs(run.compilation.program, [*steps, *reshapes], run.data, run.outputs)


def _loaded(given: Configuration, request: Mapping[str, Any]) -> Loaded:
    # what only schedules and machines differ in has the same data
    data = replace(Configuration(given.workload, given.data, given.options), seed=given.seed)
    return load_once(data, request["data_dir"])


@lru_cache(maxsize=1)
def load_once(data: Configuration, data_dir: str | None) -> Loaded:
    return load(data, None if data_dir is None else Path(data_dir))


@contextmanager
def _measured() -> Iterator[dict[str, float]]:
    """Wall time, CPU time and peak memory of what is done inside, in seconds and bytes."""
    took: dict[str, float] = {}
    _forget_peak()
    wall, cpu = time.monotonic(), time.process_time()
    yield took
    took["wall"] = time.monotonic() - wall
    took["cpu"] = time.process_time() - cpu
    took["peak"] = _peak()


def _forget_peak() -> None:
    """Have the system count this process's peak from now on, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:  # then it is that of all that the process has done
        return


def _peak() -> float:
    """Most bytes that this process had in memory."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        (line,) = (x for x in status.splitlines() if x.startswith("VmHWM:"))
        return float(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024
