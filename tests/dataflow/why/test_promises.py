"""The promise of a change, and whether it was kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.cost import EstimateMode, estimate
from fuseloom.dataflow.why.promises import Promise, bound, held
from fuseloom.errors import RecordError
from fuseloom.results.declarations import read
from tests.dataflow.why.explained import FULL, PARTIAL, data, explained

PROMISE = Promise(49_474.0, 14_000.0, 14_106.0, 14_200.0)


def of(cycles: int):
    record = explained(PARTIAL).record
    first, second = record.regions
    regions = (replace(first, cycles=cycles - second.cycles), second)
    return replace(record, regions=regions)


def test_an_estimate_is_held_to_within_its_interval() -> None:
    assert held(PROMISE, of(14_106)).text == "held"
    assert held(PROMISE, of(14_200)).held
    verdict = held(PROMISE, of(14_670))
    assert (verdict.held, verdict.text) == (False, "missed by 4 %")


def test_a_bound_that_is_broken_is_said_to_be_wrong() -> None:
    verdict = held(PROMISE, of(13_999))
    assert not verdict.held
    assert verdict.text == "below its bound of 14,000 cycles: the bound is wrong"


def test_a_bound_alone_is_held() -> None:
    promise = Promise(49_474.0, 10_000.0)
    assert held(promise, of(14_106)).text == "held"
    assert promise.text == "≥ 10,000"
    assert "whatever happens" in promise.sentence


def test_words() -> None:
    assert PROMISE.text == "est. 14,106"
    assert PROMISE.sentence == (
        "estimated 14,106 cycles, at least 14,000 cycles, whatever happens; 49,474 now"
    )


def test_plain_data_is_read_back() -> None:
    assert read(Promise, PROMISE.to_dict(), "promise") == PROMISE
    with pytest.raises(RecordError, match="least"):
        read(Promise, {**PROMISE.to_dict(), "least": -1}, "promise")


@pytest.mark.parametrize("schedule", [FULL, PARTIAL])
def test_no_run_is_below_its_bound(schedule: str) -> None:
    made = explained(schedule)
    assert 0 < bound(made.estimate) <= made.run.cycles


def test_where_nothing_is_known_nothing_is_claimed() -> None:
    made = explained(FULL)
    expected = estimate(made.compilation, data(), mode=EstimateMode.METADATA)
    assert bound(expected) == 0
    assert "no bound is known" in Promise(49_474.0, 0.0, 14_106.0).sentence
