"""Reshapes and concatenations: what moves elements without computing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.sizes import SizeProduct
from fuseloom.frontends.mlir.syntax import Concat, Reshape, refuse_meaning
from fuseloom.frontends.mlir.values import Blank, DimensionSize, View, constant_tensor, stated
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access
from fuseloom.wording import counted


def concat(
    builder: MlirBuilder, body: Concat, values: Sequence[View], name: str, place: SourcePlace
) -> View:
    """Operands one behind the other, in statements of two each."""
    rank, axis = body.type.rank, body.axis
    sizes = stated(body.type)
    if not 0 <= axis < rank:
        raise refuse_meaning(
            f"dimension {axis} of a tensor of {counted(rank, 'dimension')}",
            "dimensions count from 0",
            place,
        )
    parts: list[int | None] = []
    for k, view in enumerate(values):
        if view.rank != rank:
            raise refuse_meaning(
                f"operand {k} does not have the {counted(rank, 'dimension')} of the result",
                "operands of a concat have the same dimensions",
                place,
            )
        for d, (mine, other) in enumerate(zip(sizes, view.sizes, strict=True)):
            if d != axis and not mine.equate(other):
                raise refuse_meaning(
                    f"dimension {d} is {other.value} in operand {k}, {mine.value} in the result",
                    "only the dimension of the concat differs",
                    place,
                )
        parts.append(view.sizes[axis].value)
    _check_sum(sizes[axis], parts, axis, place)
    values = [real(builder, view, f"{name}_part", place) for view in values]
    if len(values) == 1:
        return View(values[0].tensor, values[0].axes, sizes, values[0].holes)
    indices = tuple(f"d{d}" for d in range(rank))
    result = values[0]
    for k, view in enumerate(values[1:], 1):
        last = k + 1 == len(values)
        known = parts[: k + 1]
        along = (
            sizes[axis] if last else DimensionSize(None if None in known else sum(map(_int, known)))
        )
        result = builder.assign(
            name if last else f"{name}_{k}",
            Op.CONCAT,
            [result.read(indices), view.read(indices)],
            indices,
            tuple(along if d == axis else size for d, size in enumerate(sizes)),
            place,
            axis=indices[axis],
            format=body.type.format if last else None,
        )
    return replace(result, holes=any(view.holes for view in values))


def spread(
    builder: MlirBuilder, view: View, name: str, place: SourcePlace, format: Format | None = None
) -> View:
    """A tensor with the dimensions that it lacks: a product with ones, which repeats it."""
    out = tuple(f"d{n}" for n in range(view.rank))
    gone = [p for p, axis in enumerate(view.axes) if axis is None]
    sizes = tuple(view.sizes[p] for p in gone)
    ones = builder.constant(constant_tensor("ones", 1.0, sizes, place))
    operands = [view.read(out), Access(ones.tensor, tuple(out[p] for p in gone))]
    made = builder.assign(name, Op.MUL, operands, out, view.sizes, place, format=format)
    return replace(made, holes=view.holes)


def real(builder: MlirBuilder, view: View, name: str, place: SourcePlace) -> View:
    """A tensor with all its dimensions: one that is broadcast is repeated."""
    return spread(builder, view, name, place) if None in view.axes else view


def _int(value: int | None) -> int:
    return value or 0


def _check_sum(
    size: DimensionSize, parts: Sequence[int | None], axis: int, place: SourcePlace
) -> None:
    if None in parts:
        return
    total = sum(map(_int, parts))
    if not size.equate(DimensionSize(total)):
        raise refuse_meaning(
            f"dimension {axis} of the result is {size.value}, its operands have "
            f"{' + '.join(map(str, parts))}",
            "the sizes add up",
            place,
        )


def reshape(
    builder: MlirBuilder,
    body: Reshape,
    view: View,
    said: Sequence[DimensionSize],
    name: str,
    place: SourcePlace,
) -> View:
    """A fusion barrier, unless only dimensions come or go that the tensor never had.

    ``said`` are the sizes that the text gives the result besides its type.
    """
    sizes = _reshaped(builder, body, view.sizes, said, place)
    virtual = _virtual(body, view, sizes)
    real = [p for p in range(len(sizes)) if p not in virtual]
    held = [p for p, axis in enumerate(view.axes) if axis is not None]
    axes: list[int | None] = [None] * len(sizes)
    if any(axis is None for axis in view.axes) and len(held) == len(real):
        same = [view.sizes[p].equate(sizes[q]) for p, q in zip(held, real, strict=True)]
        if all(same):
            for p, q in zip(held, real, strict=True):
                axes[q] = view.axes[p]
            return View(view.tensor, tuple(axes), sizes, view.holes)
    if any(view.axes[p] is None and view.sizes[p].value != 1 for p in range(view.rank)):
        return reshape(
            builder, body, spread(builder, view, f"{name}_wide", place), said, name, place
        )
    order = [view.axes[p] for p in held]
    if order != list(range(len(held))):
        view = turned(builder, view, f"{name}_turned", place)
    _same_count(view.sizes, sizes, place)
    made = builder.assign(
        name,
        Op.RESHAPE,
        [Access(view.tensor, tuple(f"d{n}" for n in range(len(held))))],
        tuple(f"e{n}" for n in range(len(real))),
        tuple(sizes[q] for q in real),
        place,
        format=body.type.format if not virtual else None,
    )
    for n, q in enumerate(real):
        axes[q] = n
    return View(made.tensor, tuple(axes), sizes)


def _reshaped(
    builder: MlirBuilder,
    body: Reshape,
    source: tuple[DimensionSize, ...],
    said: Sequence[DimensionSize],
    place: SourcePlace,
) -> tuple[DimensionSize, ...]:
    """The sizes of a reshape's result, which agree with all that the text says of them."""
    sizes = stated(body.type)
    for size, given in zip(sizes, said, strict=False):
        if not size.equate(given):
            raise refuse_meaning(
                f"output_shape says {given.value}, the type {size.value}", "make them agree", place
            )
    if body.groups is not None:
        _check_groups(body.groups, source, sizes, place)
        _reach(builder, body.groups, source, sizes)
    return sizes


