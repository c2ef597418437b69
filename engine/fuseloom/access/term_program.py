"""A term as a program: einsum statements that read tensors where the term's patterns do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.meaning import path_to, shapes_of
from fuseloom.access.readings import Reading, constant, number, whole_tensor
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.term_statements import PatternStatements
from fuseloom.access.terms import Term, subterms, tensors
from fuseloom.access.views import ElementView, elements, moved, part_of, reshaped, widened
from fuseloom.codegen.imperative import Expr, Int
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.program import parse
from fuseloom.program.conversion import Conversion
from fuseloom.program.declarations import RESERVED
from fuseloom.program.limits import MAX_NAME_CHARS
from fuseloom.wording import counted

MOST_FACTORS = 16
"""The largest tuples whose elements are multiplied."""
RESULT = "R"
FLOATS = "Numbers are those of float32: a term has no type of numbers, and its meaning float64."


def program_of_term(term: Term, name: str = "term") -> Conversion:
    """Write a term as a program of dense tensors, whose output ``R`` is the value of the term.

    Constructs that only move indices become sums of indices at which statements read: windows
    ``x[2*i+k]``, slices ``x[i+3]``.  Each operator is a statement, and so is each call of an array.

    Parameters
    ----------
    name : str
        Of the program.

    Returns
    -------
    Conversion
        The program, and what of the term it does not say.

    Raises
    ------
    ShapeError
        If operands do not fit their construct.
    ProgramError
        If a construct has no statement: infinities, products of more than 16 elements of a tuple,
        tensors of more than 12 dimensions.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> made = program_of_term(matmul(4, 3, 2), "product")
    >>> print(made.program)
    program product
    activations: 4x3 dense
    weights: 3x2 dense
    R[i,j] = activations[i,k] * weights[k,j]
    output R
    """
    shapes = shapes_of(term)
    names = _names(tensors(term))
    result = _unused(RESULT, {*names.values()})
    reader = _TermReader(
        PatternStatements({names[x]: dims for x, dims in tensors(term).items()}), names, shapes
    )
    for part in subterms(term):
        try:
            reader.values[part] = reader.read(part)
            if part is term:
                text = reader.writer.program(name, result, reader.one(part))
        except ProgramError as error:
            raise _at(term, part, error) from None
    try:
        program = parse(text)
    except FuseloomError as error:
        raise ProgramError(
            f"the statements of the term are refused: {error.message}", hint=error.hint
        ) from None
    return Conversion(program, tuple(_losses(term, shapes, names)))


def _at(term: Term, part: Term, error: ProgramError) -> ProgramError:
    """An error with the construct at fault, and the way to it."""
    path = path_to(term, part)
    place = f"at {'.'.join(map(str, path))}" if path else "at the root"
    operator = f" {part.attributes[0]}" if part.construct == "compute" else ""
    return ProgramError(
        f"{part.construct}{operator} {place} is no statement: {error.message}", hint=error.hint
    )


def _losses(term: Term, shapes: Mapping[Term, AccessShape], names: Mapping[str, str]) -> list[str]:
    parts = tuple(subterms(term))
    found = [f"Tensor {old} is called {new}." for old, new in names.items() if old != new]
    arrays = dict.fromkeys(x.attributes for x in parts if x.construct == SYSTOLIC_ARRAY)
    if arrays:
        calls = sum(x.construct == SYSTOLIC_ARRAY for x in parts)
        sizes = ", ".join(f"{rows} × {columns}" for rows, columns in arrays)
        found.append(
            f"{counted(calls, 'call')} of a systolic array ({sizes}) "
            f"{'is a product' if calls == 1 else 'are products'}: no statement says what hardware "
            "computes it."
        )
    if any(x.construct == "access" for x in parts) or shapes[term].compute:
        found.append("Which dimensions are accessed and which are computed on is left out.")
    return [*found, FLOATS]


def _names(extents: Mapping[str, Dims]) -> dict[str, str]:
    """Names of tensors as the language has them."""
    found: dict[str, str] = {}
    for name in extents:
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)[: MAX_NAME_CHARS - 4]
        taken = {*found.values(), *(x for x in extents if x != name), *RESERVED}
        found[name] = _unused(word, taken)
    return found


def _unused(word: str, taken: set[str]) -> str:
    while word in taken:
        word += "_"
    return word


@dataclass(frozen=True)
class _Tuples:
    """Tuples of elements of patterns; a dimension numbers these."""

    axis: int
    parts: tuple[Reading, ...]


class _TermReader:
    """Reads one part of a term after another, operands first."""

    def __init__(
        self,
        writer: PatternStatements,
        names: Mapping[str, str],
        shapes: Mapping[Term, AccessShape],
    ) -> None:
        self.writer = writer
        self.names = names
        self.shapes = shapes
        self.values: dict[Term, Reading | _Tuples] = {}

    def one(self, part: Term) -> Reading:
        """A part as one pattern: tuples are put one after the other."""
        value = self.values[part]
        if isinstance(value, _Tuples):
            dims = list(self.shapes[part].dims)
            dims[value.axis] = 1
            value = self.writer.joined(
                [_wider(x, tuple(dims), _without(value.axis, len(dims))) for x in value.parts],
                value.axis,
            )
            self.values[part] = value
        return value

    def read(self, part: Term) -> Reading | _Tuples:
        """A part, whose operands are read.

        Raises
        ------
        ProgramError
            If it is no statement.
        """
        dims = self.shapes[part].dims
        attributes: tuple[Any, ...] = part.attributes
        match part.construct:
            case "tensor":
                return whole_tensor(self.names[str(attributes[0])], dims)
            case "literal":
                if not isfinite(attributes[0]):
                    raise ProgramError("constants are finite", hint="use a tensor for it")
                return number(float(attributes[0]), constant(()))
            case "access":
                return self.values[part.operands[0]]
            case "compute":
                return self._computed(part)
        operands = [self.one(x) for x in part.operands]
        given = [self.shapes[x] for x in part.operands]
        match part.construct:
            case "pair":
                return _Tuples(len(given[0].access), tuple(operands))
            case "cartProd":
                return _pairs(operands[0], operands[1], given[0], given[1])
            case "concat":
                return self.writer.joined(operands, attributes[0])
            case "pad":
                return self._padded(operands[0], dims, attributes)
            case "flatten" | "reshape":
                return self._reshaped(operands[0], dims)
            case "systolicArray":
                whole = (*dims, attributes[0])
                vectors, weights = operands
                return self.writer.product(
                    [_wider(vectors, whole, (0, 2)), _wider(weights, whole, (2, 1))], 2
                )
        return self._moved(part, operands[0], dims)

    def _moved(self, part: Term, value: Reading, dims: Dims) -> Reading:
        """A pattern whose indices a construct moves."""
        count = len(value.dims)
        first: Any = part.attributes[0]
        match part.construct:
            case "transpose":
                return _wider(value, dims, tuple(first.index(k) for k in range(count)))
            case "insert-axis":
                return _wider(value, dims, _without(first, count + 1))
            case "squeeze" | "broadcast" if value.view.groups:
                kept = dims if part.construct == "broadcast" else (*dims[:first], 0, *dims[first:])
                return value.moved(lambda view: _at_first(view, kept, dims))
            case "slice" | "box":
                lows = (*(0,) * first, part.attributes[1]) if part.construct == "slice" else first
                cut = _cut(value, dims, lows)
                if cut is not None:
                    return cut
        value = self.writer.plain(value)
        shape = self.shapes[part.operands[0]]
        return value.moved(lambda view: moved(part, view, dims, shape))

    def _reshaped(self, value: Reading, dims: Dims) -> Reading:
        made = [reshaped(view, dims) for view in value.places]
        found = tuple(view for view in made if view is not None)
        if len(found) == len(made):
            return replace(value, places=found)
        return self.writer.reshaped(self.writer.tensor_of(value), dims)

    def _padded(self, value: Reading, dims: Dims, attributes: tuple[Any, ...]) -> Reading:
        """A pattern that is read beyond its dimension, where its tensor has no elements."""
        filling, axis, before, after = attributes
        if not before and not after:
            return value
        value = self.writer.plain(value)
        if value.filling not in ("", filling) and not value.is_inside:
            value = self.writer.complete(value)
        if value.value is not None or not _ends(value, axis, before, after):
            value = self.writer.tensor_of(value)
        made = [part_of(view, dims, axis, -before) for view in value.places]
        return replace(value, places=tuple(x for x in made if x is not None), filling=filling)

    def _computed(self, part: Term) -> Reading:
        operand, operator = part.operands[0], part.attributes[0]
        shape = self.shapes[operand]
        kept, axis, value = len(shape.access), len(shape.access), self.values[operand]
        if isinstance(value, _Tuples) and value.axis != axis:
            value = self.one(operand)
        match operator:
            case "reduceSum":
                return self.writer.sum(_parts(value), kept)
            case "reduceMax":
                several = [self.writer.largest(x, kept) for x in _parts(value)]
                return several[0] if len(several) == 1 else self.writer.larger(several)
            case "relu":
                return self.writer.function("relu", self.one(operand))
            case "softmax":
                return self.writer.softmax(self.one(operand), kept)
        rest = (*shape.access, *shape.compute[1:])
        if operator == "elementwiseAdd":
            if isinstance(value, _Tuples):
                return self.writer.sum(value.parts, len(rest))
            dims = (*rest, shape.compute[0])
            places = (*range(axis), len(rest), *range(axis, len(rest)))
            return self.writer.sum([_wider(value, dims, places)], len(rest))
        return self.writer.product(
            self._elements(value, axis), kept if operator == DOT_PRODUCT else len(rest)
        )

    def _elements(self, value: Reading | _Tuples, axis: int) -> Sequence[Reading]:
        """The elements of tuples that a dimension numbers."""
        if isinstance(value, _Tuples):
            return value.parts
        count = value.dims[axis]
        if count > MOST_FACTORS:
            raise ProgramError(
                f"a product of {count} elements of a tuple would be as many factors",
                hint=f"tuples have at most {MOST_FACTORS} elements",
            )
        value = self.writer.plain(value)
        apart = [elements(view, axis) for view in value.places]
        return [replace(value, places=tuple(x[k] for x in apart)) for k in range(count)]


def _parts(value: Reading | _Tuples) -> Sequence[Reading]:
    return value.parts if isinstance(value, _Tuples) else (value,)


def _wider(value: Reading, dims: Dims, places: tuple[int, ...]) -> Reading:
    """A pattern by the indices of more dimensions, of which it reads some."""
    return value.moved(lambda view: widened(view, dims, places))


def _without(axis: int, count: int) -> tuple[int, ...]:
    return (*range(axis), *range(axis + 1, count))


def _cut(value: Reading, dims: Dims, lows: Dims) -> Reading | None:
    """A range of each dimension; None if one of them was flattened and is cut."""
    for axis, low in enumerate(lows):
        extents = (*value.dims[:axis], dims[axis], *value.dims[axis + 1 :])
        if extents == value.dims:
            continue
        made = [part_of(view, extents, axis, low) for view in value.places]
        found = tuple(view for view in made if view is not None)
        if len(found) < len(made):
            return None
        value = replace(value, places=found)
    return value


def _at_first(view: ElementView, kept: Dims, dims: Dims) -> ElementView:
    """A view that is read at 0 in dimensions of extent 1, of other extents now; 0 takes one out."""
    groups = [view.group(k) for k in range(len(kept))]
    single = [extent == 1 for extent in view.dims]
    new = [(n,) if one else group for n, one, group in zip(kept, single, groups, strict=True)]

    def read(x: Sequence[Expr]) -> Expr:
        left = iter(x)
        found: list[Expr] = []
        for n, one, group in zip(kept, single, groups, strict=True):
            given = [next(left) for _ in (group if not one else (n,) if n else ())]
            found += [Int(0) for _ in group] if one else given
        return view.read(found)

    return ElementView(dims, read, groups=tuple(x for x, n in zip(new, kept, strict=True) if n))


def _pairs(first: Reading, second: Reading, left: AccessShape, right: AccessShape) -> _Tuples:
    """Each element of a pattern beside each of another."""
    a, b, c = len(left.access), len(right.access), len(left.compute)
    dims = (*left.access, *right.access, *left.compute)
    inner = tuple(range(a + b, a + b + c))
    return _Tuples(
        a + b,
        (
            _wider(first, dims, (*range(a), *inner)),
            _wider(second, dims, (*range(a, a + b), *inner)),
        ),
    )


def _ends(value: Reading, axis: int, before: int, after: int) -> bool:
    """Tell if a tensor has no elements before and after the range that a pattern reads of it.

    So that what a pad adds is outside of it, whatever the other indices.
    """
    extents = {**value.extents, str(axis): 1}
    number = str(axis)
    low = high = False
    for place, extent in zip(value.sums(), value.shape, strict=True):
        factor = dict(place.terms).get(number, 0)
        if factor > 0:
            least, most = place.bounds(extents)
            low = low or most - factor < 0
            high = high or least + factor * value.dims[axis] >= extent
    return (low or not before) and (high or not after)
