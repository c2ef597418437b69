"""Which intermediates are stored dense: every choice of some of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

from fuseloom.dataflow.fusion.directives import Store
from fuseloom.errors import FuseloomError
from fuseloom.program.dense_levels import densest
from fuseloom.program.formats import LevelFormat
from fuseloom.program.types import Program
from fuseloom.wording import counted

MOST_CHOICES = 300
"""Choices of which each is a space of its own, all of which are searched."""


def store_choices(program: Program, most: int) -> Iterator[tuple[Store, ...]]:
    """Every choice of up to so many intermediates that are stored dense, not as they are declared.

    Dense where that is complete: the levels of such a tensor in which every coordinate is there,
    whatever the data.  Fewer tensors come first.

    Raises
    ------
    FuseloomError
        If there are more choices than are searched.
    """
    possible = [
        Store(name, levels)
        for name, levels in densest(program).items()
        if LevelFormat.DENSE in levels and levels != program.tensor(name).format.levels
    ]
    choices = sum(comb(len(possible), number) for number in range(most + 1))
    if choices > MOST_CHOICES:
        raise FuseloomError(
            f"a budget of {most} stores: {counted(len(possible), 'tensor')} can be stored dense, "
            "which makes "
            f"{counted(choices, 'choice')}",
            hint=f"up to {MOST_CHOICES} are searched: a smaller budget, or 'store dense' for all",
        )
    for number in range(min(most, len(possible)) + 1):
        yield from combinations(possible, number)
