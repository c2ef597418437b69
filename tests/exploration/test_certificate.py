"""The proofs about a schedule."""

from __future__ import annotations

import pytest

from fuseloom.exploration.certificate import Certificate, Tally, together


@pytest.mark.parametrize(
    ("cycles", "bound", "gap"), [(100, 90, 0.1), (100, 100, 0.0), (0, 0, 0.0), (100, 120, 0.0)]
)
def test_the_gap_is_a_share_of_the_cycles(cycles: float, bound: float, gap: float) -> None:
    made = Certificate(cycles, bound, simulated=True, complete=True, counts={"looked at": 3})
    assert made.gap == pytest.approx(gap)
    assert made.to_dict()["counts"] == {"looked at": 3}


def test_of_several_spaces_the_lowest_bound_holds() -> None:
    found = together(
        [
            Certificate(100, 90, simulated=True, complete=True, counts={"cycle": 1}),
            Certificate(80, 70, simulated=True, complete=False, counts={"cycle": 2}),
        ]
    )
    assert (found.cycles, found.bound, found.complete) == (80, 70, False)
    assert found.counts == {"cycle": 3}


def test_the_first_reason_of_a_rule_is_kept() -> None:
    tally = Tally()
    for reason in ("a", "b"):
        tally.refuse("cycle", reason)
    assert tally.refused["cycle"] == 2
    assert tally.reasons == {"cycle": "a"}
