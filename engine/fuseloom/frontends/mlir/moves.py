"""Slices and pads: parts of tensors, and tensors as parts of larger ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fuseloom.frontends.algebra.evaluation import Array
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.computed_access import moved_to, read_at
from fuseloom.frontends.mlir.reshapes import real
from fuseloom.frontends.mlir.syntax import Pad, Slice, Sum, Type, Use, refuse_meaning
from fuseloom.frontends.mlir.values import (
    Blank,
    DeferredConstant,
    DimensionSize,
    View,
    constant_tensor,
    stated,
)
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access
from fuseloom.wording import counted

Numbers = Callable[[int | Use], int]
"""The number that a place of the text is, or an error."""


def extract_slice(
    builder: MlirBuilder, body: Slice, view: View, numbers: Numbers, name: str, place: SourcePlace
) -> View:
    """A part of a tensor."""
    offsets, counts, steps = _parts(body, view.rank, numbers, place)
    dropped = _dropped(counts, body.type, place)
    kept, sizes = _sliced(body, counts, dropped, place)
    index = {p: f"d{q}" for q, p in enumerate(kept)}
    held = view.held
    positions: list[str | Sum] = []
    for p in held:
        whole = (offsets[p], steps[p]) == (0, 1) and view.sizes[p].value == counts[p]
        if p in dropped:
            positions.append(Sum((), offsets[p]))
        elif whole:
            positions.append(index[p])
        else:
            positions.append(Sum(((steps[p], index[p]),), offsets[p]))
    lengths = [view.sizes[p] for p in held]
    by_index = {index[p]: sizes[q] for q, p in enumerate(kept)}
    access = read_at(builder, view.tensor, positions, lengths, by_index, place)
    axes = tuple(access.indices.index(index[p]) if view.axes[p] is not None else None for p in kept)
    return View(access.tensor, axes, sizes, view.holes)


def _sliced(
    body: Slice, counts: Sequence[int], dropped: Sequence[int], place: SourcePlace
) -> tuple[list[int], tuple[DimensionSize, ...]]:
    """The dimensions that a slice keeps, and its sizes."""
    sizes = stated(body.type)
    kept = [p for p in range(len(counts)) if p not in dropped]
    for q, p in enumerate(kept):
        if not sizes[q].equate(DimensionSize(counts[p])):
            raise refuse_meaning(
                f"dimension {q} of the slice is {counts[p]}, its type says {sizes[q].value}",
                "make them agree",
                place,
            )
    return kept, sizes


def sliced_blank(body: Slice, blank: Blank, numbers: Numbers, place: SourcePlace) -> Blank:
    """A part of a tensor without elements, or with the same ones everywhere."""
    _, counts, _ = _parts(body, blank.rank, numbers, place)
    _, sizes = _sliced(body, counts, _dropped(counts, body.type, place), place)
    return Blank(sizes, body.type.format, blank.fill)


def element_at(builder: MlirBuilder, view: View, at: Sequence[int], place: SourcePlace) -> View:
    """One element of a tensor, at a known place."""
    held = view.held
    positions = [Sum((), at[p]) for p in held]
    lengths = [view.sizes[p] for p in held]
    access = read_at(builder, view.tensor, positions, lengths, {}, place)
    return View(access.tensor, (), ())


def insert_slice(
    builder: MlirBuilder,
    body: Slice,
    view: View,
    into: View | Blank,
    numbers: Numbers,
    name: str,
    place: SourcePlace,
) -> View:
    """A tensor with a part of it replaced."""
    rank = len(into.sizes)
    offsets, counts, steps = _parts(body, rank, numbers, place)
    dropped = _dropped(counts, body.operand.type, place)
    view = real(builder, view, f"{name}_wide", place)
    held = _axes(dropped, rank)
    for p, axis in enumerate(held):
        if axis is not None and not view.sizes[axis].equate(DimensionSize(counts[p])):
            raise refuse_meaning(
                f"dimension {axis} of what is inserted is {view.sizes[axis].value}, the slice "
                f"has {counts[p]}",
                "make them agree",
                place,
            )
    parts = [(offsets[p], steps[p], counts[p]) for p in range(rank)]
    targets = [
        None
        if held[p] is not None and parts[p] == (0, 1, into.sizes[p].value)
        else (offsets[p], steps[p], into.sizes[p])
        for p in range(rank)
    ]
    blank = isinstance(into, Blank) and not into.fill
    lengths = [view.sizes[p] for p in view.held]
    own = [None if axis is None else view.axes[axis] for axis in held]
    moved, sizes = moved_to(
        builder, view.tensor, targets, lengths, own, name if blank else f"{name}_part", place
    )
    if blank or all(target is None for target in targets):
        holes = isinstance(into, Blank) and into.fill is not None and body.type.format is None
        return View(moved.tensor, tuple(range(rank)), sizes, holes or view.holes)
    outside = _outside(builder, f"{name}_outside", parts, sizes, 1.0, place)
    if isinstance(into, Blank):
        around = _outside(builder, f"{name}_around", parts, sizes, into.fill or 0.0, place)
        found = _sum(builder, name, moved, around, sizes, body.type, place)
        return replace(found, holes=view.holes)
    into = real(builder, into, f"{name}_whole", place)
    other = into.read(moved.indices)
    rest = builder.assign(f"{name}_rest", Op.MUL, [other, outside], moved.indices, sizes, place)
    around = Access(rest.tensor, moved.indices)
    found = _sum(builder, name, moved, around, sizes, body.type, place)
    return replace(found, holes=view.holes or into.holes)


def insert_number(
    builder: MlirBuilder,
    body: Slice,
    value: float,
    into: View,
    numbers: Numbers,
    name: str,
    place: SourcePlace,
) -> View:
    """A tensor with one of its elements replaced by a number."""
    offsets, counts, steps = _parts(body, into.rank, numbers, place)
    into = real(builder, into, f"{name}_whole", place)
    parts = list(zip(offsets, steps, counts, strict=True))
    outside = _outside(builder, f"{name}_outside", parts, into.sizes, 1.0, place)
    there = _outside(builder, f"{name}_there", parts, into.sizes, value, place, inside=True)
    other = into.read(there.indices)
    rest = builder.assign(
        f"{name}_rest", Op.MUL, [other, outside], there.indices, into.sizes, place
    )
    around = Access(rest.tensor, there.indices)
    found = _sum(builder, name, around, there, into.sizes, body.type, place)
    return replace(found, holes=into.holes)


def pad(
    builder: MlirBuilder,
    body: Pad,
    view: View,
    value: float,
    numbers: Numbers,
    name: str,
    place: SourcePlace,
) -> View:
    """A tensor with a number around it; zeros are left out, and known to be missing."""
    rank = view.rank
    sizes = stated(body.type)
    low, high = [numbers(x) for x in body.low], [numbers(x) for x in body.high]
    if not len(low) == len(high) == rank == len(sizes):
        raise refuse_meaning(
            f"{len(low)} and {counted(len(high), 'number')} for {counted(rank, 'dimension')}",
            "one per dimension",
            place,
        )
    view = real(builder, view, f"{name}_wide", place)
    parts: list[tuple[int, int, int]] = []
    for p in range(rank):
        size = view.sizes[p].value
        if min(low[p], high[p]) < 0:
            raise refuse_meaning("a pad of less than nothing", "use tensor.extract_slice", place)
        if size is None:
            raise refuse_meaning(
                f"dimension {p} of what is padded is '?'", "write its size, or give shapes", place
            )
        if not sizes[p].equate(DimensionSize(low[p] + size + high[p])):
            raise refuse_meaning(
                f"dimension {p} becomes {low[p] + size + high[p]}, its type says {sizes[p].value}",
                "make them agree",
                place,
            )
        parts.append((low[p], 1, size))
    targets = [None if low[p] == high[p] == 0 else (low[p], 1, sizes[p]) for p in range(rank)]
    held = view.held
    inner = name if value == 0.0 else f"{name}_inner"
    moved, _ = moved_to(
        builder, view.tensor, targets, [view.sizes[p] for p in held], view.axes, inner, place
    )
    if value == 0.0:
        holes = view.holes or (body.type.format is None and any(targets))
        return View(moved.tensor, tuple(range(rank)), sizes, holes)
    around = _outside(builder, f"{name}_around", parts, sizes, value, place)
    found = _sum(builder, name, moved, around, sizes, body.type, place)
    return replace(found, holes=view.holes)


def _sum(
    builder: MlirBuilder,
    name: str,
    a: Access,
    b: Access,
    sizes: tuple[DimensionSize, ...],
    type_: Type,
    place: SourcePlace,
) -> View:
    return builder.assign(name, Op.ADD, [a, b], a.indices, sizes, place, format=type_.format)


def _outside(
    builder: MlirBuilder,
    name: str,
    parts: Sequence[tuple[int, int, int]],
    sizes: tuple[DimensionSize, ...],
    value: float,
    place: SourcePlace,
    inside: bool = False,
) -> Access:
    """A number at all places that are not in a part, or at those that are."""

    def compute(shape: tuple[int, ...]) -> Array:
        found = np.full(shape, 0.0 if inside else value)
        places = [np.arange(offset, offset + step * count, step) for offset, step, count in parts]
        found[np.ix_(*places)] = value if inside else 0.0
        return found

    rank = len(parts)
    signs = (math.copysign(1.0, value),) if math.isinf(value) else ()
    literal = DeferredConstant(compute, place, signs, bare=bool(signs))
    data = constant_tensor(name, literal, sizes, place, Format.compressed(rank))
    return Access(builder.constant(data).tensor, tuple(f"d{n}" for n in range(rank)))


def _axes(dropped: Sequence[int], rank: int) -> list[int | None]:
    """Per dimension the one of the tensor that lacks some."""
    return [None if p in dropped else p - sum(d < p for d in dropped) for p in range(rank)]


def _parts(
    body: Slice, rank: int, numbers: Numbers, place: SourcePlace
) -> tuple[list[int], list[int], list[int]]:
    found = tuple([numbers(x) for x in xs] for xs in (body.offsets, body.sizes, body.strides))
    offsets, counts, steps = found
    if not len(offsets) == len(counts) == len(steps) == rank:
        raise refuse_meaning(
            f"the slice names {counted(len(offsets), 'dimension')}, the tensor has {rank}",
            "[offsets] [sizes] [strides], one each per dimension",
            place,
        )
    whole = body.into.type if body.into is not None else body.operand.type
    for offset, count, step, size in zip(offsets, counts, steps, whole.shape or (), strict=True):
        if offset < 0 or count < 1 or step < 1 or (
            size is not None and offset + step * (count - 1) >= size
        ):  # fmt: skip
            raise refuse_meaning(
                f"the slice of {count} from {offset} by {step} is outside a dimension of {size}",
                "slices lie inside",
                place,
            )
    return offsets, counts, steps


def _dropped(counts: Sequence[int], type_: Type, place: SourcePlace) -> list[int]:
    """Dimensions of size 1 that the smaller type lacks."""
    shape = list(type_.shape or ())
    found: list[int] = []
    q = 0
    for p, count in enumerate(counts):
        left = len(counts) - p
        if q < len(shape) and (shape[q] in (None, count)) and (
            count != 1 or left <= len(shape) - q or shape[q] == 1
        ):  # fmt: skip
            q += 1
        elif count == 1:
            found.append(p)
        else:
            break
    if q != len(shape) or len(found) + q != len(counts):
        raise refuse_meaning(
            "the sizes of the slice do not give its type", "dimensions of size 1 may be left out",
            place,
        )  # fmt: skip
    return found
