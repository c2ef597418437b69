"""Statements of a program as calls of NumPy, each of which computes some rows of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fuseloom.calls.annotated import DataHandle, FunctionCall, annotate
from fuseloom.calls.data_kinds import Array3, ArrayKind, ImageTensor, Matrix, Vector
from fuseloom.calls.pipelines import Array, PipelineCase
from fuseloom.errors import ProgramError
from fuseloom.program import Access, Op, Program, Statement, evaluate
from fuseloom.program.functions import FUNCTIONS
from fuseloom.program.inputs import check_data
from fuseloom.program.sparse_reference import Evaluated
from fuseloom.program.windows import (
    Extents,
    IndexPlaces,
    IndexSum,
    WindowView,
    check_windows,
    index_places,
    is_inside,
)

TILE = "n"
"""The variable of a call that is the size of its tiles."""
KINDS: Mapping[int, type[ArrayKind]] = {0: Vector, 1: Vector, 2: Matrix, 3: Array3, 4: ImageTensor}
"""The kind of an array by its rank; a number is a vector of length 1."""
_ELEMENTWISE: Mapping[Op, Callable[..., Array]] = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MAXIMUM: np.maximum, Op.DIV: np.divide,
    Op.MUL: np.multiply, Op.SCALE: np.multiply, Op.SHIFT: np.add, Op.AT_LEAST: np.maximum,
}  # fmt: skip


def program_case(
    program: Program, data: Mapping[str, Any], reference: Evaluated | None = None
) -> PipelineCase:
    """Return the statements of a program as calls on data, all arrays dense in float32.

    A call computes rows of its result: a range of its first index, of results with four dimensions
    of the second.  It needs the same range of operands that have this index, with the rest of the
    windows where they are read at sums of indices, and all of the others.  What joins or reshapes
    whole arrays is computed whole.  Statements that no output needs, or that only read windows, are
    no calls.

    Parameters
    ----------
    data : mapping
        As :func:`fuseloom.program.inputs.check_data` takes them.
    reference : Evaluated, optional
        What the program means, if it was computed before.

    Returns
    -------
    PipelineCase
        With the result that the program means: of absent elements that count as zeros this is
        another, see :func:`fuseloom.program.completeness.dense_refusal`.

    Raises
    ------
    ProgramError
        If the program has several outputs; of a statement that reads windows beyond a tensor or
        other computed places, or leaves zeros out, or of a tensor of five dimensions or more.
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
    stored = check_data(program, data)
    case = PipelineCase(calls_of_program(program), program=program)
    for handle in (handle for call in case.calls for handle in call.inputs):
        if handle.name in stored and handle.name not in case.given:
            array = stored[handle.name].to_dense().astype(np.float32)
            case.given[handle.name] = np.ascontiguousarray(np.atleast_1d(array))
    (name,) = program.outputs
    meaning = evaluate(program, stored) if reference is None else reference
    case.expected = np.atleast_1d(meaning[name].dense())
    case.result = np.empty(case.expected.shape, np.float32)
    return case


def calls_of_program(program: Program) -> list[FunctionCall]:
    """Return the statements of a program as calls, without data.

    Raises
    ------
    ProgramError
        As :func:`program_case` does.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("x: 10 dense\\nw: 3 dense\\nc[i] = x[i+k] * w[k]\\ny[i] = relu(c[i])")
    >>> [call.output.name for call in calls_of_program(program)]
    ['c', 'y']
    """
    if len(program.outputs) != 1:
        raise ProgramError(
            f"calls are composed for one result, here are {len(program.outputs)}: "
            f"{', '.join(program.outputs)}",
            hint="write a program for each",
        )
    reader, calls = _CallReader(program), []
    live = {statement.out.tensor for statement in program.live}
    for statement, extents in zip(program.statements, program.extents, strict=True):
        if statement.out.tensor in live and not reader.only_reads(statement, extents):
            views = reader.operands(statement, extents)
            calls.append(_call(reader, statement, views, extents))
    return calls


@dataclass
class _CallReader:
    """Reads one statement after another.

    Attributes
    ----------
    windows : dict
        What statements assign that only read another tensor: its indices, and where they read.
    handles : dict
        The arrays that calls read and write.
    """

    program: Program
    windows: dict[str, tuple[tuple[str, ...], WindowView]] = field(default_factory=dict)
    handles: dict[str, DataHandle] = field(default_factory=dict)

    def only_reads(self, statement: Statement, extents: Extents) -> bool:
        """Note a statement whose result is another tensor at sums of indices."""
        made = [self.program.tensor(x.tensor).made for x in statement.operands]
        if statement.op is not Op.MUL or all(x is None for x in made) or statement.nonzero:
            return False
        views = self.operands(statement, extents)
        out = statement.out
        if len(views) != 1 or views[0].indices != {*out.indices}:
            return False
        if out.tensor in self.program.outputs:
            raise self.refused(statement, "it is the result, and only reads windows")
        self.windows[out.tensor] = out.indices, views[0]
        return True

    def operands(self, statement: Statement, extents: Extents) -> list[WindowView]:
        """The tensors that a statement reads, each at sums of indices.

        Raises
        ------
        ProgramError
            Of other places, and of windows that reach beyond a tensor.
        """
        if statement.nonzero:
            raise self.refused(statement, "it leaves zeros out")
        try:
            places = index_places(statement, extents, self.program)
            views = [self._view(access, places) for access in places.operands]
            check_windows(views, extents)
        except ProgramError as error:
            raise self.refused(statement, error.message) from None
        beyond = next((x.tensor for x in views if not is_inside(x, extents)), None)
        if beyond is not None and statement.op is not Op.CONCAT:  # whose extents add up
            raise self.refused(statement, f"windows reach beyond {beyond}")
        for name in (*(view.tensor for view in views), statement.out.tensor):
            self._take(name, statement)
        return views

    def _view(self, access: Access, places: IndexPlaces) -> WindowView:
        at = [places.places.get(x, IndexSum.index(x)) for x in access.indices]
        if access.tensor in self.windows:
            indices, view = self.windows[access.tensor]
            return view.read(access.tensor, dict(zip(indices, at, strict=True)))
        return WindowView(access.tensor, self.program.tensor(access.tensor).shape, tuple(at))

    def _take(self, name: str, statement: Statement) -> None:
        rank = self.program.tensor(name).rank
        if name in self.handles or name in self.windows:
            return
        if rank in KINDS:
            self.handles[name] = DataHandle(name, KINDS[rank](np.float32))
        elif name != statement.out.tensor or not self._has_made(statement):
            raise self.refused(
                statement, f"{name} has {rank} dimensions, arrays of calls at most {max(KINDS)}"
            )

    def _has_made(self, statement: Statement) -> bool:
        return any(self.program.tensor(x.tensor).made for x in statement.operands)

    def refused(self, statement: Statement, reason: str) -> ProgramError:
        """The refusal of a statement, with its place."""
        return ProgramError(
            f"{statement.out.tensor} is no call: {reason}",
            hint="compute it before the program, or leave it to the dataflow machine",
            line=statement.line,
            column=statement.column,
        )


