"""The rounding errors of one float32 operation: the error it adds, and its effect on others.

Bounds hold for every order of a sum and are first-order: squares of the unit roundoff are dropped
against a margin.  Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from fuseloom.program.float32 import LARGEST, ROUNDOFF, SMALLEST
from fuseloom.program.functions import FUNCTIONS, Integers, Op, below_pole
from fuseloom.program.rounded.tensors import Bools, Floats

UNIT = ROUNDOFF * 1.01
"""Largest relative error of one rounding to float32, with a margin for higher orders."""
EITHER_ZERO = SMALLEST / 2
"""The bound of a zero of which nobody says whether it is -0.0: less than float32 can be off."""
FUNCTION = 4.0
"""Units of error of an elementary function on the machine."""


class Errors(Enum):
    """The treatment of an operation's rounding errors."""

    BOUNDED = "bounded"  # every element keeps a bound on its error
    RANDOM = "random"  # made, in a random direction, as large as they may be
    AWAY = "away"  # made, away from 0, so that they add up as those of constant data do


@dataclass
class Rounding:
    """The rounding of operations.

    Attributes
    ----------
    unit : float
        Largest relative error of one rounding.
    poles : bool
        Whether a bound is infinite where an argument may lie on the other side of a pole, or
        only as large as the slope says.
    doubts : bool
        Whether a zero that rounding may make another number is left where zeros are not.
    left : dict
        Per result without zeros, which elements of its operand are not certainly zero.  The first
        evaluation says so, and others of the same statements that are given it have the same.
    undecided : bool
        Set where rounding decides whether there is an element, and so on other values.
    crossed : bool
        Set where an argument's bound reaches a pole.
    """

    errors: Errors = Errors.BOUNDED
    unit: float = UNIT
    poles: bool = False
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    doubts: bool = True
    left: dict[str, Bools] = field(default_factory=dict)
    undecided: bool = field(default=False, init=False)
    crossed: bool = field(default=False, init=False)

    @property
    def bounded(self) -> bool:
        return self.errors is Errors.BOUNDED

    def made(self, values: Floats, fresh: Floats) -> Floats:
        """The values, each wrong by up to its bound."""
        if self.errors is Errors.AWAY:
            share: Any = np.where(values < 0, -1.0, 1.0)
        else:
            share = self.random.uniform(-1.0, 1.0, np.shape(values))
        wrong = np.asarray(values + np.where(np.isfinite(fresh), fresh, 0.0) * share)
        return np.where(np.abs(wrong) > LARGEST, np.sign(wrong) * np.inf, wrong)

    def slope(self, share: Floats, spread: Floats, values: Floats) -> Floats:
        """Bounds of a function with a pole, of an argument that is wrong by a share of itself.

        At the pole itself an error of the argument decides everything; well outside the domain
        it decides nothing, and there is no number for certain.
        """
        reached = share >= 1.0
        if np.any(reached):
            self.crossed = True
            if self.poles:
                spread = np.where(reached, np.inf, spread)
        spread = np.where(np.isfinite(values) & ~np.isnan(spread), spread, np.inf)
        certain = (share == 0) | np.isnan(share) | (np.isnan(values) & ~reached)
        return np.where(certain, 0.0, spread)


def settled(
    values: Floats, inherited: Floats | None, fresh: Floats, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    """A result and its bound, of what its operands bring and what its own rounding adds.

    What overflows float32 for certain is infinite; what may overflow has an infinite bound.
    """
    if not rounding.bounded:
        return rounding.made(values, fresh), None
    bounds = fresh if inherited is None else inherited + fresh
    size = np.abs(values)
    above = size + bounds > LARGEST
    if np.any(above) or not np.all(np.isfinite(bounds)):
        given = np.isfinite(values)
        certain = given & (size - bounds > LARGEST)
        may = given & above & ~certain & (bounds <= size)
        bounds = np.where(given, np.where(may, np.inf, bounds), _of_no_number(inherited, bounds))
        bounds = np.where(certain, 0.0, bounds)
        values = np.where(certain, np.sign(values) * np.inf, values)
    return values, bounds


def undetermined(
    values: Floats, bounds: Floats | None, where: Bools, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    """A result that may overflow on the way, or not, in some places: what comes out is open."""
    if not np.any(where):
        return values, bounds
    if not rounding.bounded:
        return np.where(where, np.inf, values), bounds
    return values, np.where(where, np.inf, 0.0 if bounds is None else bounds)


def _of_no_number(inherited: Floats | None, like: Floats) -> Floats:
    """Bounds of infinities and NaN: 0 if they follow for certain from the operands."""
    if inherited is None:
        return np.zeros_like(like)
    unknown = np.inf if np.isinf(inherited).any() else 0.0
    return np.where(np.isinf(inherited), np.inf, np.where(np.isnan(inherited), unknown, 0.0))


def function(
    op: Op, x: Floats, bounds: Floats | None, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    """An elementary function of every element."""
    row = FUNCTIONS[op]
    values = row.exact(x)
    if op.steps:
        return values, None if bounds is None else _stepped(op, x, values, bounds)
    inherited = None if bounds is None else row.spread(x, values, bounds, rounding.slope)
    if op is Op.RELU:
        return values, with_either_zero(inherited, values, (x == 0) & np.signbit(x))
    if row.integers is Integers.KEEPS:
        return values, inherited
    fresh = row.own_error(x, values, FUNCTION * rounding.unit)
    return settled(values, inherited, fresh, rounding)


def with_either_zero(bounds: Floats | None, values: Floats, doubtful: Bools) -> Floats | None:
    """Bounds of the larger of two, which may be the zero of either sign where both are there."""
    zeros = doubtful & (values == 0)
    if not np.any(zeros):
        return bounds
    return np.where(zeros, EITHER_ZERO, 0.0) + (0.0 if bounds is None else bounds)


def _stepped(op: Op, x: Floats, values: Floats, bounds: Floats) -> Floats:
    """Bound the distance to the steps at both ends of what the argument may be."""
    low, high = steps(op, x, bounds)
    spread = np.where(np.isinf(bounds), np.inf, np.maximum(high - values, values - low))
    return np.where(np.isnan(spread), 0.0, spread)


def steps(op: Op, x: Floats, bounds: Floats | None) -> tuple[Floats, Floats]:
    """The least and the largest value of a function with steps of what the argument may be."""
    wide = np.zeros(1) if bounds is None else np.where(bounds > EITHER_ZERO, bounds, 0.0)
    exact = FUNCTIONS[op].exact
    return exact(x - wide), exact(x + wide)


def reciprocal(
    x: Floats, bounds: Floats | None, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    """1/x, not rounded: a quotient is rounded once, where it is multiplied."""
    values = 1.0 / x
    if bounds is None:
        return values, None
    share = bounds / np.abs(x)
    spread = np.abs(values) * share / (1.0 - below_pole(share))
    return values, rounding.slope(share, spread, values)
