"""Loops of phases divided where another part of a value begins, such as of a concatenation.

Within a part nothing has to be chosen, and elements that are read lie side by side, so that it
becomes vector instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fuseloom.stitch.phase_values import (
    ElementChoice,
    ElementLoad,
    ElementPosition,
    ElementResult,
    KernelPhase,
    PhaseValue,
    RangeTest,
)
from fuseloom.stitch.positions import AtomRule, PositionSum

MOST_PARTS = 8
"""Parts of a loop: one that would have more stays whole."""


@dataclass(frozen=True)
class PhasePart:
    """A part of a loop of a phase, and what is computed there.

    Attributes
    ----------
    loop : str
        The name of the loop.
    first, last : int
        Its first number, and the one behind its last.
    phase : KernelPhase
        Without what has not to be chosen there.
    """

    loop: str
    first: int
    last: int
    phase: KernelPhase


def phase_parts(phase: KernelPhase) -> tuple[PhasePart, ...]:
    """Divide a loop of a phase that reduces nothing, the innermost that it is of use for.

    Returns
    -------
    tuple of PhasePart
        Empty if no loop is divided.
    """
    if phase.reduction is not None or phase.fixed:
        return ()
    tests = [
        test
        for value in phase.values
        for test in (value.tests if isinstance(value, ElementChoice) else ())
    ]
    for loop in reversed(phase.loops if tests else ()):
        cuts = {0, loop.extent}
        for test in tests:
            cuts |= {cut for cut in _cuts(test, loop.name) if 0 < cut < loop.extent}
        ordered = sorted(cuts)
        if 2 < len(ordered) <= MOST_PARTS + 1:
            return tuple(
                PhasePart(loop.name, first, last, _Narrowed(loop.name, first, last - 1).of(phase))
                for first, last in pairwise(ordered)
            )
    return ()


def _cuts(test: RangeTest, name: str) -> Sequence[int]:
    """Numbers of a loop from which on a test has another result, whatever other loops are at."""
    factor = test.at.factor(name)
    if test.step != 1 or factor is None or factor < 1:
        return ()
    others = tuple((atom, one) for atom, one in test.at.terms if atom.name != name)
    rest = PositionSum(others, test.at.constant)
    made = []
    for end in (0, test.extent):
        low, high = (rest.least - end) // factor, (rest.most - end) // factor
        if low == high:
            made.append(-low)
    return made


class _Narrowed:
    """Values of a phase, where the variable of a loop has a smaller range."""

    def __init__(self, name: str, least: int, most: int) -> None:
        self.name = name
        self.least = least
        self.most = most
        self.made: dict[int, PhaseValue] = {}
        self.kept: list[PhaseValue] = []

    def of(self, phase: KernelPhase) -> KernelPhase:
        """The phase with the values that are computed there."""
        for value in phase.values:
            self.made[id(value)] = self._value(value)
        root = self.made[id(phase.value)]
        read: set[int] = {id(root)}
        for value in reversed(self.kept):
            if id(value) in read:
                read |= {id(one) for one in _operands(value)}
        values = tuple(value for value in self.kept if id(value) in read)
        return replace(phase, values=values, value=root)

    def _value(self, value: PhaseValue) -> PhaseValue:
        made: PhaseValue = value
        if isinstance(value, ElementLoad | ElementPosition):
            made = replace(value, at=self._sum(value.at))
        elif isinstance(value, ElementResult):
            made = replace(value, operands=tuple(self.made[id(one)] for one in value.operands))
        elif isinstance(value, ElementChoice):
            inside, outside = self.made[id(value.inside)], self.made[id(value.outside)]
            tests = []
            for test in value.tests:
                least, most = self._bounds(test.at)
                if most < 0 or least >= test.extent:
                    return outside
                if test.step > 1 or least < 0 or most >= test.extent:
                    tests.append(replace(test, at=self._sum(test.at)))
            if not tests:
                return inside
            made = ElementChoice(tuple(tests), inside, outside, value.element)
        self.kept.append(made)
        return made

    def _sum(self, at: PositionSum) -> PositionSum:
        """The sum, with numbers that are in their range and need not be brought there."""
        made = PositionSum((), at.constant)
        for atom, factor in at.terms:
            own = PositionSum(((atom, 1),))
            if atom.rule is AtomRule.CLAMPED and atom.of is not None:
                least, most = self._bounds(atom.of)
                if most < 0:
                    own = PositionSum()
                elif least >= atom.size:
                    own = PositionSum((), atom.size - 1)
                elif least >= 0 and most < atom.size:
                    own = self._sum(atom.of)
            made = made.plus(own.times(factor))
        return made

    def _bounds(self, at: PositionSum) -> tuple[int, int]:
        least = most = at.constant
        for atom, factor in at.terms:
            ends = (0, atom.size - 1)
            if atom.of is None and atom.name == self.name:
                ends = (self.least, self.most)
            elif atom.rule is AtomRule.CLAMPED and atom.of is not None:
                low, high = self._bounds(atom.of)
                ends = (min(max(low, 0), atom.size - 1), min(max(high, 0), atom.size - 1))
            one, other = factor * ends[0], factor * ends[1]
            least, most = least + min(one, other), most + max(one, other)
        return least, most


def _operands(value: PhaseValue) -> Sequence[PhaseValue]:
    if isinstance(value, ElementResult):
        return value.operands
    if isinstance(value, ElementChoice):
        return (value.inside, value.outside)
    return ()
