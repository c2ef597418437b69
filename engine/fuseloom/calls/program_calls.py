"""Statements of a program as calls of NumPy, each of which computes some rows of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuseloom.calls.annotated import DataHandle, FunctionCall, annotate
from fuseloom.calls.data_kinds import Array3, ArrayKind, ImageTensor, Matrix, Vector
from fuseloom.calls.pipelines import Array, PipelineCase
from fuseloom.errors import ProgramError
from fuseloom.program import Access, Op, Program, Statement, evaluate
from fuseloom.program.functions import FUNCTIONS
from fuseloom.program.inputs import check_data

TILE = "n"
"""The variable of a call that is the size of its tiles."""
KINDS: Mapping[int, type[ArrayKind]] = {0: Vector, 1: Vector, 2: Matrix, 3: Array3, 4: ImageTensor}
"""The kind of an array by its rank; a number is a vector of length 1."""
_ELEMENTWISE: Mapping[Op, Callable[..., Array]] = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MAXIMUM: np.maximum, Op.DIV: np.divide,
    Op.MUL: np.multiply, Op.SCALE: np.multiply, Op.SHIFT: np.add, Op.AT_LEAST: np.maximum,
}  # fmt: skip


def program_case(program: Program, data: Mapping[str, Any]) -> PipelineCase:
    """Return the statements of a program as calls on data, all arrays dense in float32.

    A call computes rows of its result: a range of its first index, of results with four dimensions
    of the second.  It needs the same range of operands that have this index, and all of the others.
    What joins or reshapes whole arrays is computed whole.  Statements that no output needs are left
    out.

    Parameters
    ----------
    data : mapping
        As :func:`fuseloom.program.inputs.check_data` takes them.

    Returns
    -------
    PipelineCase
        With the result that the program means: of absent elements that count as zeros this is
        another, see :func:`fuseloom.program.completeness.dense_refusal`.

    Raises
    ------
    ProgramError
        If the program has several outputs; of a statement that reads computed places or leaves
        zeros out, or of a tensor of five dimensions or more.
    DataError
        Of data that contradict the program.

    Examples
    --------
    >>> import numpy as np
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 dense\\nB: 4x5 dense\\nT[i,j] = A[i,k] * B[k,j]\\n"
    ...                    "y[i] = max[j] T[i,j]")
    >>> case = program_case(program, {"A": np.ones((8, 4)), "B": np.ones((4, 5))})
    >>> [call.function.name for call in case.calls], float(case.expected[0])
    (['T', 'y'], 4.0)
    """
    if len(program.outputs) != 1:
        raise ProgramError(
            f"calls are composed for one result, here are {len(program.outputs)}: "
            f"{', '.join(program.outputs)}",
            hint="write a program for each",
        )
    stored = check_data(program, data)
    case, handles = PipelineCase(), dict[str, DataHandle]()
    for statement in program.live:
        for access in statement.operands:
            if access.tensor not in handles:
                handles[access.tensor] = _handle(program, access.tensor, statement)
                if program.tensor(access.tensor).made is None:
                    array = stored[access.tensor].to_dense().astype(np.float32)
                    case.given[access.tensor] = np.ascontiguousarray(np.atleast_1d(array))
        name = statement.out.tensor
        handles[name] = _handle(program, name, statement)
        case.calls.append(_call(program, statement, handles))
    (name,) = program.outputs
    case.expected = np.atleast_1d(evaluate(program, stored)[name].dense())
    case.result = np.empty(case.expected.shape, np.float32)
    return case


def _handle(program: Program, name: str, statement: Statement) -> DataHandle:
    tensor = program.tensor(name)
    reason = ""
    if tensor.made is not None:
        reason = f"it reads the places that {name} computes, of which no part is a range"
    elif statement.nonzero:
        reason = "it leaves zeros out"
    elif tensor.rank not in KINDS:
        reason = f"{name} has {tensor.rank} dimensions, arrays of calls at most {max(KINDS)}"
    if reason:
        raise ProgramError(
            f"{statement.out.tensor} is no call: {reason}",
            hint="compute it before the program, or leave it to the dataflow machine",
            line=statement.line,
            column=statement.column,
        )
    return DataHandle(name, KINDS[tensor.rank](np.float32))


def _call(
    program: Program, statement: Statement, handles: Mapping[str, DataHandle]
) -> FunctionCall:
    """A statement as a call of a function that is annotated with the parts it needs."""
    out = statement.out
    parameters = [f"a{number}" for number, _ in enumerate(statement.operands, 1)]
    tiled = ""
    if out.indices and statement.op is not Op.RESHAPE:
        tiled = out.indices[1 if len(out.indices) == max(KINDS) else 0]
    if statement.op is Op.CONCAT and tiled == statement.axis:
        tiled = ""
    needs = ", ".join(
        _part(name, access, program, handles, tiled)
        for name, access in zip(parameters, statement.operands, strict=True)
    )
    produced = _part("out", out, program, handles, tiled)
    text = f"produces {{ {produced} }} when consumes {{ {needs} }}"
    if tiled:
        extent = program.tensor(out.tensor).shape[out.indices.index(tiled)]
        text = f"{TILE}: Symbolic for x in [0, {extent}, {TILE}] {{ {text} }}"
    function = annotate(_computation(statement), text, [*parameters, "out"], out.tensor)
    arguments = [handles[access.tensor] for access in (*statement.operands, out)]
    call = function(*arguments)
    assert isinstance(call, FunctionCall)
    return call


def _part(
    parameter: str,
    access: Access,
    program: Program,
    handles: Mapping[str, DataHandle],
    tiled: str,
) -> str:
    """The part of an array: a range of the tiled index, and all of the others."""
    shape = program.tensor(access.tensor).shape or (1,)
    indices = access.indices or ("",)
    fields = []
    for pair, index, extent in zip(
        handles[access.tensor].kind.dimensions, indices, shape, strict=True
    ):
        start, length = ("x", TILE) if tiled and index == tiled else ("0", str(extent))
        fields.append(f"{pair.start}: {start}, {pair.length}: {length}")
    return f"{parameter} {{ {', '.join(fields)} }}"


@dataclass(frozen=True)
class _Aligner:
    """Arrays of operands with their axes as a space of indices has them."""

    space: tuple[str, ...]

    def of(self, access: Access, array: Array) -> Array:
        """An array with axes of length 1 where it lacks an index."""
        if not access.indices:
            return array.reshape((1,) * len(self.space))
        order = [access.indices.index(x) for x in self.space if x in access.indices]
        missing = tuple(n for n, x in enumerate(self.space) if x not in access.indices)
        return np.expand_dims(array.transpose(order), missing)


def _computation(s: Statement) -> Callable[..., None]:
    """The function of a statement: arrays of its operands, and the array that it writes."""
    if s.op is Op.MUL and s.reduced:
        return _product(s)
    if s.op is Op.CONCAT:
        return _concatenation(s)
    if s.op is Op.RESHAPE:
        return _reshape
    space = (*s.out.indices, *s.reduced)
    aligner, axes = _Aligner(space), tuple(range(len(s.out.indices), len(space)))
    if s.op in (Op.SUM, Op.MAX):
        return _reduction(s, aligner, axes)
    if s.op in FUNCTIONS:
        return _function(s, aligner)
    compute, constant = _ELEMENTWISE[s.op], np.float32(s.constant or 0.0)

    def elementwise(*arrays: Array) -> None:
        *operands, out = arrays
        first, *rest = (aligner.of(a, x) for a, x in zip(s.operands, operands, strict=True))
        target = out if s.out.indices else out.reshape(())
        if axes:
            np.sum(compute(first, *rest), axis=axes, out=target)
            return
        if s.op.takes_constant:
            rest = [np.asarray(constant)]
        for number, other in enumerate(rest):
            compute(target if number else first, other, out=target)

    return elementwise


def _product(s: Statement) -> Callable[..., None]:
    """A sum of products: of two matrices by BLAS."""
    axis = {x: n for n, x in enumerate(s.indices)}
    places = [[axis[x] for x in access.indices] for access in s.operands]
    result = [axis[x] for x in s.out.indices]

    def product(*arrays: Array) -> None:
        *operands, out = arrays
        given: list[Any] = []
        for array, access, place in zip(operands, s.operands, places, strict=True):
            given += [array if access.indices else array.reshape(()), place]
        target = out if s.out.indices else out.reshape(())
        np.einsum(*given, result, out=target, optimize=True)

    return product


def _concatenation(s: Statement) -> Callable[..., None]:
    assert s.axis is not None  # verified
    aligner, along = _Aligner(s.out.indices), s.out.indices.index(s.axis)

    def concatenation(*arrays: Array) -> None:
        *operands, out = arrays
        parts = [aligner.of(a, x) for a, x in zip(s.operands, operands, strict=True)]
        np.concatenate(parts, axis=along, out=out)

    return concatenation


def _reshape(array: Array, out: Array) -> None:
    out[...] = array.reshape(out.shape)


def _reduction(s: Statement, aligner: _Aligner, axes: Sequence[int]) -> Callable[..., None]:
    reduce = np.sum if s.op is Op.SUM else np.max

    def reduction(array: Array, out: Array) -> None:
        target = out if s.out.indices else out.reshape(())
        reduce(aligner.of(s.operands[0], array), axis=tuple(axes), out=target)

    return reduction


def _function(s: Statement, aligner: _Aligner) -> Callable[..., None]:
    exact = FUNCTIONS[s.op].exact

    def function(array: Array, out: Array) -> None:
        target = out if s.out.indices else out.reshape(())
        with np.errstate(all="ignore"):
            target[...] = exact(aligner.of(s.operands[0], array))

    return function
