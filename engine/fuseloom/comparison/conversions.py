"""Losses on the way from a program to each other system, or the rule that bars the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.program_layers import layers_of_program
from fuseloom.arguments import check_arguments
from fuseloom.calls.program_calls import calls_of_program
from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import FusionSystem, reason_of
from fuseloom.contraction.tree import ContractionTree
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import ProgramError
from fuseloom.program import Op, Program
from fuseloom.program.formats import LevelFormat, format_text
from fuseloom.program.inputs import check_data
from fuseloom.results.declarations import Record
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.stitch.program_graph import program_module
from fuseloom.wording import counted, described

_FLOAT32 = "Elements are computed in float32; the meaning of the program is float64."


@dataclass(frozen=True)
class ConversionRow(Record):
    """The way from a program to a system.

    Attributes
    ----------
    system : FusionSystem
    applies : bool
        Whether there is one.
    losses : tuple of str
        What the program says and the system does not, a sentence each.
    reason : str
        The rule and the statement because of which there is none.
    """

    system: FusionSystem
    applies: bool
    losses: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Conversions(Record):
    """The ways from a program to all systems that do not read programs themselves.

    Attributes
    ----------
    name : str
        Of the program.
    rows : tuple of ConversionRow
    """

    name: str
    rows: tuple[ConversionRow, ...]

    def __repr__(self) -> str:
        return described(self, f"of {self.name}: {counted(len(self.rows), 'system')}")

    def __str__(self) -> str:
        return "\n".join(
            text_table(_COLUMNS, [cells for row in self.rows for cells in _cells(row)])
        )

    def of(self, *systems: FusionSystem | str) -> Conversions:
        """Return the rows of some systems."""
        wanted = {FusionSystem(system) for system in systems}
        return replace(self, rows=tuple(row for row in self.rows if row.system in wanted))


_COLUMNS = (TextColumn("system", align=Align.LEFT), TextColumn("lost", align=Align.LEFT))


def _cells(row: ConversionRow) -> Iterator[tuple[str, str]]:
    """A line of the table for each loss."""
    lines = list(row.losses) or ["nothing"]
    if not row.applies:
        lines = [f"no conversion: {row.reason}"]
    for number, line in enumerate(lines):
        yield "" if number else row.system.value, line


@check_arguments
def conversions_of(program: Program, data: Mapping[str, Any] | None = None) -> Conversions:
    """Return what a program loses on the way to each of the four other systems.

    Parameters
    ----------
    data : mapping, optional
        Inputs by name.  With data, a tensor that holds every element is no obstacle to systems that
        have dense arrays alone, whatever its format.

    Raises
    ------
    DataError
        Of data that contradict the program.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 csr\\nx: 4 dense\\ny[i] = A[i,j] * x[j]\\nz[i] = relu(y[i])")
    >>> for row in conversions_of(program).rows:
    ...     print(row.system.value, row.applies, row.losses[:1] or row.reason)
    contraction False z[i] is made by 'relu'; a network holds products alone (line 4)
    access True ('A (csr) becomes dense: its absent elements are zeros.',)
    calls True ('A (csr) becomes dense: its absent elements are zeros.',)
    stitch True ('A (csr) becomes dense: its absent elements are zeros.',)
    """
    problem = ComparedProgram(
        program, {} if data is None else check_data(program, data), {}, Machine.default(),
        SystolicArray(64, 64), 1.0, 1, None, lambda _: None,
    )  # fmt: skip
    return Conversions(
        program.name, tuple(_row(system, losses, problem) for system, losses in _WAYS.items())
    )


def _row(
    system: FusionSystem,
    losses: Callable[[ComparedProgram], Iterator[str]],
    problem: ComparedProgram,
) -> ConversionRow:
    try:
        return ConversionRow(system, applies=True, losses=tuple(losses(problem)))
    except ProgramError as refusal:
        return ConversionRow(system, applies=False, reason=reason_of(refusal))


def _to_contraction(problem: ComparedProgram) -> Iterator[str]:
    yield from ContractionTree.of(problem.program).to_program().losses
    yield from _unneeded(problem.program)


def _to_access(problem: ComparedProgram) -> Iterator[str]:
    layers, others = layers_of_program(problem.dense)
    if not layers:
        raise ProgramError("; ".join(f"{one.name}: {one.reason}" for one in others))
    yield from _dense(problem.program)
    live = {statement.out.tensor for statement in problem.program.live}
    beside = [one for one in others if one.name in live]
    for reason in dict.fromkeys(one.reason for one in beside):
        yield f"{', '.join(one.name for one in beside if one.reason == reason)}: {reason}."
    yield from _unneeded(problem.program)


def _to_calls(problem: ComparedProgram) -> Iterator[str]:
    program = problem.dense
    calls = {call.output.name for call in calls_of_program(program)}
    yield from _dense(problem.program)
    views = [s.out.tensor for s in program.live if s.out.tensor not in calls]
    if views:
        yield f"Reads at computed places become views of parts: {', '.join(views)}."
    yield _FLOAT32
    yield from _unneeded(problem.program)


def _to_stitch(problem: ComparedProgram) -> Iterator[str]:
    module = program_module(problem.dense)
    yield from _dense(problem.program)
    made = [
        tensor.name
        for tensor in problem.program.tensors
        if tensor.made is not None and tensor.name in module.main.by_name
    ]
    if made:
        yield f"Reads at computed places become products with arrays of ones: {', '.join(made)}."
    many = [s.out.tensor for s in problem.program.live if s.op is Op.MUL and len(s.operands) > 2]
    if many:
        yield f"Products of several tensors at once become products of two: {', '.join(many)}."
    yield _FLOAT32
    yield from _unneeded(problem.program)


def _dense(program: Program) -> Iterator[str]:
    """Formats of inputs that become dense."""
    for name in program.given:
        fmt = program.tensor(name).format
        if any(level is not LevelFormat.DENSE for level in fmt.levels):
            yield f"{name} ({format_text(fmt)}) becomes dense: its absent elements are zeros."


def _unneeded(program: Program) -> Iterator[str]:
    live = {statement.out.tensor for statement in program.live}
    dead = [s.out.tensor for s in program.statements if s.out.tensor not in live]
    if dead:
        yield f"No result needs {', '.join(dead)}, left out."


_WAYS: Mapping[FusionSystem, Callable[[ComparedProgram], Iterator[str]]] = {
    FusionSystem.CONTRACTION: _to_contraction,
    FusionSystem.ACCESS: _to_access,
    FusionSystem.CALLS: _to_calls,
    FusionSystem.STITCH: _to_stitch,
}
"""The losses on the way to each system."""
