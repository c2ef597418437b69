"""Costs of parts, one after another."""

from __future__ import annotations

from fuseloom.results.method import Cost


def test_time_and_traffic_add_and_what_is_held_is_shared() -> None:
    both = Cost(10, 100, 64, 2).then(Cost(5, 50, 128, 1))
    assert both == Cost(15, 150, 128, 2)
    assert Cost().then(both) == both


def test_no_worse_in_every_respect() -> None:
    assert Cost(1, 2, 3, 1).no_worse(Cost(1, 2, 3, 1))
    assert not Cost(1, 2, 3, 2).no_worse(Cost(9, 9, 9, 1))
    assert not Cost(1, 2, 30, 1).no_worse(Cost(9, 9, 9, 1))
