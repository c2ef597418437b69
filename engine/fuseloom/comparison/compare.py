"""The comparison of all systems on one program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from fuseloom.access.hardware import SystolicArray
from fuseloom.arguments import check_arguments
from fuseloom.comparison.known import keep_comparison, known_comparison
from fuseloom.comparison.problem import ComparedProgram, Progress, SystemRows
from fuseloom.comparison.rows import Comparison, ComparisonRow, FusionSystem
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import ProgramError
from fuseloom.program import Program
from fuseloom.program.formats import suggestion
from fuseloom.program.inputs import check_data
from fuseloom.timing import check_rounds

SECONDS = 3.0
"""Time limit of each search and of each tuning by default."""
ROUNDS = 5


@check_arguments
def compare(
    program: Program,
    data: Mapping[str, Any],
    *,
    presets: Mapping[str, str] | None = None,
    systems: Iterable[str] | None = None,
    machine: Machine | None = None,
    array: tuple[int, int] = (64, 64),
    seconds: float = SECONDS,
    rounds: int = ROUNDS,
    label: str = "",
    again: bool = True,
    limits: Limits | None = None,
    progress: Progress = lambda _: None,
) -> Comparison:
    """Fuse a program by every system that applies, and compare the results with one reference.

    Parameters
    ----------
    data : mapping
        Every input by name.
    presets : mapping of str to str, optional
        Schedules of the dataflow machine, besides the unfused one and the best that is found; by
        default the one that fuses all statements.
    systems : iterable of str, optional
        Of ``dataflow``, ``contraction``, ``access``, ``calls``, ``stitch``; by default all.
    machine : Machine, optional
        The dataflow machine.
    array : (int, int)
        Rows and columns of the systolic array.
    seconds : float
        Time limit of each search and of each tuning.
    rounds : int
        Runs by the clock, of which the median counts.
    label : str
        What people call the data.
    again : bool
        Whether systems are run again whose rows of the same program, data, machines and limits are
        known.  Rows are kept in any case.
    limits : Limits, optional
        What the simulation of a region may use.
    progress : callable
        Told what is done next; what it raises ends the comparison.

    Raises
    ------
    DataError
        Of data that contradict the program, or are too large for the dense reference.
    ProgramError
        If there is no such system, or an option is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 dense\\nB: 4x5 dense\\nC[i,j] = A[i,k] * B[k,j]")
    >>> data = {"A": np.ones((8, 4)), "B": np.ones((4, 5))}
    >>> made = fl.compare(program, data, systems=["dataflow", "access"], seconds=1)
    >>> [(row.system.value, row.way, row.kernels) for row in made.rows]
    [('dataflow', 'unfused', 1), ('dataflow', 'found', 1), ('access', 'mapped', 1)]
    >>> made.ok
    True
    """
    check_rounds(rounds)
    if not seconds > 0:
        raise ProgramError(f"seconds is positive, not {seconds}", hint=f"{SECONDS:.0f} by default")
    problem = problem_of(
        program, data, presets=presets, machine=machine, array=array, seconds=seconds,
        rounds=rounds, limits=limits, progress=progress,
    )  # fmt: skip
    wanted = [*FusionSystem] if systems is None else [_system(name) for name in systems]
    rows: list[ComparisonRow] = []
    for system in wanted:
        known = None if again else known_comparison(problem, system)
        if known is None:
            _ = problem.reference  # too large for it, too large for all
            known = Comparison(program.name, label, tuple(_rows_of(system)(problem)))
            if known.ok:
                keep_comparison(problem, system, known)
        rows += known.rows
    return Comparison(program.name, label, tuple(rows))


def problem_of(
    program: Program,
    data: Mapping[str, Any],
    *,
    presets: Mapping[str, str] | None = None,
    machine: Machine | None = None,
    array: tuple[int, int] = (64, 64),
    seconds: float = SECONDS,
    rounds: int = ROUNDS,
    limits: Limits | None = None,
    progress: Progress = lambda _: None,
) -> ComparedProgram:
    """Return a program and its data as all systems take them.

    Parameters are those of :func:`compare`.
    """
    return ComparedProgram(
        program, check_data(program, data), _fused_whole(program) if presets is None else presets,
        machine or Machine.default(),
        SystolicArray(*array), seconds, rounds, limits, progress,
    )  # fmt: skip


def _fused_whole(program: Program) -> dict[str, str]:
    """The schedule with all statements in one region."""
    names = [statement.out.tensor for statement in program.statements]
    return {"full": f"fuse {names[0]}..{names[-1]}"} if len(names) > 1 else {}


def with_commands(comparison: Comparison, command: str) -> Comparison:
    """Return the rows, each with the command that gives it again.

    Parameters
    ----------
    command : str
        The command of the whole comparison.
    """
    return replace(
        comparison,
        rows=tuple(
            replace(row, command=f"{command} --system {row.system.value}")
            for row in comparison.rows
        ),
    )


def _rows_of(system: FusionSystem) -> SystemRows:
    """Return the function that computes the rows of a system, and import its module."""
    module = import_module(f"fuseloom.comparison.{system.value}_rows")
    found: SystemRows = getattr(module, f"{system.value}_rows")
    return found


def _system(name: str) -> FusionSystem:
    names = [system.value for system in FusionSystem]
    if name not in names:
        raise ProgramError(f"there is no system {name[:30]!r}", hint=suggestion(name, names))
    return FusionSystem(name)
