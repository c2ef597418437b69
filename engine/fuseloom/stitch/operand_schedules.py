"""Schedules that operations ask of their operands, from the digits of positions of elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import TypeAlias

from fuseloom.stitch.schedules import BlockSchedule, Digits, IndexDigit, schedule_with
from fuseloom.stitch.shapes import TensorShape

Dims: TypeAlias = tuple[int, ...]


class PartMatch(StrEnum):
    """The ways in which blocks of an operand fit blocks of the operation that reads it."""

    EXACT = "exact"
    COVER = "cover"
    REPEATED = "repeated"
    REFUSED = "refused"


@dataclass(frozen=True)
class OperandSchedule:
    """The schedule that an operation asks of an operand.

    Attributes
    ----------
    match : PartMatch
    schedule : BlockSchedule, optional
        None if there is none.
    digits : tuple of IndexDigit
        Where it is repeated, the digits of a number of a block of the operand, each with what the
        number of the block that reads it grows with it.
    rule : str
        Of a refusal: the reason.
    dims : tuple of int
        Of a refusal: the dimensions of the operation that are in the way.
    """

    match: PartMatch
    schedule: BlockSchedule | None = None
    digits: Digits = ()
    rule: str = ""
    dims: Dims = ()

    @property
    def computed_in_block(self) -> bool:
        """True if each block has all that it reads, and computes it once."""
        return self.match in (PartMatch.EXACT, PartMatch.COVER)

    def read_block(self, number: int) -> int:
        """The block of the operand that a block of the operation reads."""
        if self.match is not PartMatch.REPEATED:
            return number
        found = 0
        for size, stride in self.digits:
            found = found * size + number // stride % size
        return found


def refused(rule: str, dims: Dims) -> OperandSchedule:
    """Return that there is no schedule, and why."""
    return OperandSchedule(PartMatch.REFUSED, rule=rule, dims=dims)


def single_element(blocks: int) -> OperandSchedule:
    """Return the schedule of a single element that each of some blocks reads."""
    match = PartMatch.EXACT if blocks == 1 else PartMatch.REPEATED
    return OperandSchedule(match, BlockSchedule(0, 1))


def from_digits(
    shape: TensorShape, by_dim: Sequence[Digits], blocks: int, rule: str, in_the_way: Dims
) -> OperandSchedule:
    """Find the schedule of an operand by what parts of it blocks read.

    Parameters
    ----------
    shape : TensorShape
        Of the operand.
    by_dim : sequence of tuples of IndexDigit
        Per dimension of it (or of what has the same positions) the digits of an index, with what
        the number of the block that reads it grows with them.
    blocks : int
        The number of blocks that read.
    rule : str
        The reason if no schedule has these parts.
    in_the_way : tuple of int
        The dimensions of that reason.
    """
    digits = [digit for of_one in by_dim for digit in of_one if digit.size > 1]
    kept = tuple(digit for digit in digits if digit.stride)
    own = prod(digit.size for digit in kept)
    if own == blocks:
        strides = [digit.stride for digit in kept]
        if strides != sorted(strides, reverse=True):
            moved = tuple(
                dim for dim, of_one in enumerate(by_dim)
                if any(digit.stride and digit.size > 1 for digit in of_one)
            )  # fmt: skip
            return refused("blocks of the operand are in another order", moved)
        made = schedule_with(shape.dims, digits)
        if made is None:
            return refused(rule, in_the_way)
        return OperandSchedule(PartMatch.EXACT, made)
    renumbered, left = [], own
    for size, stride in digits:
        left = left // size if stride else left
        renumbered.append(IndexDigit(size, left if stride else 0))
    made = schedule_with(shape.dims, renumbered)
    if made is None:
        return refused(rule, in_the_way)
    return OperandSchedule(PartMatch.REPEATED, made, kept)
