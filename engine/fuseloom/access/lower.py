"""Terms as loops over buffers, and as machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.access.constructs.construct import Array
from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.loops import LEAST, LoopNests, maximum
from fuseloom.access.meaning import read_data, shapes_of
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term, subterms, tensors
from fuseloom.access.views import (
    ElementView,
    TupleView,
    elements,
    moved,
    of_buffer,
    pairs,
    reshaped,
)
from fuseloom.codegen.compile import FLAGS, Backend, CompiledRoutines, build
from fuseloom.codegen.imperative import BinaryOperation, Real, Routine, every
from fuseloom.errors import LoweringError

MOST_UNROLLED = 16
"""The largest tuples whose elements are multiplied or added."""
SUMS_IN_ANY_ORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
"""Flags that let a compiler use several sums at once; infinities stay what they are."""


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
    return CompiledTerm(term, routines, built, lowering.nests.buffers, lowering.shapes[term])


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
    """Views and loops of the parts of a term."""

    def __init__(self, term: Term) -> None:
        self.term = term
        self.shapes = shapes_of(term)
        self.names = {name: f"r{number}" for number, name in enumerate(tensors(term))}
        self.nests = LoopNests(tuple(self.names.values()))
        self.views: dict[Term, ElementView | TupleView] = {}

    def routines(self) -> tuple[Routine, ...]:
        """All loops; the last buffer is the term's value."""
        for part in subterms(self.term):
            self.views[part] = self._view(part)
        view = self.nests.plain(self.views[self.term])
        if not self.nests.buffers or view.buffer != list(self.nests.buffers)[-1]:
            self.nests.filled([view], view.dims, 0)
        return self.nests.routines()

    def _view(self, part: Term) -> ElementView | TupleView:
        dims = self.shapes[part].dims
        operands = [self.views[x] for x in part.operands]
        attributes: tuple[Any, ...] = part.attributes
        match part.construct:
            case "tensor":
                return of_buffer(self.names[str(attributes[0])], dims)
            case "literal":
                return ElementView((), lambda _: Real(float(attributes[0])))
            case "access":
                return operands[0]
            case "pair":
                views = tuple(map(self.nests.plain, operands))
                return TupleView(len(self.shapes[part].access), views)
            case "compute":
                return self._computed(part, operands[0], attributes[0])
        plain = list(map(self.nests.plain, operands))
        match part.construct:
            case "cartProd":
                return pairs(plain[0], plain[1], *(self.shapes[x] for x in part.operands))
            case "concat":
                return self.nests.filled(plain, dims, attributes[0])
            case "pad":
                filling, number, before, _ = attributes
                value = Real(0.0) if filling == "zero" else LEAST
                return self.nests.padded(plain[0], dims, number, before, value)
            case "flatten" | "reshape":
                return reshaped(plain[0], dims) or self._copied(plain[0], dims)
            case construct if construct == SYSTOLIC_ARRAY:
                return self._multiplied(plain, dims, attributes[0])
        return moved(part, plain[0], dims, self.shapes[part.operands[0]])

    def _copied(self, view: ElementView, dims: Dims) -> ElementView:
        """The elements of a view, in order, in a buffer of other dimensions."""
        return of_buffer(self.nests.filled([view], view.dims, 0).buffer, dims)

    def _computed(self, part: Term, operand: ElementView | TupleView, operator: str) -> ElementView:
        shape = self.shapes[part.operands[0]]
        access, compute = shape.access, shape.compute
        if operator in ("reduceSum", "reduceMax"):
            largest = operator == "reduceMax"
            if isinstance(operand, TupleView) and operand.axis == len(access):
                return self.nests.reduced(operand.parts, access, largest=largest)
            return self.nests.reduced([self.nests.plain(operand)], access, largest=largest)
        if operator == "relu":
            view = self.nests.plain(operand)
            kept = ElementView(shape.dims, lambda x: maximum(view.read(x), Real(0.0)))
            return self.nests.filled([kept], shape.dims, 0)
        if operator == "softmax":
            raise LoweringError(
                "softmax takes powers of e, which compiled terms do not have",
                hint="compile the parts before and after it",
            )
        parts = self._elements(operand, len(access), compute[0])
        op = "+" if operator == "elementwiseAdd" else "*"
        rest = (*access, *compute[1:])
        whole = ElementView(rest, lambda x: every(op, [v.read(x) for v in parts]))
        if operator == DOT_PRODUCT:
            return self.nests.reduced([whole], access, largest=False)
        return self.nests.filled([whole], whole.dims, 0)

    def _elements(
        self, operand: ElementView | TupleView, axis: int, count: int
    ) -> Sequence[ElementView]:
        """Views of the elements of tuples that a dimension numbers."""
        if isinstance(operand, TupleView) and operand.axis == axis:
            return operand.parts
        view = self.nests.plain(operand)
        if count > MOST_UNROLLED:
            raise LoweringError(
                f"a tuple of {count} elements is not unrolled",
                hint=f"compiled tuples have at most {MOST_UNROLLED}",
            )
        return elements(view, axis)

    def _multiplied(self, operands: Sequence[ElementView], dims: Dims, rows: int) -> ElementView:
        vectors, weights = operands
        product = ElementView(
            (*dims, rows),
            lambda x: BinaryOperation("*", vectors.read([x[0], x[2]]), weights.read([x[2], x[1]])),
        )
        return self.nests.reduced([product], dims, largest=False)
