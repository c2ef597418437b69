"""Ideals of random graphs: against listing all cuts without them."""

from __future__ import annotations

import random
from itertools import combinations
from math import prod

import pytest

from fuseloom.results.order_ideals import OrderIdeals, Units
from tests.exploration.test_search import cuts_of, in_some_order

SEED = 1_600


def graph(seed: int) -> tuple[list[list[int]], set[int]]:
    rng = random.Random(seed)
    size, density = rng.randint(1, 6), rng.random()
    before = [[j for j in range(k) if rng.random() < density] for k in range(size)]
    return before, {k for k in range(size) if rng.random() < 0.1}


def legal_cuts(before: list[list[int]], alone: set[int]) -> list[list[Units]]:
    return [
        cut
        for cut in cuts_of(range(len(before)))
        if in_some_order(cut, before)
        and all(len(part) == 1 or alone.isdisjoint(part) for part in cut)
    ]


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_ways_through_places_are_the_cuts_without_a_circle(seed: int) -> None:
    before, alone = graph(seed)
    ideals, cuts = OrderIdeals(before, alone), legal_cuts(before, alone)
    parts = {part for cut in cuts for part in cut}
    assert ideals.whole
    assert set(ideals.parts()) == parts
    assert ideals.number_of_parts == len(parts)
    for number in range(1, len(before) + 1):
        for units in combinations(range(len(before)), number):
            assert ideals.is_part(units) == (units in parts)
    through: list[set[frozenset[Units]]] = [set() for _ in range(len(ideals))]
    through[0] = {frozenset()}
    for ideal in range(len(ideals)):
        for end in ideals.ends(ideal):
            part = ideals.units(ideal, end)
            assert (ideal, end) in zip(*ideals.edges(part), strict=True)
            through[end] |= {cut | {part} for cut in through[ideal]}
    assert through[-1] == {frozenset(cut) for cut in cuts}


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_each_cut_is_counted_once(seed: int) -> None:
    before, alone = graph(seed)
    rng = random.Random(seed)
    ideals = OrderIdeals(before, alone)
    candidates = {part: rng.choice([0, 1, 1, 2, 3]) for part in ideals.parts()}
    listed = sum(prod(candidates[part] for part in cut) for cut in legal_cuts(before, alone))
    assert ideals.count(candidates) == listed


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_what_can_be_joined_makes_no_circle(seed: int) -> None:
    before, alone = graph(seed)
    ideals = OrderIdeals(before, alone)
    for cut in legal_cuts(before, alone)[:20]:
        parts = ideals.sorted(cut)
        assert sorted(parts) == sorted(cut)
        done: set[int] = set()
        for part in parts:
            assert all(j in done or j in part for k in part for j in before[k])
            done.update(part)
        joined = {
            (a, b)
            for a, b in combinations(range(len(parts)), 2)
            if in_some_order(
                [p for k, p in enumerate(parts) if k not in (a, b)] + [parts[a] + parts[b]], before
            )
        }
        assert set(ideals.joinable(parts)) == joined


def test_runs_of_neighbours_stay_in_program_order() -> None:
    wide = OrderIdeals([()] * 5)
    assert wide.sorted([(3, 4), (0, 1), (2,)]) == [(0, 1), (2,), (3, 4)]
    with pytest.raises(ValueError, match="need each other"):
        OrderIdeals([(), (0,), (1,)]).sorted([(0, 2), (1,)])


def test_of_too_many_places_those_of_program_order_are_left() -> None:
    wide = OrderIdeals([()] * 9, alone=[4])
    assert not wide.whole
    assert wide.linear
    assert len(wide) == 10
    assert [*wide.ends(2)] == [3, 4]
    assert [*wide.ends(4)] == [5]
    assert wide.is_part((0, 1))
    assert not wide.is_part((0, 2))
    assert not wide.is_part((3, 4))
    assert wide.count(dict.fromkeys(wide.parts(), 1)) == 2**3 * 2**3
    assert [*wide.joinable([(0,), (1,), (2, 3)])] == [(0, 1), (1, 2)]
    assert OrderIdeals([()] * 8).whole
    assert wide.inside.sum() == sum(range(10))


def test_a_chain_has_a_place_between_two_units() -> None:
    chain = OrderIdeals.chain(2_000)
    assert chain.whole
    assert chain.linear
    assert len(chain) == 2_001
    assert chain.number_of_parts == 2_000 * 2_001 // 2
    short = {(k,): 1 for k in range(2_000)} | {(k, k + 1): 1 for k in range(1_999)}
    assert chain.count(short) > 10**400  # a number of Fibonacci's