def reshaped_blank(
    builder: MlirBuilder,
    body: Reshape,
    blank: Blank,
    said: Sequence[DimensionSize],
    place: SourcePlace,
) -> Blank:
    """A tensor without elements, or with the same ones everywhere, in another shape."""
    sizes = _reshaped(builder, body, blank.sizes, said, place)
    _same_count(blank.sizes, sizes, place)
    return Blank(sizes, body.type.format, blank.fill)


def turned(builder: MlirBuilder, view: View, name: str, place: SourcePlace) -> View:
    """A tensor stored in the order of the text's dimensions, without those that it lacks."""
    held = [p for p, axis in enumerate(view.axes) if axis is not None]
    read = view.read([f"d{p}" for p in range(view.rank)])
    out = tuple(f"d{p}" for p in held)
    sizes = tuple(view.sizes[p] for p in held)
    made = builder.assign(name, Op.SUM, [read], out, sizes, place)
    axes = tuple(held.index(p) if p in held else None for p in range(view.rank))
    return View(made.tensor, axes, view.sizes, view.holes)


def _same_count(
    source: Sequence[DimensionSize], target: Sequence[DimensionSize], place: SourcePlace
) -> None:
    """Refuse a reshape to another number of elements."""
    numbers = [[size.value for size in group] for group in (source, target)]
    if not any(None in group for group in numbers):
        places = [prod(map(_int, group)) for group in numbers]
        if places[0] != places[1]:
            raise refuse_meaning(
                f"{counted(places[0], 'element')} cannot become {places[1]:,}",
                "a reshape keeps the number of elements",
                place,
            )


def _virtual(body: Reshape, view: View, sizes: Sequence[DimensionSize]) -> set[int]:
    """Dimensions of the result that come from dimensions the tensor does not have."""
    if body.groups is None:
        return set()
    expands = len(sizes) > view.rank
    found: set[int] = set()
    for n, group in enumerate(body.groups):
        if expands and view.axes[n] is None:
            found.update(group)
        elif not expands and all(view.axes[p] is None for p in group):
            found.add(n)
    return found


def _reach(
    builder: MlirBuilder,
    groups: Sequence[Sequence[int]],
    source: Sequence[DimensionSize],
    target: Sequence[DimensionSize],
) -> None:
    """Say that dimensions have as many places as their groups, for sizes that are chosen."""
    large, small = (target, source) if len(target) > len(source) else (source, target)
    for n, group in enumerate(groups):
        builder.reaches.append((None, SizeProduct(tuple(large[d] for d in group), small[n])))


def _check_groups(
    groups: Sequence[Sequence[int]],
    source: Sequence[DimensionSize],
    target: Sequence[DimensionSize],
    place: SourcePlace,
) -> None:
    """Groups partition the larger shape in order; their sizes multiply to the smaller's."""
    large, small = (target, source) if len(target) > len(source) else (source, target)
    if len(groups) != len(small) and not (not groups and not small):
        raise refuse_meaning(
            f"{counted(len(groups), 'group')} for {counted(len(small), 'dimension')}",
            "one group per dimension of the smaller shape",
            place,
        )
    if [d for group in groups for d in group] != list(range(len(large))) and groups:
        raise refuse_meaning(
            f"the groups do not name the {counted(len(large), 'dimension')} in order",
            "e.g. [[0], [1, 2]]",
            place,
        )
    for n, group in enumerate(groups):
        unknown = [d for d in group if large[d].value is None]
        known = prod(_int(large[d].value) for d in group if d not in unknown)
        if not unknown:
            good = small[n].equate(DimensionSize(known))
        elif len(unknown) == 1 and small[n].value is not None and known:
            whole = _int(small[n].value)
            good = whole % known == 0 and large[unknown[0]].equate(DimensionSize(whole // known))
        else:
            good = True
        if not good:
            raise refuse_meaning(
                f"dimension {n} has size {small[n].value}, its group {known}",
                "the sizes of a group multiply to the dimension",
                place,
            )
