"""Table 1 by brute force: the elements that each block reads, and every schedule that has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.opcodes import ELEMENTWISE, is_batched
from fuseloom.stitch.operand_schedules import OperandSchedule, PartMatch
from fuseloom.stitch.propagation import propagate
from fuseloom.stitch.schedules import BlockSchedule, SplitType
from fuseloom.stitch.shapes import TensorShape

Indices = npt.NDArray[np.int64]
REPEATS = {"broadcast"}
"""Opcodes whose operand several blocks may read."""


def shaped(*dims: int) -> TensorShape:
    return TensorShape("f32", dims)


@lru_cache(maxsize=4096)
def every_schedule(dims: tuple[int, ...]) -> tuple[tuple[BlockSchedule, Indices], ...]:
    """All schedules of an array, and per element, in order, the block that it lies in."""
    space = dims or (1,)
    index = np.indices(space).reshape(len(space), -1)
    made = []
    for kind, dim in product(SplitType, range(len(space))):
        for sword in range(1, space[dim] + 1):
            if space[dim] % sword:
                continue
            part = index[dim] // (space[dim] // sword)
            if kind is SplitType.ROW:
                blocks = position(index[:dim], space[:dim]) * sword + part
            else:
                others = slice(dim + 1, None)
                blocks = part * prod(space[others]) + position(index[others], space[others])
            made.append((BlockSchedule(dim, sword, kind), blocks.astype(np.int64)))
    return tuple(made)


def position(index: Sequence[Any], dims: Sequence[int]) -> Any:
    found = 0
    for at, extent in zip(index, dims, strict=True):
        found = found * extent + at
    return found


def moved(operation: DenseOperation, source: Indices, number: int, starts: Sequence[int]) -> Any:
    """Per element of the result the element that it reads, -1 for none, as NumPy moves them."""
    dims, attributes = operation.array.dims, operation.attributes
    if operation.opcode == "transpose":
        return np.transpose(source, attributes["dimensions"])
    if operation.opcode in ("reshape", "bitcast"):
        return source.reshape(dims)
    if operation.opcode == "broadcast":
        wide = [1] * len(dims)
        order = np.argsort(attributes["dimensions"])
        for place in order:
            wide[attributes["dimensions"][place]] = source.shape[place]
        return np.broadcast_to(np.transpose(source, order).reshape(wide), dims)
    if operation.opcode == "slice":
        return source[tuple(slice(*cut) for cut in attributes["slice"])]
    if operation.opcode == "reverse":
        return np.flip(source, attributes["dimensions"])
    if operation.opcode == "concatenate":
        (along,) = attributes["dimensions"]
        made = np.full(dims, -1)
        cut = [slice(None)] * len(dims)
        cut[along] = slice(starts[number], starts[number] + source.shape[along])
        made[tuple(cut)] = source
        return made
    assert operation.opcode == "pad"
    for dim, (low, high, interior) in enumerate(attributes["padding"]):
        extent = source.shape[dim]
        shape = [*source.shape]
        shape[dim] = extent + max(extent - 1, 0) * interior
        spread = np.full(shape, -1)
        cut = [slice(None)] * len(shape)
        cut[dim] = slice(None, None, interior + 1)
        spread[tuple(cut)] = source
        widths = [(0, 0)] * len(shape)
        widths[dim] = (max(low, 0), max(high, 0))
        padded = np.pad(spread, widths, constant_values=-1)
        cut[dim] = slice(max(-low, 0), padded.shape[dim] - max(-high, 0))
        source = padded[tuple(cut)]
    return source


def reads(
    operation: DenseOperation, shapes: Sequence[TensorShape], number: int
) -> tuple[Indices, Indices]:
    """Pairs of an element of the result and an element of an operand that it depends on."""
    shape = shapes[number]
    source = np.arange(shape.elements).reshape(shape.dims)
    result = np.arange(operation.array.elements).reshape(operation.array.dims)
    if operation.opcode in ELEMENTWISE:
        return result.ravel(), np.broadcast_to(source, operation.array.dims).ravel()
    if operation.opcode == "reduce":
        if number == 1:
            return result.ravel(), np.zeros_like(result.ravel())
        wide = np.expand_dims(result, operation.attributes["dimensions"])
        return np.broadcast_to(wide, shape.dims).ravel(), source.ravel()
    if operation.opcode == "dot":
        return dot_reads(operation, shapes, number)
    if operation.opcode == "pad" and number == 1:  # taken to be read everywhere
        return result.ravel(), np.zeros_like(result.ravel())
    along = operation.attributes["dimensions"][0] if operation.opcode == "concatenate" else 0
    extents = [one.dims[along] if one.rank else 0 for one in shapes]
    starts = [sum(extents[:place]) for place in range(len(shapes))]
    found = np.asarray(moved(operation, source, number, starts))
    assert found.shape == operation.array.dims
    return result[found >= 0], found[found >= 0]


def dot_reads(
    operation: DenseOperation, shapes: Sequence[TensorShape], number: int
) -> tuple[Indices, Indices]:
    """Label every dimension, and let both indices run."""
    sides = []
    letters = iter(range(100))
    batch = [next(letters) for _ in operation.attributes.get("lhs_batch_dims", ())]
    summed = [next(letters) for _ in operation.attributes["lhs_contracting_dims"]]
    for side, shape in zip(("lhs", "rhs"), shapes, strict=True):
        names: list[int] = [-1] * shape.rank
        for dim, name in zip(
            operation.attributes.get(f"{side}_batch_dims", ()), batch, strict=True
        ):
            names[dim] = name
        for dim, name in zip(operation.attributes[f"{side}_contracting_dims"], summed, strict=True):
            names[dim] = name
        sides.append([next(letters) if name < 0 else name for name in names])
    result = [*batch, *(name for side in sides for name in side if name not in (*batch, *summed))]
    extent = {
        name: size
        for side, shape in zip(sides, shapes, strict=True)
        for name, size in zip(side, shape.dims, strict=True)
    }
    pairs = []
    for values in product(*(range(extent[name]) for name in extent)):
        at = dict(zip(extent, values, strict=True))
        pairs.append(
            (
                position([at[name] for name in result], operation.array.dims),
                position([at[name] for name in sides[number]], shapes[number].dims),
            )
        )
    both = np.array(sorted(set(pairs)), dtype=np.int64)
    return both[:, 0], both[:, 1]


def held(
    blocks: Indices, own: Indices, read: Indices, dims: tuple[int, ...]
) -> dict[BlockSchedule, PartMatch]:
    """The schedules of an operand that are exact or a cover."""
    count = int(blocks.max()) + 1
    whole = len(np.unique(read)) == prod(dims)
    return {
        schedule: PartMatch.EXACT if whole else PartMatch.COVER
        for schedule, its in every_schedule(dims)
        if its.max() + 1 == count and np.array_equal(blocks[own], its[read])
    }


def repeated(
    blocks: Indices, own: Indices, read: Indices, dims: tuple[int, ...]
) -> dict[BlockSchedule, list[int]]:
    """The schedules one whole block of which each block reads, and the number of that block."""
    count = int(blocks.max()) + 1
    pairs = np.unique(np.stack([blocks[own], read]), axis=1)  # those of a block side by side
    starts = np.searchsorted(pairs[0], np.arange(count))
    sizes = np.diff([*starts, pairs.shape[1]])
    assert sizes.min() > 0
    found = {}
    for schedule, its in every_schedule(dims):
        if its.max() + 1 >= count:
            continue
        hit = its[pairs[1]]
        first = np.minimum.reduceat(hit, starts)
        alone = np.array_equal(first, np.maximum.reduceat(hit, starts))
        if alone and np.array_equal(sizes, np.bincount(its)[first]):
            found[schedule] = first.tolist()
    return found


def require_agreement(operation: DenseOperation, shapes: Sequence[TensorShape]) -> int:
    """Compare the rule with brute force for every schedule of a result; count the comparisons."""
    pairs = [reads(operation, shapes, number) for number in range(len(shapes))]
    compared = 0
    for schedule, blocks in every_schedule(operation.array.dims):
        made = propagate(operation, shapes, schedule)
        possible = [
            held(blocks, *pair, shape.dims) for pair, shape in zip(pairs, shapes, strict=True)
        ]
        if is_batched(operation) and not all(possible):
            possible = [{} for _ in possible]
        for number, verdict in enumerate(made):
            where = f"{operation} from {shapes} by {schedule}: operand {number}: {verdict}"
            compared += 1
            if possible[number]:
                assert verdict.schedule in possible[number], where
                assert verdict.match is possible[number][verdict.schedule], where
            elif operation.opcode in REPEATS or shapes[number].rank == 0:
                require_repeated(
                    verdict, repeated(blocks, *pairs[number], shapes[number].dims), where
                )
            else:
                assert verdict.match is PartMatch.REFUSED, where
                assert verdict.rule, where
    return compared


def require_repeated(
    verdict: OperandSchedule, possible: dict[BlockSchedule, list[int]], where: str
) -> None:
    if not possible:
        assert verdict.match is PartMatch.REFUSED, where
        return
    assert verdict.match is PartMatch.REPEATED, where
    assert verdict.schedule in possible, where
    numbers = possible[verdict.schedule]
    assert [verdict.read_block(block) for block in range(len(numbers))] == numbers, where
