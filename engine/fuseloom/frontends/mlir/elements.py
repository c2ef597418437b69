"""Elements and numbers of a function, outside of regions."""

from __future__ import annotations

import math
from dataclasses import replace

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.expressions import Arg, Node, Num, Unsupported
from fuseloom.frontends.mlir.arithmetic import apply
from fuseloom.frontends.mlir.moves import element_at
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.regions import region_trees
from fuseloom.frontends.mlir.scalars import SPARSE
from fuseloom.frontends.mlir.scopes import Scope, filled
from fuseloom.frontends.mlir.structured import structured
from fuseloom.frontends.mlir.syntax import (
    AffineMap,
    Argument,
    Element,
    OperationLine,
    RegionBody,
    Scalar,
    Type,
    Typed,
    Use,
    refuse_meaning,
)
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    Extent,
    Ignored,
    Value,
    View,
    sizes_of,
    stated,
)
from fuseloom.program.syntax import SourcePlace


def element(scope: Scope, body: Element, name: str, place: SourcePlace) -> Value:
    """An element of a tensor, or the number that a tensor without dimensions is."""
    if body.places and isinstance(scope.value(body.operand), View | ConstantTensor):
        try:
            at = [scope.number(use) for use in body.places]
        except ProgramError:
            at = []
        if len(at) == body.type.rank and at:
            view = scope.view(Typed(body.operand, body.type))
            return element_at(scope.builder, view, at, place)
        type_ = Type(body.type.element, place=place)
        scalar = Scalar("tensor.extract", (body.operand,), type=type_, places=body.places)
        return _in_region(scope, scalar, name, place)
    if body.places:
        problem = refuse_meaning(
            "one element of a tensor is taken out",
            "tensor.extract_slice takes a part at known places; where it depends on data, "
            "multiply by a matrix that selects",
            place,
        )
        return Ignored(problem.message, problem)
    value = scope.value(body.operand)
    if isinstance(value, Blank) and value.fill is not None:
        return ConstantNumber(value.fill)
    if isinstance(value, ConstantTensor) and value.splat is not None:
        return ConstantNumber(value.splat, value.element)
    return value


def arithmetic(scope: Scope, scalar: Scalar, name: str, place: SourcePlace) -> Value:
    """Arithmetic of numbers, and of whole tensors, outside of regions."""
    if scalar.op in SPARSE:
        return _in_region(scope, scalar, name, place)
    known: list[Node] = []
    for use in scalar.operands:
        value = scope.value(use)
        if isinstance(value, Extent) and value.size.value is not None:
            value = ConstantNumber(float(value.size.value), "index")
        if isinstance(value, ConstantNumber):
            known.append(Num(value.value))
    try:
        if len(known) == len(scalar.operands):
            made = apply(scalar.op, tuple(known), scalar.predicate, scalar.type, scalar.source)
            if isinstance(made, Num):
                type_ = scalar.type or Type("f64")
                return ConstantNumber(made.value, type_.element)
    except Unsupported as problem:
        return Ignored(problem.message, refuse_meaning(problem.message, problem.hint, place))
    return _of_elements(scope, scalar, name, place)


def _in_region(scope: Scope, scalar: Scalar, name: str, place: SourcePlace) -> Value:
    """An operation of regions on tensors without dimensions."""
    type_ = scalar.type or Type("f32")
    out = Argument("", type_, place)
    region = RegionBody(
        (out,), (OperationLine((name,), scalar, place),), (Use(name, 0, place),), place
    )
    blank, point = Blank((), None), AffineMap((), ())
    trees, captured = region_trees(region, [], [blank], False, scope.value, (point,), place)
    computation = Computation((), (point,), frozenset(), trees, place)
    return structured(scope.builder, computation, [blank], [name], [type_], captured)[0]


def _of_elements(scope: Scope, scalar: Scalar, name: str, place: SourcePlace) -> Value:
    """Arithmetic of tensors, e.g. of arguments that are numbers: of each element of them."""
    nodes: list[Node] = []
    read: list[Value] = []
    type_ = scalar.type or Type("f32")
    if type_.foreign:
        return Ignored(type_.foreign)
    beside = scalar.op in _BESIDE_NUMBERS and any(
        isinstance(scope.value(use), View) for use in scalar.operands
    )
    for use in scalar.operands:
        value = scope.value(use)
        if isinstance(value, Blank) and value.fill is not None:
            value = filled(value, use.name, use.place)
        splat = value.splat if isinstance(value, ConstantTensor) else None
        if isinstance(value, ConstantTensor) and splat is not None:
            if value.rank and beside and value.format is None and math.isfinite(splat):
                scope.agree(value, type_, str(use))
                value = ConstantNumber(splat, value.element)
            elif value.rank == 0:
                value = ConstantNumber(splat, value.element)
        if isinstance(value, ConstantNumber):
            nodes.append(Num(value.value))
        elif isinstance(value, View | ConstantTensor):
            if value.rank:
                scope.agree(value, type_, str(use))
            nodes.append(Arg(len(read)))
            read.append(value)
        else:
            why = value.reason if isinstance(value, Ignored) else "it has no elements here"
            hint = value.hint if isinstance(value, Ignored) else "give it elements"
            problem = refuse_meaning(f"{use} cannot be read: {why}", hint, place)
            return Ignored(problem.message, problem)
    try:
        tree = apply(scalar.op, tuple(nodes), scalar.predicate, scalar.type, scalar.source)
    except Unsupported as caught:
        return Ignored(caught.message, refuse_meaning(caught.message, caught.hint, place))
    dims = tuple(f"d{n}" for n in range(type_.rank))
    whole, point = AffineMap(dims, dims), AffineMap(dims, ())
    maps = (*(whole if (sizes_of(x) or ()) else point for x in read), whole)
    computation = Computation(dims, maps, frozenset(), (tree,), place)
    if scalar.op in _COMPARISONS:
        type_ = replace(type_, element="i1", format=None, blocks=None)
    operands = [*read, Blank(stated(type_), type_.format)]
    return structured(scope.builder, computation, operands, [name], [type_])[0]


_BESIDE_NUMBERS = frozenset(
    {"arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf"}
)
"""Operations of which a tensor with one value everywhere may be a number: none is refused for it,
and none is rounded otherwise, as a quotient would be."""
_COMPARISONS = ("arith.cmpf", "arith.cmpi")
