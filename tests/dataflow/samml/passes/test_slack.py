"""Leads: how far a node may be ahead of what reads it."""

from __future__ import annotations

from fuseloom.dataflow.samml.passes.slack import Slack


def test_leads_add_up_along_a_path_and_cover_each_other() -> None:
    row = Slack.nothing(4).plus(1, 1, cause=7).plus(3, 1)
    assert row.tokens([5, 3, 2]) == (3 * 2 + 3) + 2 + 2
    assert row.finer(1) == 1
    assert row.coarsened(1).ahead == (0, 1, 0, 0)
    assert row.coarsened(1).passed == (0, 0, 0, 1)
    other = Slack.nothing(4).plus(2, 3, cause=9)
    both = row | other
    assert both.ahead == (0, 1, 3, 1)
    assert both.cause == (-1, 7, 9, -1)
    assert row.largest([5, 3, 2]) == 1
    assert other.shared(2, 2).ahead[2] == 2
