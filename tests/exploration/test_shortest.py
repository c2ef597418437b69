"""The shortest path: against all paths of random graphs."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from fuseloom.exploration.shortest import shortest
from fuseloom.results.order_ideals import OrderIdeals

SEED = 1_650


def least(ideals: OrderIdeals, counts: np.ndarray, ideal: int = 0) -> float:
    if ideal == len(ideals) - 1:
        return 0.0
    return min(counts[ideal, end] + least(ideals, counts, end) for end in ideals.ends(ideal))


@pytest.mark.parametrize("seed", range(SEED, SEED + 30))
def test_it_is_the_least_of_all_ways(seed: int) -> None:
    rng = random.Random(seed)
    ideals = OrderIdeals(
        [[j for j in range(k) if rng.random() < 0.5] for k in range(rng.randint(1, 5))]
    )
    counts = np.full((len(ideals), len(ideals)), inf)
    for ideal in range(len(ideals)):
        for end in ideals.ends(ideal):
            counts[ideal, end] = rng.choice([inf, *range(1, 9)])
    length, parts = shortest(ideals, counts)
    assert length == least(ideals, counts)
    if length < inf:
        begin, total = 0, 0.0
        for units in parts:
            pairs = zip(*ideals.edges(units), strict=True)
            end = next(int(b) for a, b in pairs if a == begin)
            total += counts[begin, end]
            begin = end
        assert (begin, total) == (len(ideals) - 1, length)
    else:
        assert not parts
