"""Positions of elements as sums of loop variables times constants.

An element's position counts all elements of its array, the last dimension fastest, so that what is
reshaped keeps it.  Indices of dimensions are quotients and remainders of a position.  These are
sums again where the loops fit them; where a loop would fit if it were two, one within the other,
:class:`LoopDivisionError` asks for that; otherwise the quotient stays in the sum as an atom of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import prod

from fuseloom.errors import ProgramError


class AtomRule(StrEnum):
    """The ways in which an atom gets its value."""

    LOOP = "loop"
    """The variable of a loop."""
    FIXED = "fixed"
    """A number that is known when the block begins, or read from an array."""
    QUOTIENT = "quotient"
    REMAINDER = "remainder"
    CLAMPED = "clamped"
    """The nearest number that is in the range."""


@dataclass(frozen=True)
class PositionAtom:
    """A number that sums are made of, from 0 on.

    Attributes
    ----------
    name : str
        Empty for what is computed of a sum.
    size : int
        One more than the largest number that it can be.
    rule : AtomRule
    of : PositionSum, optional
        The sum that it is computed of.
    by : int
        The divisor.
    through : frozenset of str
        Names of the variables that a fixed number is known for values of.
    """

    name: str
    size: int
    rule: AtomRule = AtomRule.LOOP
    of: PositionSum | None = None
    by: int = 1
    through: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.size, self.rule, self.of, self.by, self.through))

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on."""
        return self.through | {self.name} if self.of is None else self.of.names

    @cached_property
    def key(self) -> str:
        """A text that only equal atoms have."""
        return self.name or f"({self.of} {self.rule} {self.by} {self.size})"


class LoopDivisionError(Exception):
    """Asks for two loops in the place of one.

    Parameters
    ----------
    loop : str
    inner : int
        The extent of the inner one.
    """

    def __init__(self, loop: str, inner: int) -> None:
        super().__init__(f"{loop} is divided by {inner}")
        self.loop = loop
        self.inner = inner


