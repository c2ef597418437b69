"""Terms as loops over buffers, and as machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.access.constructs.construct import Array
from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.loops import LEAST, LoopNests, ResultPlace, maximum
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
    part_of,
    reshaped,
    widened,
)
from fuseloom.codegen.compile import FLAGS, Backend, CompiledRoutines, build
from fuseloom.codegen.imperative import Int, Real, Routine, every
from fuseloom.errors import LoweringError

MOST_UNROLLED = 16
"""The largest tuples whose elements are multiplied or added."""
SUMS_IN_ANY_ORDER = (
    "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-ffp-contract=fast",
)  # fmt: skip
"""Flags that let a compiler use several sums at once, and round a product and a sum once only;
infinities stay what they are."""
MADE = ("concat", "pad", "compute", SYSTOLIC_ARRAY)
"""Constructs whose results are computed or copied; the others only move indices."""
FLOAT64 = np.dtype(np.float64)
Run = Callable[..., None]


@dataclass(frozen=True)
class CompiledTerm:
    """A term as machine code.

    It may be called from several threads at once: each call takes buffers that no other one uses,
    which later calls use again.

    Attributes
    ----------
    term : Term
    routines : tuple of Routine
        Its parts, in order.
    built : CompiledRoutines
    buffers : mapping
        Arrays that it needs beside the tensors, and their elements; the first is the result.
    shape : AccessShape
        Of the result.
    """

    term: Term
    routines: tuple[Routine, ...]
    built: CompiledRoutines
    buffers: Mapping[str, int]
    shape: AccessShape
    _free: list[Run] = field(default_factory=list, init=False, repr=False, compare=False)

    @cached_property
    def _given(self) -> tuple[tuple[str, Dims], ...]:
        return tuple(tensors(self.term).items())

    @cached_property
    def _dims(self) -> Dims:
        return self.shape.dims

    def __call__(self, data: Mapping[str, npt.ArrayLike]) -> Array:
        """The value of the term.

        Raises
        ------
        DataError
            As :func:`fuseloom.access.meaning.evaluate`.
        """
        given = []
        for name, dims in self._given:
            array = data.get(name)
            if not (  # as machine code reads it
                type(array) is np.ndarray
                and array.dtype == FLOAT64
                and array.shape == dims
                and array.flags.carray
            ):
                array = np.ascontiguousarray(read_data({name: dims}, data)[name])
            given.append(array)
        result = np.empty(self._dims)
        try:
            run = self._free.pop()
        except IndexError:
            run = self._bound()
        run(*given, result)
        self._free.append(run)
        return result

    def _bound(self) -> Run:
        """The machine code with buffers of its own."""
        assert self.built.bind is not None
        kept = [np.empty(count) for count in list(self.buffers.values())[1:]]
        return self.built.bind(np.zeros(1, dtype=np.int64), len(self._given) + 1, kept)


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
    buffers = lowering.nests.buffers
    names = (*lowering.names.values(), *buffers)
    built = build(routines, backend, (*FLAGS, *SUMS_IN_ANY_ORDER), names)
    return CompiledTerm(term, routines, built, buffers, lowering.shapes[term])


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
    """Views and loops of the parts of a term.

    What is used once, and whose elements its user would only copy or add, is computed where they
    belong: such parts have targets.
    """

    def __init__(self, term: Term) -> None:
        self.term = term
        self.shapes = shapes_of(term)
        self.names = {name: f"r{number}" for number, name in enumerate(tensors(term))}
        self.nests = LoopNests(tuple(self.names.values()))
        self.views: dict[Term, ElementView | TupleView] = {}
        self.parts = tuple(subterms(term))
        self.uses: dict[Term, int] = {}
        for part in self.parts:
            for operand in part.operands:
                self.uses[operand] = self.uses.get(operand, 0) + 1
        self.targets: dict[Term, ResultPlace] = {}
        self.copies: dict[Term, ElementView] = {}

    def routines(self) -> tuple[Routine, ...]:
        """All loops; the first buffer is the term's value."""
        self.targets[self.term] = ResultPlace(self.nests.buffer(self.shapes[self.term].dims))
        self._choose_targets()
        for part in self.parts:
            target = self.targets.get(part)
            view = self._view(part, target)
            if target is not None and view is not target.view:
                self.nests.put(self.nests.plain(view) if isinstance(view, TupleView) else view,
                               target)  # fmt: skip
                view = target.view
            self.views[part] = view
        return self.nests.routines()

    def _choose_targets(self) -> None:
        made: dict[Term, bool] = {}
        for part in self.parts:
            made[part] = part.construct in MADE or any(made[x] for x in part.operands)
        for part in reversed(self.parts):
            target = self.targets.get(part)
            if target is None:
                continue
            operands = [
                (operand, place)
                for operand, place in self._places(part, target)
                if place is not None and self.uses[operand] == 1 and made[operand]
            ]
            later = target.add
            for operand, place in operands:
                self.targets[operand] = ResultPlace(place, later)
                later = later or part.construct == "compute"
            if operands and part.construct == "pad":
                self.nests.put(self._filling(part), target)

    def _places(self, part: Term, target: ResultPlace) -> list[tuple[Term, ElementView | None]]:
        """Operands whose elements a part would only put in its place or add, and that place."""
        view, attributes = target.view, part.attributes
        given: tuple[Any, ...] = attributes
        operands = part.operands
        dims = [self.shapes[x].dims for x in operands]
        match part.construct:
            case "access":
                return [(operands[0], view)]
            case "flatten" | "reshape" if not view.groups:
                return [(operands[0], reshaped(view, dims[0]))]
            case "concat":
                starts = [sum(d[given[0]] for d in dims[:k]) for k in range(len(dims))]
                return [
                    (operand, part_of(view, d, given[0], start))
                    for operand, d, start in zip(operands, dims, starts, strict=True)
                ]
            case "compute" if self._adds_a_pair(part):
                return [(x, view) for x in operands[0].operands]
        if view.groups:
            return []
        match part.construct:
            case "transpose":
                return [(operands[0], ElementView(
                    dims[0], lambda x: view.read([x[k] for k in given[0]])))]  # fmt: skip
            case "squeeze":
                return [(operands[0], ElementView(
                    dims[0], lambda x: view.read([*x[: given[0]], *x[given[0] + 1 :]])
                ))]  # fmt: skip
            case "insert-axis":
                return [(operands[0], ElementView(
                    dims[0], lambda x: view.read([*x[: given[0]], Int(0), *x[given[0] :]])
                ))]  # fmt: skip
            case "pad" if not target.add:
                return [(operands[0], part_of(view, dims[0], given[1], given[2]))]
        return []

    def _adds_a_pair(self, part: Term) -> bool:
        """Tell if a part is the sum of two, element by element."""
        pair = part.operands[0]
        if pair.construct != "pair" or self.uses[pair] > 1:
            return False
        operator = part.attributes[0]
        alone = len(self.shapes[pair].compute) == 1
        return operator == "elementwiseAdd" or (operator == "reduceSum" and alone)

    def _filling(self, part: Term) -> ElementView:
        value = Real(0.0) if part.attributes[0] == "zero" else LEAST
        return ElementView(self.shapes[part].dims, lambda _: value)

    def _view(self, part: Term, target: ResultPlace | None) -> ElementView | TupleView:
        dims = self.shapes[part].dims
        done = [x in self.targets for x in part.operands]
        operands = [self.views[x] for x in part.operands]
        attributes: tuple[Any, ...] = part.attributes
        match part.construct:
            case "tensor":
                return of_buffer(self.names[str(attributes[0])], dims)
            case "literal":
                return ElementView((), lambda _: Real(float(attributes[0])))
            case "pair":
                parts = [] if any(done) else list(map(self._plain, part.operands))
                return TupleView(len(self.shapes[part].access), tuple(parts))
            case "compute":
                return self._computed(part, operands[0], target)
            case "concat":
                return self._joined(part, target)
        if target is not None and any(done):
            return target.view
        if part.construct == "access":
            return operands[0]
        if part.construct == SYSTOLIC_ARRAY:
            return self._multiplied(part, dims, attributes[0], target)
        if part.construct in ("flatten", "reshape") and isinstance(operands[0], ElementView):
            return reshaped(operands[0], dims) or self._copied(operands[0], dims)
        plain = list(map(self._plain, part.operands))
        match part.construct:
            case "cartProd":
                return pairs(plain[0], plain[1], *(self.shapes[x] for x in part.operands))
            case "pad":
                _, number, before, _ = attributes
                value = self._filling(part).read([])
                return self.nests.padded(plain[0], dims, number, before, value)
            case "flatten" | "reshape":
                return reshaped(plain[0], dims) or self._copied(plain[0], dims)
        return moved(part, plain[0], dims, self.shapes[part.operands[0]])

    def _copied(self, view: ElementView, dims: Dims) -> ElementView:
        """The elements of a view, in order, in a buffer of other dimensions."""
        return of_buffer(self.nests.filled([view], view.dims, 0).buffer, dims)

    def _plain(self, part: Term) -> ElementView:
        """A part that is read by an index per dimension, copied once at most."""
        if part not in self.copies:
            self.copies[part] = self.nests.plain(self.views[part])
        return self.copies[part]

    def _joined(self, part: Term, target: ResultPlace | None) -> ElementView:
        """Operands one after the other; those that have targets are there already."""
        if target is None or any(place is None for _, place in self._places(part, target)):
            target = ResultPlace(self.nests.buffer(self.shapes[part].dims))
        for operand, place in self._places(part, target):
            if operand not in self.targets:
                assert place is not None
                self.nests.put(self._plain(operand), ResultPlace(place, target.add))
        return target.view

    def _computed(
        self, part: Term, operand: ElementView | TupleView, target: ResultPlace | None
    ) -> ElementView:
        shape = self.shapes[part.operands[0]]
        access, compute = shape.access, shape.compute
        operator = part.attributes[0]
        summands = part.operands[0].operands
        if target is not None and any(x in self.targets for x in summands):
            for x in summands:
                if x not in self.targets:
                    self.nests.put(self._plain(x), ResultPlace(target.view, add=True))
            return target.view
        if operator in ("reduceSum", "reduceMax"):
            largest = operator == "reduceMax"
            if isinstance(operand, TupleView) and operand.axis == len(access):
                return self.nests.reduced(operand.parts, access, largest=largest, target=target)
            view = self._plain(part.operands[0])
            return self.nests.reduced([view], access, largest=largest, target=target)
        if operator == "relu":
            view = self._plain(part.operands[0])
            kept = ElementView(shape.dims, lambda x: maximum(view.read(x), Real(0.0)))
            return self._filled(kept, target)
        if operator == "softmax":
            raise LoweringError(
                "softmax takes powers of e, which compiled terms do not have",
                hint="compile the parts before and after it",
            )
        parts = self._elements(part.operands[0], len(access), compute[0])
        if operator == DOT_PRODUCT:
            return self.nests.summed(parts, access, target)
        op = "+" if operator == "elementwiseAdd" else "*"
        rest = (*access, *compute[1:])
        whole = ElementView(rest, lambda x: every(op, [v.read(x) for v in parts]))
        return self._filled(whole, target)

    def _filled(self, view: ElementView, target: ResultPlace | None) -> ElementView:
        """A view that is copied: to its target, or to a buffer of its own."""
        target = target or ResultPlace(self.nests.buffer(view.dims))
        self.nests.put(view, target)
        return target.view

    def _elements(self, part: Term, axis: int, count: int) -> Sequence[ElementView]:
        """Views of the elements of tuples that a dimension numbers."""
        operand = self.views[part]
        if isinstance(operand, TupleView) and operand.axis == axis:
            return operand.parts
        view = self._plain(part)
        if count > MOST_UNROLLED:
            raise LoweringError(
                f"a tuple of {count} elements is not unrolled",
                hint=f"compiled tuples have at most {MOST_UNROLLED}",
            )
        return elements(view, axis)

    def _multiplied(
        self, part: Term, dims: Dims, rows: int, target: ResultPlace | None
    ) -> ElementView:
        """Products of vectors, (batch, rows), and weights, (rows, columns)."""
        vectors, weights = (
            view if isinstance(view := self.views[x], ElementView) else self._plain(x)
            for x in part.operands
        )
        whole = (*dims, rows)
        return self.nests.summed(
            [widened(vectors, whole, (0, 2)), widened(weights, whole, (2, 1))], dims, target
        )
