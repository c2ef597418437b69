"""Rounds of a measurement: several candidates in turns, within a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import inf
from typing import TypeVar

from fuseloom.errors import ProgramError

_T = TypeVar("_T")
MOST_ROUNDS = 10_000


def check_rounds(rounds: int, seconds: float = inf) -> None:
    """Refuse a number of rounds that is none or out of bounds, and a time that is negative.

    Raises
    ------
    ProgramError
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise ProgramError(
            f"a measurement has from 1 to {MOST_ROUNDS:,} rounds, not {rounds}",
            hint="5 give a fair median",
        )
    if not seconds >= 0:
        raise ProgramError(
            f"the time of a measurement is no negative number, such as {seconds}",
            hint="0 seconds are one round",
        )


def rounds_within(rounds: int, seconds: float = inf) -> Iterator[int]:
    """Number the rounds of a measurement; after its time no other begins, but there is one.

    Raises
    ------
    ProgramError
        As :func:`check_rounds`.

    Examples
    --------
    >>> list(rounds_within(3)), list(rounds_within(3, 0))
    ([0, 1, 2], [0])
    """
    check_rounds(rounds, seconds)
    end = time.perf_counter() + seconds
    for number in range(rounds):
        yield number
        if time.perf_counter() > end:
            return


def in_turns(candidates: Sequence[_T], number: int) -> Sequence[_T]:
    """Return the candidates in the order of a round: none is always first, or behind another.

    Each round begins with the next candidate; when each was first, they go backwards.

    Examples
    --------
    >>> ["".join(in_turns("abc", number)) for number in range(6)]
    ['abc', 'bca', 'cab', 'cba', 'acb', 'bac']
    """
    if not candidates:
        return candidates
    turn, start = divmod(number, len(candidates))
    turned = [*candidates[start:], *candidates[:start]]
    return turned[::-1] if turn % 2 else turned
