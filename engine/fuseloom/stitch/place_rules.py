"""Schedules of operands that are cut, moved or turned: slices, pads, reversals, concatenations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.operand_schedules import Dims, OperandSchedule, PartMatch, refused
from fuseloom.stitch.schedules import BlockSchedule, divisions_of, work_space
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape

Places: TypeAlias = Mapping[int, int]
"""Of one dimension, per index of the result that reads something, the index of the operand."""


def of_slice(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    """Return the schedule of the operand of a slice."""
    places = [
        {at: start + at * step for at in range(extent)}
        for (start, _, step), extent in zip(
            operation.attributes["slice"], operation.array.dims, strict=True
        )
    ]
    return _by_places(operation.array.dims, shape.dims, places, schedule)


def of_pad(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    """Return the schedule of the operand of a pad."""
    places = []
    for (low, _, interior), extent, old in zip(
        operation.attributes["padding"], operation.array.dims, shape.dims, strict=True
    ):
        moved = {low + at * (interior + 1): at for at in range(old)}
        places.append({at: index for at, index in moved.items() if 0 <= at < extent})
    return _by_places(operation.array.dims, shape.dims, places, schedule)


def of_reverse(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    """Return the schedule of the operand of a reversal."""
    turned = operation.attributes["dimensions"]
    places = [
        {at: extent - 1 - at if dim in turned else at for at in range(extent)}
        for dim, extent in enumerate(shape.dims)
    ]
    return _by_places(operation.array.dims, shape.dims, places, schedule)


def of_concatenate(
    operation: DenseOperation, shapes: Sequence[ValueShape], schedule: BlockSchedule
) -> tuple[OperandSchedule, ...]:
    """Return the schedules of the operands of a concatenation."""
    dims = operation.array.dims
    (along,) = operation.attributes["dimensions"]
    made, start = [], 0
    for shape in shapes:
        if isinstance(shape, TupleShape):
            return tuple(refused("the operand is a tuple", dims) for _ in shapes)
        places = [
            {at + (start if dim == along else 0): at for at in range(extent)}
            for dim, extent in enumerate(shape.dims)
        ]
        made.append(_by_places(dims, shape.dims, places, schedule))
        start += shape.dims[along]
    return tuple(made)


def _by_places(
    dims: Dims, old: Dims, places: Sequence[Places], schedule: BlockSchedule
) -> OperandSchedule:
    """The schedule by which each block has what it reads, where dimensions are read one by one."""
    if 0 in old:
        return refused("the operand has no elements", dims)
    own = _starts(schedule, dims)
    whole = all(
        len({*of_one.values()}) == extent for of_one, extent in zip(places, old, strict=True)
    )  # fmt: skip
    for candidate in divisions_of(old):
        if candidate.blocks(old) != schedule.blocks(dims):
            continue
        if _reads_within(own, _starts(candidate, old), places):
            match = PartMatch.EXACT if whole else PartMatch.COVER
            return OperandSchedule(match, candidate)
    cut = tuple(
        dim for dim, of_one in enumerate(places)
        if dims[dim] != old[dim] or any(at != index for at, index in of_one.items())
    )  # fmt: skip
    return refused("a dimension that is cut, moved or turned is split", cut)


def _starts(schedule: BlockSchedule, dims: Dims) -> list[list[int]]:
    """Per dimension and index, its share of the number of the block."""
    parts = schedule.parts(dims)
    return [
        [at // (extent // count) * prod(parts[dim + 1 :]) for at in range(extent)]
        for dim, (extent, count) in enumerate(zip(work_space(dims), parts, strict=True))
    ]


def _reads_within(
    own: Sequence[Sequence[int]], other: Sequence[Sequence[int]], places: Sequence[Places]
) -> bool:
    """Tell if every element read lies in the block of the same number.

    A number is a sum over dimensions; sums agree everywhere if and only if the difference of the
    shares is the same at all indices of a dimension, and the differences make 0.
    """
    total = 0
    for mine, its, of_one in zip(own, other, places, strict=False):
        differences = {mine[at] - its[index] for at, index in of_one.items()}
        if not differences:
            return True
        if len(differences) > 1:
            total = -1
            break
        total += differences.pop()
    return total == 0 or any(not of_one for of_one in places)
