"""The program that is compared: its data, the one reference, and what dense systems may compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.access.hardware import SystolicArray
from fuseloom.comparison.rows import ComparisonRow
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import ProgramError
from fuseloom.program import Format, Op, Program, StoredTensor, evaluate
from fuseloom.program.completeness import dense_refusal, presences
from fuseloom.program.sparse_reference import Evaluated
from fuseloom.program.windows import IndexPlaces, index_places
from fuseloom.results import relative_error
from fuseloom.stitch.program_graph import dense_program

Array: TypeAlias = npt.NDArray[np.float64]
Progress: TypeAlias = Callable[[str], None]
"""Told what is done next; what it raises ends the comparison."""
SystemRows: TypeAlias = Callable[["ComparedProgram"], Iterator[ComparisonRow]]
WORD = 4
"""Bytes of an element of dense systems, which compute in float32."""


@dataclass(frozen=True)
class ComparedProgram:
    """A program and its data, for every system.

    Attributes
    ----------
    data : mapping
        Every input as it is stored.
    presets : mapping of str to str
        Schedules of the dataflow machine by name.
    machine : Machine
        The dataflow machine.
    array : SystolicArray
        The array of access patterns.
    seconds : float
        Time limit of each search and of each tuning.
    rounds : int
        Runs by the clock, of which the median counts.
    limits : Limits, optional
        What the simulation of a region may use.
    progress : callable

    Examples
    --------
    >>> import fuseloom as fl
    >>> from fuseloom.comparison.compare import problem_of
    >>> program = fl.parse("A: 8x4 dense\\nx: 4 dense\\ny[i] = A[i,j] * x[j]")
    >>> problem = problem_of(program, {"A": np.ones((8, 4)), "x": np.ones(4)})
    >>> problem.dense_operations, problem.dense_bytes("A", "y")
    ({'y': 64}, 128)
    """

    program: Program
    data: Mapping[str, StoredTensor] = field(repr=False)
    presets: Mapping[str, str]
    machine: Machine
    array: SystolicArray
    seconds: float
    rounds: int
    limits: Limits | None
    progress: Progress

    @cached_property
    def reference(self) -> Evaluated:
        """All tensors as the program means them, in float64."""
        return evaluate(self.program, self.data)

    @cached_property
    def results(self) -> tuple[Array, ...]:
        """The program's outputs."""
        return tuple(self.reference[name].dense() for name in self.program.outputs)

    def error(self, results: Mapping[str, Array]) -> float:
        """The largest error of the program's outputs, relative to each one's largest value."""
        outputs = zip(self.program.outputs, self.results, strict=True)
        return max(relative_error(np.asarray(results[name]), wanted) for name, wanted in outputs)

    @cached_property
    def dense(self) -> Program:
        """The program with dense tensors, if these give its results on these data.

        Raises
        ------
        ProgramError
            Of the first statement that dense arrays, whose absent elements are zeros, compute to
            something else.
        """
        full = tuple(
            replace(tensor, format=Format.dense(tensor.rank))
            if tensor.name in self.data and self.data[tensor.name].nnz == prod(tensor.shape)
            else tensor
            for tensor in self.program.tensors
        )
        known = replace(self.program, tensors=full)
        whole = {name for name, one in presences(known).items() if one.whole}
        for statement in known.live:
            reason = dense_refusal(statement, whole, known.broadcast_add)
            if statement.nonzero:
                reason = "it leaves zeros out"
            if reason is not None:
                raise ProgramError(
                    f"{statement.out.tensor} has no dense meaning: {reason}",
                    line=statement.line,
                    column=statement.column,
                )
        return dense_program(self.program)

    def dense_array(self, name: str) -> npt.NDArray[np.float32]:
        """An input as dense systems read it."""
        return np.ascontiguousarray(self.data[name].to_dense().astype(np.float32))

    def dense_bytes(self, *names: str) -> int:
        """Bytes of tensors that are no output, as dense arrays of float32."""
        between = {*names}.difference(self.program.outputs)
        return sum(WORD * prod(self.program.tensor(name).shape) for name in between)

    @cached_property
    def dense_operations(self) -> Mapping[str, int]:
        """The arithmetic operations of each statement on dense arrays, by what it assigns.

        A read at computed places takes none.
        """
        found: dict[str, int] = {}
        for s, extents in zip(self.program.statements, self.program.extents, strict=True):
            try:
                places = index_places(s, extents, self.program)
            except ProgramError:  # a selection that is a product, with a tensor of ones
                places = IndexPlaces(operands=s.operands)
            points = prod(extents[x] for x in s.indices if x not in places.places)
            alone = len(places.operands) - 1 if len(s.operands) > 1 else 1
            if s.op in (Op.RESHAPE, Op.CONCAT):
                alone = 0
            elif s.op in (Op.SUM, Op.MAX):
                alone = 1
            elif {*s.reduced}.difference(places.places):
                alone += 1
            found[s.out.tensor] = alone * points
        return found

    @cached_property
    def dense_flops(self) -> int:
        """The operations of all statements that an output needs, on dense arrays."""
        return sum(self.dense_operations[s.out.tensor] for s in self.program.live)
