"""Orders that fail for a reason already met are skipped, and no others."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

import pytest

from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.nests import place, unrealisable
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.search import OrderSearch, reason_for
from fuseloom.dataflow.table.build import build_table
from fuseloom.errors import FuseloomError, LoweringError, OrderError
from fuseloom.program import parse
from tests.property.programs import Maker

CHAIN = (
    "A: 4x4 dense\nB: 4x4 dense\nC: 4x4 dense\nT[i,j] = A[i,k] * B[k,j]\nD[i,l] = T[i,j] * C[j,l]"
)


def chain() -> FusedRegion:
    return fuse(parse(CHAIN), Schedule.parse("fuse T..D"))[0]


def has(order: tuple[str, ...], pairs: Iterable[tuple[str, str]]) -> bool:
    return all(order.index(a) < order.index(b) for a, b in pairs)


def fails(region: FusedRegion, order: tuple[str, ...]) -> bool:
    try:
        build_table(region, order)
    except (OrderError, LoweringError):
        return True
    return False


@cache
def drawn() -> list[FusedRegion]:
    """Random programs, each fused entirely, of a few orders."""
    found = []
    for seed in range(250):
        rng = random.Random(seed)
        try:
            program = parse(Maker(rng, 1).text(rng.randint(3, 5)))
            live = [s.out.tensor for s in program.live]
            regions = fuse(program, Schedule.parse(f"fuse {live[0]}..{live[-1]}"))
        except FuseloomError:
            continue
        found += [r for r in regions if 1 < r.pog.count() <= 60]
    return found


@pytest.mark.deep  # takes seconds
def test_without_refusals_all_orders_come_in_sequence() -> None:
    for region in (chain(), *drawn()):
        search = OrderSearch(region)
        assert not search.exhausted
        assert list(search) == list(region.orders())
        assert search.exhausted


def test_a_refusal_rules_out_the_orders_that_have_all_its_pairs() -> None:
    region = chain()
    pairs = {("i", "k"), ("j", "k")}
    kept = [order for order in region.orders() if not has(order, pairs)]
    assert 0 < len(kept) < len(list(region.orders()))
    before = OrderSearch(region)
    before.refuse(pairs)
    assert list(before) == kept
    after = OrderSearch(region)
    given = []
    for order in after:
        given.append(order)
        if has(order, pairs) and len(given) == given.index(order) + 1:
            after.refuse(pairs)
    refused = [order for order in given if has(order, pairs)]
    assert len(refused) == 1
    assert [order for order in given if order not in refused] == kept


def test_what_every_order_has_ends_the_search() -> None:
    region = fuse(parse("A: 4x4 csr\nT[i,j] = relu(A[i,j])"))[0]
    search = OrderSearch(region)
    search.refuse([("i", "j")])
    assert list(search) == []
    assert search.steps == 0
    assert search.exhausted


def test_a_search_that_gives_up_is_not_exhausted() -> None:
    search = OrderSearch(chain(), max_steps=6)
    assert len(list(search)) < chain().pog.count()
    assert not search.exhausted


@pytest.mark.deep  # takes seconds
def test_the_reason_that_a_result_does_not_lie_where_it_is_used_holds_for_all_its_orders() -> None:
    refused = 0
    for region in drawn():
        for order in region.pog.orders():
            try:
                place(region.roots, order)
            except OrderError:
                pairs = unrealisable(region.roots, order)
                assert pairs is not None
                assert has(order, pairs)
                for other in region.pog.orders():
                    if has(other, pairs):
                        refused += 1
                        with pytest.raises(OrderError):
                            place(region.roots, other)
            else:
                assert unrealisable(region.roots, order) is None
    assert refused > 100


@pytest.mark.deep
def test_orders_that_are_skipped_fail_and_the_others_are_all_there() -> None:
    """Against building every order."""
    tried = failing = 0
    for region in drawn():
        buildable = [order for order in region.orders() if not fails(region, order)]
        failing += region.pog.count() - len(buildable)
        search = OrderSearch(region)
        found = []
        for order in search:
            if order in buildable:
                found.append(order)
            else:
                tried += 1
                search.refuse(reason_for(region, order))
        assert found == buildable
        assert search.exhausted
    assert 0 < tried < failing / 2
