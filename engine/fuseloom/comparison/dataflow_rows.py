"""A program on the simulated dataflow machine: by presets, and by the best schedule found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import ComparisonRow, FusionSystem, refused_rows
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import CancelledError, FuseloomError
from fuseloom.exploration.autoschedule import autoschedule

UNFUSED, FOUND = "unfused", "found"


def dataflow_rows(problem: ComparedProgram) -> Iterator[ComparisonRow]:
    """Return the rows of the dataflow machine: unfused, presets, and the schedule of a search.

    Kernels are regions; between them are the tensors as the machine writes them.
    """
    unfused: float | None = None
    for way, schedule in {UNFUSED: "", **problem.presets}.items():
        problem.progress(f"dataflow, {way}")
        try:
            compiled = compile_program(problem.program, schedule)
            compiled = best_orders(compiled, problem.data, machine=problem.machine).compilation
            row = _simulated(problem, way, compiled, unfused)
            if way == UNFUSED:
                unfused = row.flops
                row = replace(row, recompute=1.0)
        except CancelledError:
            raise
        except FuseloomError as error:
            yield from refused_rows(FusionSystem.DATAFLOW, [way], error)
            continue
        yield row
    problem.progress(f"dataflow, {FOUND}")
    try:
        found = autoschedule(
            problem.program, problem.data, machine=problem.machine, presets=problem.presets,
            time_limit=problem.seconds, limits=problem.limits,
        )  # fmt: skip
        compiled = compile_program(problem.program, found.schedule)
        yield _simulated(problem, FOUND, compiled, unfused, str(found.certificate.verdict))
    except CancelledError:
        raise
    except FuseloomError as error:
        yield from refused_rows(FusionSystem.DATAFLOW, [FOUND], error)


def _simulated(
    problem: ComparedProgram,
    way: str,
    compiled: Compilation,
    unfused: float | None,
    reason: str = "",
) -> ComparisonRow:
    run = simulate(compiled, problem.data, problem.machine, limits=problem.limits)
    expected = estimate(compiled, problem.data, machine=problem.machine)
    outputs = set(problem.program.outputs)
    between = sum(x.bytes for name, x in run.outputs.items() if name not in outputs)
    flops = run.work.flops
    error = problem.error({name: run.outputs[name].to_dense() for name in outputs})
    return ComparisonRow(
        FusionSystem.DATAFLOW, way, applies=True, reason=reason, kernels=len(compiled.regions),
        bytes_between=between, recompute=flops / unfused if unfused else None, flops=flops,
        simulated_cycles=run.cycles, predicted=expected.cycles, predicted_unit="cycles",
        energy=run.energy.joules, max_rel_error=error,
    )  # fmt: skip
