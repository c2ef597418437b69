"""The rounding errors of one float32 operation: the error it adds, and its effect on others.

Bounds hold for every order of a sum and are first-order: squares of the unit roundoff are dropped
against a margin.  Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from fuseloom.program.reference import UNARY
from fuseloom.program.rounded.tensors import Bools, Floats
from fuseloom.program.types import Op

UNIT = 2.0**-24 * 1.01
"""Largest relative error of one rounding to float32, with a margin for higher orders."""
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 2.0**-149
"""The spacing of float32 next to 0: what underflow loses at most."""
EITHER_ZERO = 2.0**-150
"""The bound of a zero of which nobody says whether it is -0.0: less than float32 can be off."""
NORMAL = 2.0**-126
"""The smallest number of full precision; a reciprocal that overflows is wrong by so much."""
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
    crossed : bool
        Set where an argument's bound reaches a pole.
    """

    errors: Errors = Errors.BOUNDED
    unit: float = UNIT
    poles: bool = False
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
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


_GELU_SLOPE = _ERF_SLOPE = 1.13
_MOST_EXPONENT = 700.0
"""Its exponential is a number; an argument that is wrong by more says nothing."""


def function(
    op: Op, x: Floats, bounds: Floats | None, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    """An elementary function of every element."""
    values = UNARY[op](x)
    if op is Op.RELU:
        return values, with_either_zero(bounds, values, (x == 0) & np.signbit(x))
    if op is Op.ABS:
        return values, bounds
    if op.steps:
        return values, None if bounds is None else _stepped(op, x, values, bounds)
    unit = FUNCTION * rounding.unit
    match op:
        case Op.GELU:
            fresh = unit * np.abs(x) + SMALLEST
        case Op.SIGMOID:
            fresh = unit * values + NORMAL
        case _:
            fresh = unit * np.abs(values) + SMALLEST
    inherited = None if bounds is None else _spread(op, x, values, bounds, rounding)
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
    return UNARY[op](x - wide), UNARY[op](x + wide)


def _spread(op: Op, x: Floats, values: Floats, bounds: Floats, rounding: Rounding) -> Floats:
    """Bound the distance to f(x) of a function whose argument is off by up to its bound.

    Where the bound reaches a pole it is as large as the slope says: too wide to judge by.
    """
    share = bounds / np.abs(x)
    match op:
        case Op.GELU:
            return _GELU_SLOPE * bounds
        case Op.SIGMOID:
            return _within(0.25 * bounds, 1.0)
        case Op.TANH:
            return _within(bounds, 2.0)
        case Op.SIN | Op.COS:
            return _within(bounds, 2.0)
        case Op.ERF:
            return _within(_ERF_SLOPE * bounds, 2.0)
        case Op.SQRT:
            spread = values * share / (1.0 + np.sqrt(np.maximum(1.0 - share, 0.0)))
            # What underflow may have lost keeps its sign, so the root of it is a number.
            tiny = (bounds < NORMAL) & (values >= 0)
            share = np.where(tiny, 0.0, share)
            return np.where(tiny, np.sqrt(bounds), rounding.slope(share, spread, values))
        case Op.EXP | Op.EXPM1:
            slope = values if op is Op.EXP else values + 1.0
            spread = slope * np.expm1(np.minimum(bounds, _MOST_EXPONENT))
            certain = np.isfinite(values) & (bounds <= _MOST_EXPONENT)
            spread = np.where(certain, spread, np.inf)
            return np.where(bounds == 0, 0.0, spread)
        case Op.LOG | Op.LOG1P:
            if op is Op.LOG1P:
                share = bounds / np.abs(1.0 + x)
            spread = np.maximum(share, -np.log1p(-_below(share)))
        case _:
            left = 1.0 - _below(share)
            spread = np.abs(values) * np.maximum(0.5 * share / left, 1.0 / np.sqrt(left) - 1.0)
    return rounding.slope(share, spread, values)


def _within(spread: Floats, most: float) -> Floats:
    """The spread of a function whose values are never further apart; of anything, it is NaN."""
    return np.where(np.isinf(spread), np.inf, np.minimum(spread, most))


def reciprocal(
    x: Floats, bounds: Floats | None, rounding: Rounding
) -> tuple[Floats, Floats | None]:
    """1/x, not rounded: a quotient is rounded once, where it is multiplied."""
    values = 1.0 / x
    if bounds is None:
        return values, None
    share = bounds / np.abs(x)
    spread = np.abs(values) * share / (1.0 - _below(share))
    return values, rounding.slope(share, spread, values)


def _below(share: Floats) -> Floats:
    """A share of an argument that does not reach the pole; of what does, see ``slope``."""
    return np.where(share < 1.0, share, 0.5)
