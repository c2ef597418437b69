"""The contents of an estimate besides its cycles."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fuseloom.errors import RecordError
from fuseloom.results.declarations import read
from fuseloom_workbench.state.expected import EstimateSummary, peak


def test_what_is_expected_is_that_of_the_estimate(session):
    expected = EstimateSummary.of(session.built)
    assert expected.low <= session.estimate.cycles <= expected.high
    assert (expected.basis, expected.channels) == ("exact", None)
    assert (
        expected.on_chip == expected.held == max(r.on_chip.held for r in session.estimate.regions)
    )
    session.set_capacity("64")
    bounded = EstimateSummary.of(session.built)
    room = max(r.on_chip.channels for r in session.estimate.regions)
    assert bounded.channels == room > 0
    assert bounded.on_chip == bounded.held + room


def test_lanes_raise_the_peak(session):
    session.set_schedule("fuse T1..H; fuse T5..Y; parallel i by 4")
    lanes = EstimateSummary.of(session.built).peak
    session.set_schedule("fuse T1..H; fuse T5..Y")
    assert (
        EstimateSummary.of(session.built).peak
        == max(peak(r.graph) for r in session.regions)
        < lanes
    )


def test_it_reads_back_also_without_a_bound(session):
    expected = replace(EstimateSummary.of(session.built), high=None)
    text = json.dumps(expected.to_dict(), allow_nan=False)
    assert read(EstimateSummary, json.loads(text), "expected") == expected
    with pytest.raises(RecordError, match=r"expected has no 'high'"):
        read(EstimateSummary, {"low": 3.0}, "expected")
