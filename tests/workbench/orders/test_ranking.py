"""Orders of a region of a design, one estimate at a time."""

from __future__ import annotations

from itertools import islice

from fuseloom_workbench.orders.ranking import candidates


def test_orders_come_one_at_a_time_and_no_more_than_asked_for(session):
    some = list(candidates(session.built, 0, 3))
    assert 1 <= len(some) <= 3
    first = next(islice(candidates(session.built, 0, 3), 1))
    assert first.order == some[0].order
    indices = set(session.built.region_order(0))
    assert all(set(one.order) == indices for one in some)


def test_a_later_region_reads_what_the_earlier_ones_are_expected_to_write(session):
    later = list(candidates(session.built, 1, 2))
    assert later
    assert all(one.order for one in later)
