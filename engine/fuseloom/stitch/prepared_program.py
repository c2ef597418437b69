"""Stitched programs with arrays for all their values, which are made once and written again."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.library_products import is_library_product, library_product
from fuseloom.stitch.meaning.evaluation import value_of
from fuseloom.stitch.opcodes import OperationClass, is_bitcast, operation_class
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.stitched_program import (
    ProgramStep,
    StitchedProgram,
    aligned_array,
    flat_values,
    pointers_of,
)

Array = npt.NDArray[Any]


class StepKind(StrEnum):
    """Kinds of steps of a program."""

    KERNEL = "kernel"
    """Machine code."""
    EVALUATED = "evaluated"
    """A kernel that NumPy evaluates operation by operation, since it has no form in C."""
    CALL = "library call"
    CONTROL = "loop or branch"


@dataclass(frozen=True)
class PreparedStep:
    """A step that reads and writes arrays which are there.

    Attributes
    ----------
    kind : StepKind
    name : str
        Of the first operation whose value it writes.
    run : callable
        Runs it.
    """

    kind: StepKind
    name: str
    run: Callable[[], object]


class PreparedProgram:
    """A program with an array for each of its values.

    A run makes no array, so that no memory has to be asked for; the results of each are in the
    same arrays.  Products that are calls of a library are BLAS's, in the type of their elements.

    Parameters
    ----------
    program : StitchedProgram
    inputs : mapping
        Arrays for the parameters, by name.  They are kept where they lie row by row: write other
        elements into ``values`` before the next run.

    Attributes
    ----------
    steps : tuple of PreparedStep
        In order, without those that only name what is in memory.
    values : dict
        The array of each value by the name of its operation.

    Raises
    ------
    DataError
        If an input is missing, or is not of the type of its parameter.
    LoweringError
        If there is no compiler, or it fails.
    ProgramError
        If what NumPy evaluates has no meaning there.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   y = f32[3] multiply(x, x)
    ...   ROOT z = f32[3] add(x, y)
    ... }''')
    >>> program = PreparedProgram(
    ...     StitchedProgram(module, fuse(module.main)), {"x": np.float32([1, 2, 3])})
    >>> first = program()
    >>> program.values["x"][:] = 1
    >>> program()[0] is first[0], first
    (True, (array([2., 2., 2.], dtype=float32),))
    """

    def __init__(self, program: StitchedProgram, inputs: Mapping[str, Any]) -> None:
        self.program = program
        self.values: dict[str, Any] = program.inputs_of(inputs)
        steps: list[PreparedStep] = []
        for step in program.steps:
            if all(self._is_named(name) for name in step.operations):
                self._name(step)
            else:
                steps.append(self._prepared(step))
        self.steps = tuple(steps)

    def __call__(self) -> tuple[Array, ...]:
        """Run it; the arrays of its results."""
        for step in self.steps:
            step.run()
        return self.results

    @property
    def results(self) -> tuple[Array, ...]:
        """The arrays of the result, or of the parts of a tuple that is the result."""
        return tuple(flat_values([self.values[self.program.computation.root]]))

    # Steps ---------------------------------------------------------------------------------------

    def _is_named(self, name: str) -> bool:
        """Tell if a value is in memory already, or part of what is."""
        operation = self.program.computation.by_name[name]
        found = operation_class(operation)
        return found is OperationClass.VALUE or is_bitcast(self.program.computation, operation)

    def _name(self, step: ProgramStep) -> None:
        for name in step.operations:
            operation = self.program.computation.by_name[name]
            if operation.opcode == "parameter":
                continue
            given = [self.values[one] for one in operation.operands]
            if is_bitcast(self.program.computation, operation):
                self.values[name] = given[0].reshape(operation.array.dims)
            else:
                self.values[name] = value_of(self.program.module, operation, given)

    def _prepared(self, step: ProgramStep) -> PreparedStep:
        if step.phased is not None and step.code:
            for one in step.phased.outputs:
                self.values[one.name] = aligned_array(one.array.dims, one.array.dtype)
            return PreparedStep(StepKind.KERNEL, step.outputs[0], self._compiled(step))
        operations = [self.program.computation.by_name[name] for name in step.operations]
        first = operations[0]
        if operation_class(first) is OperationClass.CONTROL:
            kind = StepKind.CONTROL
        else:
            kind = StepKind.CALL if step.is_call else StepKind.EVALUATED
        if kind is StepKind.CALL and self._is_product(first):
            return PreparedStep(kind, first.name, self._product(first))
        self._evaluate(operations)
        return PreparedStep(kind, step.outputs[0], lambda: self._evaluate(operations))

    def _compiled(self, step: ProgramStep) -> Callable[[], object]:
        assert step.phased is not None
        function = self.program.function(step)
        given = [np.asarray(self.values[one.name], order="C") for one in step.phased.inputs]
        made = [self.values[one.name] for one in step.phased.outputs]
        function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p), None
        pointers = (pointers_of(given), pointers_of(made))

        def run(kept: Sequence[Array] = (*given, *made)) -> None:
            function(*pointers)

        return run

    def _is_product(self, operation: DenseOperation) -> bool:
        given = [self.program.computation.by_name[name].shape for name in operation.operands]
        kinds = [one.element if isinstance(one, TensorShape) else "" for one in given]
        return is_library_product(operation, kinds)

    def _product(self, operation: DenseOperation) -> Callable[[], object]:
        left, right = (self.values[name] for name in operation.operands)
        made = aligned_array(operation.array.dims, operation.array.dtype)
        self.values[operation.name] = made
        return lambda: library_product(operation, left, right, made)

    def _evaluate(self, operations: Sequence[DenseOperation]) -> None:
        """Evaluate operations; the arrays of their values stay where they are."""
        for operation in operations:
            given = [self.values[one] for one in operation.operands]
            made = value_of(self.program.module, operation, given)
            if operation.name not in self.values:
                self.values[operation.name] = _owned(made)
            else:
                _copy(self.values[operation.name], made)


def _owned(value: Any) -> Any:
    """Arrays of its own for a value."""
    if isinstance(value, tuple):
        return tuple(_owned(one) for one in value)
    return np.array(value, order="C")


def _copy(to: Any, value: Any) -> None:
    if isinstance(to, tuple):
        for one, part in zip(to, value, strict=True):
            _copy(one, part)
    else:
        np.copyto(to, value)
