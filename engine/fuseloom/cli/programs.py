"""Simulating a program from the command line."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from fuseloom.cli.explain import explanation, observation, write_trace
from fuseloom.cli.inputs import CompiledInputs
from fuseloom.cli.limits import MADE_UP_MEMORY, MADE_UP_TOKENS, limits_of
from fuseloom.cli.tables import area_line, energy_line, memory_table, run_table
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.records import program_record, traced_regions
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import DeadlockError
from fuseloom.program.formats import LevelFormat, format_text
from fuseloom.program.types import Program
from fuseloom.results.record import RunRecord


def simulate_program(options: Any, given: CompiledInputs) -> int:
    """Run a program, check it and print what came of it; 1 if the check fails."""
    made_up = options.model is None and options.tensors is None
    limits = limits_of(options, MADE_UP_TOKENS, MADE_UP_MEMORY) if made_up else limits_of(options)
    if not options.keep:
        return _done(options, _simulated_and_checked(options, given, limits))
    from fuseloom.cli.keeping import Keeping  # imports what sweeps need

    with Keeping(options, given) as keeping:
        if keeping.stored is not None:
            return _again(options, given, keeping.stored)
        record = _simulated_and_checked(options, given, limits)
        keeping.done(record)
    return _done(options, record)


def _simulated_and_checked(options: Any, given: CompiledInputs, limits: Limits) -> RunRecord:
    run = _simulated(options, given, limits)
    write_trace(options, traced_regions(run))
    record = program_record(run, None, Detail(nodes=options.trace), given.source)
    if options.area or options.keep:
        from fuseloom.dataflow.space.design_costs import region_areas  # imports the estimate

        tensors = {**run.data, **run.outputs}
        record = record.with_areas(region_areas(given.compilation, given.machine, tensors))
    if not options.json:  # what was simulated is shown whatever comes of the check
        _print(options, given, run, record)
    return record if options.no_check else replace(record, check=run.check(memory=limits.memory))


def _done(options: Any, record: RunRecord) -> int:
    """Print how a run ended; 1 if its check failed."""
    if options.json:
        print(record.to_json())
    else:
        print(f"{record.check or 'not checked'}; simulated in {record.seconds:.2f} s")
    return 0 if record.ok else 1


def _again(options: Any, given: CompiledInputs, record: RunRecord) -> int:
    """Print what is known of a run that was done before; 1 if its check failed."""
    if options.json:
        print(record.to_json())
    else:
        _print_tables(given, record)
        print(f"{record.check or 'not checked'}; kept from a run that took {record.seconds:.2f} s")
    return 0 if record.ok else 1


def _print(options: Any, given: CompiledInputs, run: Run, record: RunRecord) -> None:
    _print_tables(given, record)
    if options.trace:
        for region in run.regions:
            if region.result.memory is not None:
                print(f"\n{region.name}: {region.result.memory}")
        for trace in run.trace:
            print(f"\n{trace}")
    if options.explain:
        print(f"\n{explanation(record)}\n")
    sys.stdout.flush()


def _print_tables(given: CompiledInputs, record: RunRecord) -> None:
    print(given.heading, end="")
    for line in [*run_table(record), *memory_table(record.regions)]:
        print(line)
    if record.energy is not None:
        print(energy_line(record.energy))
    if record.area is not None:
        print(area_line(record.area))
    for line in conversions(given.compilation.program):
        print(line)


def conversions(program: Program) -> list[str]:
    """A line for each output whose declared format is not the one that the machine writes."""
    outputs = [program.tensor(name) for name in program.outputs]
    return [
        f"{tensor.name} is written compressed, and converted to {format_text(tensor.format)} after "
        "the run"
        for tensor in outputs
        if program.producers[tensor.name].op.fuses
        and any(level is not LevelFormat.COMPRESSED for level in tensor.format.levels)
    ]


def _simulated(options: Any, given: CompiledInputs, limits: Limits) -> Run:
    from rich.console import Console
    from rich.progress import Progress

    observe = observation(options)
    console = Console(stderr=True)
    hidden = options.json or not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("simulating", total=1.0)

        def report(share: float, text: str) -> None:
            bar.update(task, completed=share, description=text)

        try:
            return simulate(
                given.compilation,
                given.data,
                given.machine,
                engine=options.engine,
                observe=observe,
                progress=report,
                limits=limits,
            )
        except DeadlockError as problem:
            if options.capacity == "sized" or not problem.full:
                raise
            hint = "--capacity sized computes capacities that no data can deadlock"
            raise DeadlockError(
                problem.message, hint=f"{hint}; or {problem.hint}", full=problem.full
            ) from None