@dataclass(frozen=True)
class PositionSum:
    """A constant, and atoms times constants.

    Attributes
    ----------
    terms : tuple of (PositionAtom, int)
        In order of the keys of the atoms, each atom once and with a factor other than 0.
    constant : int

    Examples
    --------
    >>> row, column = variable("row", 4), variable("column", 8)
    >>> at = row.times(8).plus(column).plus(1)
    >>> str(at), at.least, at.most
    ('1 + 1*column + 8*row', 1, 32)
    """

    terms: tuple[tuple[PositionAtom, int], ...] = ()
    constant: int = 0

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.constant))

    def __str__(self) -> str:
        shown = [f"{factor}*{atom.key}" for atom, factor in self.terms]
        return " + ".join([str(self.constant), *shown])

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables that it depends on."""
        return frozenset[str]().union(*(atom.names for atom, _ in self.terms))

    @cached_property
    def count(self) -> int:
        """The number of atoms, those that atoms are computed of among them."""
        return sum(1 + (atom.of.count if atom.of is not None else 0) for atom, _ in self.terms)

    @cached_property
    def least(self) -> int:
        """A bound from below."""
        return self.constant + sum(min(0, factor * (atom.size - 1)) for atom, factor in self.terms)

    @cached_property
    def most(self) -> int:
        """A bound from above."""
        return self.constant + sum(max(0, factor * (atom.size - 1)) for atom, factor in self.terms)

    def plus(self, other: PositionSum | int) -> PositionSum:
        """The sum of both."""
        if isinstance(other, int):
            return PositionSum(self.terms, self.constant + other)
        return _summed([*self.terms, *other.terms], self.constant + other.constant)

    def times(self, factor: int) -> PositionSum:
        """The product with a constant."""
        return _summed([(atom, one * factor) for atom, one in self.terms], self.constant * factor)

    def factor(self, name: str) -> int | None:
        """The growth of the sum with a variable; None if that is no constant."""
        if any(name in atom.names and name != atom.name for atom, _ in self.terms):
            return None
        return next((factor for atom, factor in self.terms if atom.name == name), 0)

    def divided(self, by: int) -> tuple[PositionSum, PositionSum]:
        """The quotient and the remainder by a constant; the sum is never negative.

        Raises
        ------
        LoopDivisionError
            If both are sums once a loop is divided.

        Examples
        --------
        >>> row, column = variable("row", 4), variable("column", 8)
        >>> [str(one) for one in row.times(8).plus(column).divided(8)]
        ['0 + 1*row', '0 + 1*column']
        >>> variable("place", 32).divided(8)
        Traceback (most recent call last):
            ...
        fuseloom.stitch.positions.LoopDivisionError: place is divided by 8
        """
        if by == 1:
            return self, PositionSum()
        whole = [(atom, factor // by) for atom, factor in self.terms if factor % by == 0]
        rest = _summed([pair for pair in self.terms if pair[1] % by], self.constant)
        carried = rest.least // by
        rest = rest.plus(-carried * by)
        quotient = _summed(whole, carried)
        if rest.most < by:
            return quotient, rest
        for atom, factor in sorted(rest.terms, key=lambda pair: -abs(pair[1])):
            inner = by // abs(factor) if by % factor == 0 else 0
            if atom.rule is AtomRule.LOOP and 1 < inner < atom.size and atom.size % inner == 0:
                raise LoopDivisionError(atom.name, inner)
        over = PositionAtom("", rest.most // by + 1, AtomRule.QUOTIENT, rest, by)
        left = PositionAtom("", by, AtomRule.REMAINDER, rest, by)
        return quotient.plus(_summed([(over, 1)], 0)), _summed([(left, 1)], 0)

    def clamped(self, size: int) -> PositionSum:
        """The nearest number from 0 to below a size."""
        if self.least >= 0 and self.most < size:
            return self
        return _summed([(PositionAtom("", size, AtomRule.CLAMPED, self), 1)], 0)


def variable(name: str, size: int, rule: AtomRule = AtomRule.LOOP) -> PositionSum:
    """Return the sum that is a variable; one with a single value is that."""
    return _summed([(PositionAtom(name, size, rule), 1)], 0)


def _summed(terms: Iterable[tuple[PositionAtom, int]], constant: int) -> PositionSum:
    found: dict[PositionAtom, int] = {}
    for atom, factor in terms:
        found[atom] = found.get(atom, 0) + factor
    kept = [(atom, factor) for atom, factor in found.items() if factor and atom.size > 1]
    return PositionSum(tuple(sorted(kept, key=lambda pair: pair[0].key)), constant)


def digits_of(at: PositionSum, sizes: Sequence[int]) -> list[PositionSum]:
    """Return the digits of a position in a system of mixed radices, the slowest first.

    Examples
    --------
    >>> at = variable("row", 4).times(8).plus(variable("column", 8))
    >>> [str(one) for one in digits_of(at, (4, 8))]
    ['0 + 1*row', '0 + 1*column']
    """
    if prod(sizes) == 0:
        raise ProgramError("an array without elements has no positions")
    made: list[PositionSum] = []
    left = at
    for place in range(len(sizes) - 1, -1, -1):
        if place == 0 or all(size == 1 for size in sizes[:place]):
            made.append(left)
            made += [PositionSum()] * place
            break
        left, digit = left.divided(sizes[place])
        made.append(digit)
    return made[::-1]


def strided(at: PositionSum, dims: Sequence[int], strides: Sequence[int]) -> PositionSum:
    """Return the sum of the indices of a position times what another array's grows by with them.

    Dimensions that count on in the other array, too, are one digit.

    Examples
    --------
    Columns of a transposed matrix lie as far apart as rows of it did.

    >>> at = variable("row", 4).times(8).plus(variable("column", 8))
    >>> str(strided(at, (4, 8), (1, 4)))
    '0 + 4*column + 1*row'
    """
    sizes: list[int] = []
    steps: list[int] = []
    for extent, stride in zip(dims, strides, strict=True):
        if extent == 1:
            continue
        if sizes and steps[-1] == stride * extent:
            sizes[-1] *= extent
            steps[-1] = stride
        else:
            sizes.append(extent)
            steps.append(stride)
    found = PositionSum()
    if any(steps):
        for digit, step in zip(digits_of(at, sizes), steps, strict=True):
            found = found.plus(digit.times(step))
    return found


def row_strides(dims: Sequence[int]) -> tuple[int, ...]:
    """Return what a position grows by with each index.

    Examples
    --------
    >>> row_strides((2, 3, 4))
    (12, 4, 1)
    """
    return tuple(prod(dims[dim + 1 :]) for dim in range(len(dims)))


def substituted(at: PositionSum, values: Mapping[str, int]) -> int:
    """Return the number that a sum is for values of its variables.

    Examples
    --------
    >>> at = variable("row", 4).times(8).plus(variable("column", 8))
    >>> substituted(at, {"row": 2, "column": 5})
    21
    """
    total = at.constant
    for atom, factor in at.terms:
        total += factor * _atom_value(atom, values)
    return total


def _atom_value(atom: PositionAtom, values: Mapping[str, int]) -> int:
    if atom.of is None:
        return values[atom.name]
    inner = substituted(atom.of, values)
    if atom.rule is AtomRule.CLAMPED:
        return min(max(inner, 0), atom.size - 1)
    return inner // atom.by if atom.rule is AtomRule.QUOTIENT else inner % atom.by
