"""Reductions that programs do not have: what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeVar

Tensor = TypeVar("Tensor")


MOST_FACTORS = 64
"""Elements along a dimension that are multiplied one by one; of more, one half with the other."""


def product(
    whole: Tensor,
    count: int,
    part: Callable[[Tensor, int, int], Tensor],
    times: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """The product of all elements along a dimension.

    One factor after the other takes fewer cycles than halves, but as many statements as factors.

    Parameters
    ----------
    count : int
        Elements along the dimension, at least one.
    part : callable
        Elements of a tensor from a place on, given how many; a single one without the dimension.
    times : callable
        The product of two tensors, element by element.

    Examples
    --------
    >>> def part(held, start, count):
    ...     return held[start] if count == 1 else held[start : start + count]
    >>> product([2, 3, 5, 7, 11], 5, part, lambda a, b: a * b)
    2310
    """
    rest: list[Tensor] = []
    while count > MOST_FACTORS:
        half, odd = divmod(count, 2)
        if odd:
            rest.append(part(whole, count - 1, 1))
        whole, count = times(part(whole, 0, half), part(whole, half, half)), half
    return reduce(times, [*(part(whole, n, 1) for n in range(count)), *rest])
