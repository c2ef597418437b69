"""Terms as loops over buffers, and as machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.access.constructs.construct import Array
from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.meaning import read_data, require_room, shapes_of
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term, subterms, tensors
from fuseloom.codegen.compile import FLAGS, Backend, CompiledRoutines, build
from fuseloom.codegen.imperative import (
    ArrayParameter,
    BinaryOperation,
    Command,
    ElementAccess,
    Expr,
    For,
    Increase,
    Int,
    Put,
    Real,
    Routine,
    Set,
    Var,
    every,
)
from fuseloom.errors import LoweringError

MOST_UNROLLED = 16
"""The largest tuples whose elements are multiplied or added."""
TOGETHER = 8
"""Nests of loops in a routine."""
SUMS_IN_ANY_ORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
"""Flags that let a compiler use several sums at once; infinities stay what they are."""
SUM = "total"
LEAST = BinaryOperation("*", Real(-1e308), Real(10.0))
"""Minus infinity."""

Read: TypeAlias = Callable[[Sequence[Expr]], Expr]


@dataclass(frozen=True)
class ElementView:
    """Elements of an access pattern, as expressions of their indices.

    Attributes
    ----------
    dims : tuple of int
    read : callable
        Indices to the element.
    buffer : str
        The array whose elements these are, in order; empty of others.
    """

    dims: Dims
    read: Read
    buffer: str = ""


@dataclass(frozen=True)
class TupleView:
    """Tuples of elements of several patterns.

    Attributes
    ----------
    axis : int
        The dimension that numbers the patterns.
    parts : tuple of ElementView
        The patterns; their dimensions are those of the tuples without that one.
    """

    axis: int
    parts: tuple[ElementView, ...]


@dataclass(frozen=True)
class CompiledTerm:
    """A term as machine code.

    Attributes
    ----------
    term : Term
    routines : tuple of Routine
        Its parts, in order.
    built : CompiledRoutines
    buffers : mapping
        Arrays that it needs beside the tensors, and their elements; the last is the result.
    shape : AccessShape
        Of the result.
    """

    term: Term
    routines: tuple[Routine, ...]
    built: CompiledRoutines
    buffers: Mapping[str, int]
    shape: AccessShape

    def __call__(self, data: Mapping[str, npt.ArrayLike]) -> Array:
        """The value of the term.

        Raises
        ------
        DataError
            As :func:`fuseloom.access.meaning.evaluate`.
        """
        given = read_data(tensors(self.term), data).values()
        arrays: dict[str, npt.NDArray[Any]] = {
            f"r{number}": np.ascontiguousarray(array).ravel() for number, array in enumerate(given)
        }
        arrays |= {name: np.empty(count) for name, count in self.buffers.items()}
        sizes = np.zeros(1, dtype=np.int64)
        for routine, call in zip(self.routines, self.built.calls, strict=True):
            call(sizes, [arrays[array.name] for array in routine.arrays])
        return arrays[list(self.buffers)[-1]].reshape(self.shape.dims)


def compile_term(term: Term, backend: Backend | None = None) -> CompiledTerm:
    """Compile a term.

    Parameters
    ----------
    backend : Backend, optional
        By default C, and Numba where no compiler is found.

    Raises
    ------
    ShapeError
        If operands do not fit their construct.
    LoweringError
        If the term has powers of e, or tuples of more than 16 elements.
    DataError
        If a buffer would take too much memory.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> compile_term(matmul(2, 2, 1))({"activations": [[1, 2], [3, 4]], "weights": [[1], [1]]})
    array([[3.],
           [7.]])
    """
    lowering = _Lowering(term)
    routines = lowering.routines()
    built = build(routines, backend, (*FLAGS, *SUMS_IN_ANY_ORDER))
    return CompiledTerm(term, routines, built, lowering.buffers, lowering.shapes[term])


def lower_term(term: Term) -> tuple[Routine, ...]:
    """A term as routines, one after the other, on its tensors (r0, r1, ...) and further buffers.

    Raises
    ------
    ShapeError, LoweringError, DataError
        As :func:`compile_term`.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> [array.name for array in lower_term(matmul(2, 2, 1))[0].arrays]
    ['r0', 'r1', 'r2']
    """
    return _Lowering(term).routines()


class _Lowering:
    """Buffers and loops of a term."""

    def __init__(self, term: Term) -> None:
        self.term = term
        self.shapes = shapes_of(term)
        self.names = {name: f"r{number}" for number, name in enumerate(tensors(term))}
        self.buffers: dict[str, int] = {}
        self.body: list[Command] = []
        self.views: dict[Term, ElementView | TupleView] = {}
        self.loops = 0

    def routines(self) -> tuple[Routine, ...]:
        """All loops, some per routine: compilers take long for long ones."""
        for part in subterms(self.term):
            self.views[part] = self._view(part)
        view = self._plain(self.views[self.term])
        if not self.buffers or view.buffer != list(self.buffers)[-1]:
            self._filled([view], view.dims, 0)
        parts = [self.body[k : k + TOGETHER] for k in range(0, len(self.body), TOGETHER)]
        return tuple(self._routine(tuple(part)) for part in parts)

    def _routine(self, body: tuple[Command, ...]) -> Routine:
        used = _arrays(body)
        arrays = [
            ArrayParameter(name, True, name in self.buffers)
            for name in (*self.names.values(), *self.buffers)
            if name in used
        ]
        return Routine((), tuple(arrays), (SUM,), body)

    def _view(self, part: Term) -> ElementView | TupleView:
        dims = self.shapes[part].dims
        operands = [self.views[x] for x in part.operands]
        attributes: tuple[Any, ...] = part.attributes
        match part.construct:
            case "tensor":
                return _of_buffer(self.names[str(attributes[0])], dims)
            case "literal":
                return ElementView((), lambda _: Real(float(attributes[0])))
            case "access":
                return operands[0]
            case "cartProd":
                return self._product(part, operands)
            case "pair":
                views = tuple(map(self._plain, operands))
                return TupleView(len(self.shapes[part].access), views)
            case "concat":
                return self._filled([self._plain(x) for x in operands], dims, attributes[0])
            case "pad":
                return self._padded(self._plain(operands[0]), dims, attributes)
            case "compute":
                return self._computed(part, operands[0], attributes[0])
            case "flatten" | "reshape":
                return self._reshaped(self._plain(operands[0]), dims)
            case construct if construct == SYSTOLIC_ARRAY:
                return self._multiplied([self._plain(x) for x in operands], dims, attributes[0])
        return _moved(part, self._plain(operands[0]), dims, self.shapes[part.operands[0]])

    def _buffer(self, dims: Dims) -> str:
        require_room("a buffer", prod(dims))
        name = f"r{len(self.names) + len(self.buffers)}"
        self.buffers[name] = max(prod(dims), 1)
        return name

    def _loops(self, dims: Dims, body: Callable[[list[Expr]], list[Command]]) -> list[Command]:
        """Commands in loops over all indices; an extent of 1 needs none."""
        indices: list[Expr] = []
        names: list[tuple[str, int]] = []
        for extent in dims:
            if extent == 1:
                indices.append(Int(0))
                continue
            names.append((f"v{self.loops}", extent))
            indices.append(Var(names[-1][0]))
            self.loops += 1
        commands = body(indices)
        for name, extent in reversed(names):
            commands = [For(name, Int(0), Int(extent), tuple(commands))]
        return commands

    def _plain(self, view: ElementView | TupleView) -> ElementView:
        """A view that is read by indices: tuples are copied."""
        if isinstance(view, ElementView):
            return view
        rest = view.parts[0].dims
        dims = (*rest[: view.axis], len(view.parts), *rest[view.axis :])
        name = self._buffer(dims)
        for number, part in enumerate(view.parts):

            def put(
                indices: list[Expr], part: ElementView = part, number: int = number
            ) -> list[Command]:
                places = [*indices[: view.axis], Int(number), *indices[view.axis :]]
                return [Put(name, _offset(places, dims), part.read(indices))]

            self.body += self._loops(rest, put)
        return _of_buffer(name, dims)

    def _filled(self, views: Sequence[ElementView], dims: Dims, number: int) -> ElementView:
        """Views one after the other along a dimension, in a buffer of their own."""
        name = self._buffer(dims)
        start = 0
        for view in views:

            def put(
                indices: list[Expr], view: ElementView = view, low: int = start
            ) -> list[Command]:
                places = [_plus(x, low * (k == number)) for k, x in enumerate(indices)]
                return [Put(name, _offset(places, dims), view.read(indices))]

            self.body += self._loops(view.dims, put)
            start += view.dims[number] if view.dims else 0
        return _of_buffer(name, dims)

    def _product(self, part: Term, operands: Sequence[ElementView | TupleView]) -> TupleView:
        left, right = (self.shapes[x] for x in part.operands)
        first, second = map(self._plain, operands)
        a, b = len(left.access), len(right.access)
        dims = (*left.access, *right.access, *left.compute)
        return TupleView(
            a + b,
            (
                ElementView(dims, lambda x: first.read([*x[:a], *x[a + b :]])),
                ElementView(dims, lambda x: second.read([*x[a : a + b], *x[a + b :]])),
            ),
        )

    def _padded(self, view: ElementView, dims: Dims, attributes: tuple[Any, ...]) -> ElementView:
        filling, number, before, _ = attributes
        name = self._buffer(dims)
        value = Real(0.0) if filling == "zero" else LEAST
        self.body += self._loops(dims, lambda x: [Put(name, _offset(x, dims), value)])

        def put(indices: list[Expr]) -> list[Command]:
            places = [_plus(x, before * (k == number)) for k, x in enumerate(indices)]
            return [Put(name, _offset(places, dims), view.read(indices))]

        self.body += self._loops(view.dims, put)
        return _of_buffer(name, dims)

    def _reshaped(self, view: ElementView, dims: Dims) -> ElementView:
        if view.buffer:
            return _of_buffer(view.buffer, dims)
        if [x for x in view.dims if x > 1] == [x for x in dims if x > 1]:
            large = [k for k, extent in enumerate(dims) if extent > 1]

            def read(indices: Sequence[Expr]) -> Expr:
                given = iter([indices[k] for k in large])
                return view.read([next(given) if x > 1 else Int(0) for x in view.dims])

            return ElementView(dims, read)
        return _of_buffer(self._filled([view], view.dims, 0).buffer, dims)

    def _computed(self, part: Term, operand: ElementView | TupleView, operator: str) -> ElementView:
        shape = self.shapes[part.operands[0]]
        access, compute = shape.access, shape.compute
        if operator in ("reduceSum", "reduceMax"):
            if isinstance(operand, TupleView) and operand.axis == len(access):
                return self._reduced(operand.parts, access, operator == "reduceMax")
            return self._reduced([self._plain(operand)], access, operator == "reduceMax")
        if operator == "relu":
            view = self._plain(operand)
            kept = ElementView(shape.dims, lambda x: _max(view.read(x), Real(0.0)))
            return self._filled([kept], shape.dims, 0)
        if operator == "softmax":
            raise LoweringError(
                "softmax takes powers of e, which compiled terms do not have",
                hint="compile the parts before and after it",
            )
        parts = self._elements(operand, len(access), compute)
        op = "+" if operator == "elementwiseAdd" else "*"
        rest = (*access, *compute[1:])
        whole = ElementView(rest, lambda x: every(op, [v.read(x) for v in parts]))
        if operator == DOT_PRODUCT:
            return self._reduced([whole], access, False)
        return self._filled([whole], whole.dims, 0)

    def _elements(
        self, operand: ElementView | TupleView, axis: int, compute: Dims
    ) -> list[ElementView]:
        """Views of the elements of the tuples that the first compute dimension numbers."""
        if isinstance(operand, TupleView) and operand.axis == axis:
            return list(operand.parts)
        view = self._plain(operand)
        rest = (*view.dims[:axis], *view.dims[axis + 1 :])
        if compute[0] > MOST_UNROLLED:
            raise LoweringError(
                f"a tuple of {compute[0]} elements is not unrolled",
                hint=f"compiled tuples have at most {MOST_UNROLLED}",
            )

        def element(number: int) -> ElementView:
            return ElementView(rest, lambda x: view.read([*x[:axis], Int(number), *x[axis:]]))

        return [element(number) for number in range(compute[0])]

    def _reduced(self, views: Sequence[ElementView], access: Dims, largest: bool) -> ElementView:
        """Sums, or largest values, over all but the access dimensions of several views."""
        name = self._buffer(access)

        def position(outer: list[Expr]) -> list[Command]:
            commands: list[Command] = [Set(SUM, LEAST if largest else Real(0.0))]
            for view in views:

                def add(inner: list[Expr], view: ElementView = view) -> list[Command]:
                    value = view.read([*outer, *inner])
                    if largest:
                        return [Set(SUM, _max(Var(SUM), value))]
                    return [Increase(SUM, value)]

                commands += self._loops(view.dims[len(access) :], add)
            return [*commands, Put(name, _offset(outer, access), Var(SUM))]

        self.body += self._loops(access, position)
        return _of_buffer(name, access)

    def _multiplied(self, operands: Sequence[ElementView], dims: Dims, rows: int) -> ElementView:
        vectors, weights = operands
        product = ElementView(
            (*dims, rows),
            lambda x: BinaryOperation("*", vectors.read([x[0], x[2]]), weights.read([x[2], x[1]])),
        )
        return self._reduced([product], dims, False)


def _moved(part: Term, view: ElementView, dims: Dims, shape: AccessShape) -> ElementView:
    """A view whose indices are moved, without a copy."""
    given: tuple[Any, ...] = part.attributes

    def read(x: Sequence[Expr]) -> list[Expr]:
        match part.construct:
            case "transpose":
                return [x[given[0].index(k)] for k in range(len(x))]
            case "windows":
                first, count = len(shape.access), len(given[0])
                places, within = x[first : first + count], x[first + count :]
                moved = [
                    _add(_times(place, stride), offset)
                    for place, offset, stride in zip(places, within, given[1], strict=True)
                ]
                return [*x[:first], *moved]
            case "slice":
                return [_plus(i, given[1] * (k == given[0])) for k, i in enumerate(x)]
            case "box":
                return [_plus(i, low) for i, low in zip(x, given[0], strict=True)]
            case "squeeze":
                return [*x[: given[0]], Int(0), *x[given[0] :]]
            case "insert-axis":
                return [*x[: given[0]], *x[given[0] + 1 :]]
            case "broadcast":
                return [Int(0) if n == 1 else i for i, n in zip(x, shape.dims, strict=True)]
        raise LoweringError(f"{part.construct} is not compiled")

    return ElementView(dims, lambda x: view.read(read(x)))


def _arrays(command: Any) -> set[str]:
    """Names of the arrays that commands and expressions touch."""
    if isinstance(command, tuple):
        return set().union(*map(_arrays, command))
    if not is_dataclass(command):
        return set()
    own = {command.array} if isinstance(command, ElementAccess | Put) else set()
    return own.union(*(_arrays(getattr(command, field.name)) for field in fields(command)))


def _of_buffer(name: str, dims: Dims) -> ElementView:
    return ElementView(dims, lambda x: ElementAccess(name, _offset(x, dims)), name)


def _offset(indices: Sequence[Expr], dims: Dims) -> Expr:
    """The place of an element in a buffer."""
    place: Expr = Int(0)
    for index, extent in zip(indices, dims, strict=True):
        place = _add(_times(place, extent), index)
    return place


def _times(expr: Expr, count: int) -> Expr:
    if isinstance(expr, Int):
        return Int(expr.value * count)
    return expr if count == 1 else BinaryOperation("*", expr, Int(count))


def _plus(expr: Expr, count: int) -> Expr:
    return _add(expr, Int(count))


def _add(left: Expr, right: Expr) -> Expr:
    match left, right:
        case Int(a), Int(b):
            return Int(a + b)
        case Int(0), _:
            return right
        case _, Int(0):
            return left
    return BinaryOperation("+", left, right)


def _max(left: Expr, right: Expr) -> Expr:
    return BinaryOperation("max", left, right)
