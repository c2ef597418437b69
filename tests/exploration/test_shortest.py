"""The shortest way: against all ways of random graphs."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from fuseloom.exploration.shortest import shortest
from fuseloom.results.order_ideals import OrderIdeals

SEED = 1_650


def least(places: OrderIdeals, counts: np.ndarray, place: int = 0) -> float:
    if place == len(places) - 1:
        return 0.0
    return min(counts[place, end] + least(places, counts, end) for end in places.ends(place))


@pytest.mark.parametrize("seed", range(SEED, SEED + 30))
def test_it_is_the_least_of_all_ways(seed: int) -> None:
    rng = random.Random(seed)
    places = OrderIdeals(
        [[j for j in range(k) if rng.random() < 0.5] for k in range(rng.randint(1, 5))]
    )
    counts = np.full((len(places), len(places)), inf)
    for place in range(len(places)):
        for end in places.ends(place):
            counts[place, end] = rng.choice([inf, *range(1, 9)])
    length, parts = shortest(places, counts)
    assert length == least(places, counts)
    if length < inf:
        begin, total = 0, 0.0
        for units in parts:
            pairs = zip(*places.edges(units), strict=True)
            end = next(int(b) for a, b in pairs if a == begin)
            total += counts[begin, end]
            begin = end
        assert (begin, total) == (len(places) - 1, length)
    else:
        assert not parts