def _call(
    reader: _CallReader, statement: Statement, views: Sequence[WindowView], extents: Extents
) -> FunctionCall:
    """A statement as a call of a function that is annotated with the parts it needs."""
    out = statement.out
    parameters = [f"a{number}" for number, _ in enumerate(views, 1)]
    tiled = ""
    if out.indices and statement.op is not Op.RESHAPE:
        tiled = out.indices[1 if len(out.indices) == max(KINDS) else 0]
    if statement.op is Op.CONCAT and tiled == statement.axis:
        tiled = ""
    whole = WindowView(
        out.tensor, reader.program.tensor(out.tensor).shape, tuple(map(IndexSum.index, out.indices))
    )
    handles = reader.handles
    if any(place.offset and tiled in place.names for view in views for place in view.places):
        raise reader.refused(statement, f"windows along {tiled} begin behind the first element")
    needs = ", ".join(
        _part(name, view, handles[view.tensor], tiled, extents)
        for name, view in zip(parameters, views, strict=True)
    )
    produced = _part("out", whole, handles[out.tensor], tiled, extents)
    text = f"produces {{ {produced} }} when consumes {{ {needs} }}"
    if tiled:
        text = f"{TILE}: Symbolic for x in [0, {extents[tiled]}, {TILE}] {{ {text} }}"
    computed = _computation(_named(statement, views))
    function = annotate(
        _of_parts(computed, views, out, tiled, extents), text, [*parameters, "out"], out.tensor
    )
    call = function(*(handles[view.tensor] for view in views), handles[out.tensor])
    assert isinstance(call, FunctionCall)
    return call


def _part(
    parameter: str, view: WindowView, handle: DataHandle, tiled: str, extents: Extents
) -> str:
    """The part of an array: what a range of the tiled index reads, and all of the others."""
    shape, places = view.shape or (1,), view.places or (IndexSum((), 0),)
    fields = []
    for pair, place, extent in zip(handle.kind.dimensions, places, shape, strict=True):
        factor = dict(place.terms).get(tiled, 0) if tiled else 0
        start, length = "0", str(extent)
        if factor:
            rest = IndexSum(tuple(x for x in place.terms if x[0] != tiled), place.offset)
            start = f"{factor} * x"
            length = f"{factor} * {TILE} + {rest.bounds(extents)[1] + 1} - {factor}"
        fields.append(f"{pair.start}: {start}, {pair.length}: {length}")
    return f"{parameter} {{ {', '.join(fields)} }}"


def _named(statement: Statement, views: Sequence[WindowView]) -> Statement:
    """The statement with operands that have an index of their own for each term of a sum."""
    operands = tuple(
        Access(view.tensor, tuple(x for place in view.places for x in place.names))
        for view in views
    )
    return replace(statement, operands=operands)


def _of_parts(
    compute: Callable[..., None],
    views: Sequence[WindowView],
    out: Access,
    tiled: str,
    extents: Extents,
) -> Callable[..., None]:
    """A function of parts of arrays, whose windows become dimensions of their own."""
    if all(place == IndexSum(place.terms[:1]) and dict(place.terms).get(place.names[0]) == 1
           for view in views for place in view.places):  # fmt: skip
        return compute
    at = out.indices.index(tiled) if tiled else 0

    def function(*arrays: Array) -> None:
        *operands, result = arrays
        sizes = {**extents, tiled: result.shape[at]} if tiled else extents
        windows = (
            _windows(array, view, tiled, sizes) for array, view in zip(operands, views, strict=True)
        )
        compute(*windows, result)

    return function


def _windows(array: Array, view: WindowView, tiled: str, extents: Extents) -> Array:
    """An array with a dimension for each term of the sums at which it is read."""
    starts, shape, strides = [], [], []
    for place, stride in zip(view.places, array.strides, strict=True):
        is_range = bool(tiled) and tiled in place.names  # which begins with what is read first
        starts.append(slice(0 if is_range else place.offset, None))
        for name, factor in place.terms:
            shape.append(extents[name])
            strides.append(factor * stride)
    return np.lib.stride_tricks.as_strided(array[tuple(starts)], shape, strides, writeable=False)


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
