"""Linalg operations of a function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fuseloom.frontends.algebra.expressions import Num, Unsupported
from fuseloom.frontends.mlir.integers import canonical
from fuseloom.frontends.mlir.named import (
    CONTRACT,
    QUANTIZED,
    SELECT,
    SOFTMAX,
    Computation,
    in_floats,
    in_integers,
    inputs_of,
    named,
    rounds,
    softmax,
    with_inputs,
)
from fuseloom.frontends.mlir.region_values import Captured
from fuseloom.frontends.mlir.regions import region_trees
from fuseloom.frontends.mlir.scopes import FOREIGN, Scope, filled
from fuseloom.frontends.mlir.structured import structured
from fuseloom.frontends.mlir.syntax import AffineMap, Linalg, Trait, Type, Typed, refuse_meaning
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    Ignored,
    Value,
    View,
    sizes_of,
)
from fuseloom.frontends.mlir.windows import WINDOWS, has_points, window
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted


def linalg(scope: Scope, body: Linalg, names: list[str], place: SourcePlace) -> Sequence[Value]:
    """The results of an operation."""
    ins = [scope.typed(t) for t in body.ins]
    outs = [scope.typed(t) for t in body.outs]
    for value, typed in zip((*ins, *outs), (*body.ins, *body.outs), strict=True):
        if isinstance(value, Ignored) and typed.type.foreign:
            problem = refuse_meaning(
                f"{typed.use} is outside the subset: {typed.type.foreign}", FOREIGN,
                typed.type.place,
            )  # fmt: skip
            scope.builder.left.append(problem)
            return [Ignored(problem.message, problem)] * (len(outs) if body.types else 0)
    for value in outs:
        if isinstance(value, Ignored):
            return [value] * (len(outs) if body.types else 0)
    types = [t.type for t in body.outs]
    if body.types:
        if len(body.types) != len(outs):
            raise refuse_meaning(
                f"{counted(len(outs), 'output')} but {len(body.types)} result types",
                "one type per output",
                place,
            )
        types = list(body.types)
        for value, type_, out in zip(outs, types, body.outs, strict=True):
            scope.agree(value, type_, str(out.use))
    if body.op == "linalg.fill":
        return [_fill(scope, ins, outs, types, place)]
    if body.op == SOFTMAX and len(ins) == len(outs) == 1:
        return _softmax(scope, body, ins[0], outs[0], names[0], types[0], place)
    names = names[: len(outs)]
    captured: list[Captured] = []
    if body.op in ("linalg.map", "linalg.reduce"):
        body = replace(body, trait=_trait(body, place))
    if body.region is None:
        computation = _named(scope, body, ins, outs, place)
    else:
        if any(scope.builder.may_lack(value) for value in (*ins, *outs)):
            outs = _read_whole(body, outs)
        computation, captured = _generic(scope, body, ins, outs, place)
    if len(names) < len(outs):
        names = [f"{names[0]}_{k}" if k else names[0] for k in range(len(outs))]
    operands: list[Value] = [*_filled(ins, body.ins), *outs]
    return structured(scope.builder, computation, operands, names, types, captured)


def _fill(
    scope: Scope, ins: list[Value], outs: list[Value], types: list[Type], place: SourcePlace
) -> Blank | View:
    fill = ins[0] if len(ins) == 1 else None
    if isinstance(fill, Blank) and fill.rank == 0 and fill.fill is not None:
        fill = ConstantNumber(fill.fill)
    if isinstance(fill, ConstantTensor) and fill.rank == 0:
        number = fill.splat
        fill = (
            scope.builder.constant(fill) if number is None else ConstantNumber(number, fill.element)
        )
    sizes = (sizes_of(outs[0]) or ()) if len(outs) == 1 else ()
    if isinstance(fill, View) and fill.rank == 0 and len(outs) == 1:
        return View(fill.tensor, (None,) * len(sizes), sizes)
    if not isinstance(fill, ConstantNumber) or len(outs) != 1:
        raise refuse_meaning(
            "linalg.fill takes one number and one output",
            "linalg.fill ins(%cst : f32) outs(%0 : tensor<...>)",
            place,
        )
    if types[0].is_integer and fill.value != np.trunc(fill.value):
        raise refuse_meaning(
            f"integers are filled with {fill.value}",
            "programs do not round: fill with an integer",
            place,
        )
    if types[0].is_integer and math.isfinite(fill.value):
        value = float(canonical(int(fill.value), types[0].element))
        return Blank(sizes, types[0].format, value)
    return Blank(sizes, types[0].format, fill.value)


def _read_whole(body: Linalg, outs: Sequence[Value]) -> list[Value]:
    """Outputs that are filled, as the tensors they are: beside sparse ones each element counts.

    A number in their place would be read only where the others have elements.
    """
    if "reduction" in (body.trait.iterators or ()):
        return list(outs)  # they are what a reduction starts from, or are read as tensors
    return _filled(outs, body.outs, 1)


def _softmax(
    scope: Scope, body: Linalg, value: Value, out: Value, name: str, type_: Type, place: SourcePlace
) -> Sequence[Value]:
    """The values of a softmax, one computation after another."""
    sizes = sizes_of(value) or ()
    axis = (body.list("dimension") or (-1,))[0]
    if not 0 <= axis < len(sizes):
        raise refuse_meaning(
            f"dimension {axis} of a tensor of {counted(len(sizes), 'dimension')}",
            "dimension(1) is along the second one",
            place,
        )
    less = (*sizes[:axis], *sizes[axis + 1 :])
    number = Type(type_.element)
    largest, exps, total, quotient = softmax(len(sizes), axis, place)

    def one(step: Computation, operands: list[Value], wanted: str, of: Type) -> Value:
        return structured(scope.builder, step, operands, [wanted], [of])[0]

    start = Blank(less, None, -math.inf)
    most = one(largest, [value, start], f"{name}_max", number)
    exp = one(exps, [value, most, Blank(sizes, None)], f"{name}_exp", replace(type_, shape=None))
    whole = one(total, [exp, Blank(less, None, 0.0)], f"{name}_sum", number)
    return [one(quotient, [exp, whole, out], name, type_)]


def _named(
    scope: Scope, body: Linalg, ins: list[Value], outs: list[Value], place: SourcePlace
) -> Computation:
    count = inputs_of(body.op)
    if body.op in WINDOWS:
        count = 4 if has_points(body.op) else 2
    if len(ins) != count or len(outs) != 1:
        raise refuse_meaning(
            f"{body.op} takes {counted(count, 'input')} and one output, not {len(ins)} and "
            f"{len(outs)}",
            "see docs/mlir.md",
            place,
        )
    if body.trait.maps is not None and len(body.trait.maps) != len(ins) + 1:
        raise refuse_meaning("one map per input and output", "three maps for a product", place)
    rounding = rounds(body.op, [t.type for t in body.ins], body.outs[0].type)
    if rounding is not None:
        raise refuse_meaning(
            rounding, "programs do not round: compute with floats, or write a generic", place
        )
    rank = body.outs[0].type.rank
    if body.op in WINDOWS:
        found = window(body.op, body.list("strides"), body.list("dilations"), place)
        if found is None:
            raise refuse_meaning(
                "strides and dilations are positive, one per dimension of the window",
                "e.g. strides = dense<[2, 1]> : vector<2xi64>",
                place,
            )
        found = _in_type(body, found)
        return _quantized(scope, found, ins, place) if count == 4 else found
    moved = body.list("permutation") or body.list("dimensions")
    found = named(body.op, rank, body.trait.maps, moved, place)
    if found is not None:
        try:
            found = _in_type(body, found)
        except Unsupported as problem:
            raise refuse_meaning(problem.message, problem.hint, place) from None
    if found is not None and body.op in QUANTIZED:
        found = _quantized(scope, found, ins, place)
    if found is None:
        raise refuse_meaning(
            "linalg.contract needs indexing_maps"
            if body.op == CONTRACT
            else f"{body.op} needs dimensions of its output, each at most once",
            "one map per input and output"
            if body.op == CONTRACT
            else "permutation = [1, 0] or dimensions = [1]",
            place,
        )
    return found


def _quantized(
    scope: Scope, product: Computation, ins: list[Value], place: SourcePlace
) -> Computation:
    """A product of differences; of zero points that are numbers, those that are not 0 count."""
    numbers = {k: x.value for k, x in enumerate(ins) if isinstance(x, ConstantNumber)}
    for k in (0, 1):
        if numbers.get(k + 2) != 0.0 and scope.builder.may_lack(ins[k]):
            raise refuse_meaning(
                "a zero point of an operand that is not dense",
                "the elements that are not stored are the zero point then, and the product is "
                "not sparse; convert the operand to a dense tensor",
                place,
            )
    return with_inputs(product, {k: Num(x) for k, x in numbers.items()})


def _generic(
    scope: Scope, body: Linalg, ins: list[Value], outs: list[Value], place: SourcePlace
) -> tuple[Computation, list[Captured]]:
    maps, iterators = body.trait.maps, body.trait.iterators
    if not maps or iterators is None:
        raise refuse_meaning(
            "linalg.generic needs indexing_maps and iterator_types",
            "{indexing_maps = [...], iterator_types = [...]}",
            place,
        )
    dims = maps[0].dims
    if len(iterators) != len(dims):
        raise refuse_meaning(
            f"{len(iterators)} iterator types for maps of {counted(len(dims), 'dimension')}",
            "one iterator type per dimension",
            place,
        )
    reduced = frozenset(x for x, kind in zip(dims, iterators, strict=True)
                        if kind == "reduction")  # fmt: skip
    assert body.region is not None
    trees, captured = region_trees(body.region, ins, outs, bool(reduced), scope.value, maps, place)
    return Computation(dims, maps, reduced, trees, place), captured


def _in_type(body: Linalg, computation: Computation) -> Computation:
    """A named operation in the type of its output: of integers with the last bits of results."""
    ins, out = [t.type for t in body.ins], body.outs[0].type
    signless = body.unsigned or body.op.endswith("_unsigned")
    if body.op == SELECT:
        return computation
    if out.is_integer:
        return in_integers(body.op, computation, ins, out, signless)
    return in_floats(computation, ins, signless)


def _trait(body: Linalg, place: SourcePlace) -> Trait:
    """The maps and iterators of a map or a reduction."""
    gone = body.list("dimensions") or ()
    rank = max(t.type.rank for t in (*body.ins, *body.outs))
    dims = tuple(f"d{n}" for n in range(rank))
    if not all(0 <= d < rank for d in gone):
        raise refuse_meaning(f"a reduction over {list(gone)} of {counted(rank, 'dimension')}",
                             "dimensions count from 0", place)  # fmt: skip
    whole = AffineMap(dims, dims)
    less = AffineMap(dims, tuple(x for n, x in enumerate(dims) if n not in gone))
    kinds = tuple("reduction" if n in gone else "parallel" for n in range(rank))
    return Trait((*(whole for _ in body.ins), *(less for _ in body.outs)), kinds, place)


def _filled(values: Sequence[Value], typed: Sequence[Typed], rank: int = 0) -> list[Value]:
    """Values, those of a rank that are filled as the constants they are."""
    return [
        filled(value, t.use.name, t.use.place)
        if isinstance(value, Blank) and value.fill is not None and value.rank >= rank
        else value
        for value, t in zip(values, typed, strict=True)
    ]
