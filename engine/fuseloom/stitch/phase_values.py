"""Phases of a kernel as records: loops, and scalar operations on elements that are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.positions import PositionSum


@dataclass(frozen=True, eq=False)
class ElementLoad:
    """An element that is read.

    Attributes
    ----------
    source : str
        The operation that made it.
    buffered : bool
        True if it lies in a buffer of the block, False for an array in memory.
    at : PositionSum
        Its place there.
    element : str
        The type of elements.
    """

    source: str
    buffered: bool
    at: PositionSum
    element: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on."""
        return self.at.names


@dataclass(frozen=True, eq=False)
class ElementNumber:
    """A constant.

    Attributes
    ----------
    number : bool, int or float
    element : str
    """

    number: bool | int | float
    element: str

    @property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on: none."""
        return frozenset()


@dataclass(frozen=True, eq=False)
class ElementPosition:
    """An index as a value, of an iota.

    Attributes
    ----------
    at : PositionSum
    element : str
    """

    at: PositionSum
    element: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on."""
        return self.at.names


@dataclass(frozen=True, eq=False)
class ElementResult:
    """The result of a scalar operation.

    Attributes
    ----------
    opcode : str
    operands : tuple of PhaseValue
    element : str
    attributes : mapping
    """

    opcode: str
    operands: tuple[PhaseValue, ...]
    element: str
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on."""
        return frozenset[str]().union(*(one.names for one in self.operands))


@dataclass(frozen=True)
class RangeTest:
    """Asks if an index is in a range, and in steps from its beginning.

    Attributes
    ----------
    at : PositionSum
        The index, less the beginning of the range.
    extent : int
        The extent of the range.
    step : int
    """

    at: PositionSum
    extent: int
    step: int = 1


@dataclass(frozen=True, eq=False)
class ElementChoice:
    """One of two values, both of which can be computed, by tests of indices.

    Attributes
    ----------
    tests : tuple of RangeTest
    inside : PhaseValue
        Where all of them are passed.
    outside : PhaseValue
    element : str
    """

    tests: tuple[RangeTest, ...]
    inside: PhaseValue
    outside: PhaseValue
    element: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on."""
        of_tests = (test.at.names for test in self.tests)
        return frozenset(self.inside.names | self.outside.names).union(*of_tests)


PhaseValue: TypeAlias = (
    ElementLoad | ElementNumber | ElementPosition | ElementResult | ElementChoice
)  # fmt: skip


@dataclass(frozen=True)
class PhaseLoop:
    """A loop, whose variable counts from 0.

    Attributes
    ----------
    name : str
    extent : int
    """

    name: str
    extent: int


@dataclass(frozen=True)
class PhaseStore:
    """The place that a phase stores its elements at.

    Attributes
    ----------
    buffered : bool
        True for the buffer of the operation, False for its array in memory.
    at : PositionSum
    """

    buffered: bool
    at: PositionSum


@dataclass(frozen=True)
class PhaseReduction:
    """The way in which a phase combines many values to one element.

    Attributes
    ----------
    opcode : str
        Of the operation on two of them.
    loops : tuple of PhaseLoop
        The loops over them, within those over the elements.
    start : PhaseValue, optional
        What it starts from; 0 if there is none.
    """

    opcode: str
    loops: tuple[PhaseLoop, ...]
    start: PhaseValue | None = None


@dataclass(frozen=True)
class FixedPosition:
    """A position that is known only when the kernel runs.

    Attributes
    ----------
    value : PhaseValue
        An integer; the position is the nearest number from 0 to the largest.
    most : int
        The largest.
    """

    value: PhaseValue
    most: int


@dataclass(frozen=True)
class BoxSide:
    """A block's part of a dimension.

    Attributes
    ----------
    start : PositionSum
        Its first index, by the digits of the number of the block.
    extent : int
    """

    start: PositionSum
    extent: int


@dataclass(frozen=True, eq=False)
class KernelPhase:
    """A phase.

    Attributes
    ----------
    operation : DenseOperation
        What it computes.
    box : tuple of BoxSide
        Per dimension, a block's part of it.
    loops : tuple of PhaseLoop
        Over the elements of that part, the slowest first.
    values : tuple of PhaseValue
        All values, each behind those that it is computed of.
    value : PhaseValue
        What is stored, or combined.
    reduction : PhaseReduction, optional
        Of reductions and dots.
    stores : tuple of PhaseStore
    fixed : mapping
        Positions that are known only when the kernel runs, by name.
    """

    operation: DenseOperation
    box: tuple[BoxSide, ...]
    loops: tuple[PhaseLoop, ...]
    values: tuple[PhaseValue, ...]
    value: PhaseValue
    reduction: PhaseReduction | None
    stores: tuple[PhaseStore, ...]
    fixed: Mapping[str, FixedPosition] = field(default_factory=dict)
