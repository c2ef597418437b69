"""The choices of a run, by name."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.results.record import RegionRecord
from fuseloom_workbench.costs.choices import chosen, lanes, with_cuts
from fuseloom_workbench.search.searching import lanes_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 1),
        ("parallel i by 4", 4),
        ("parallel i by 4; parallel k by 2", 8),
        ("fuse T1..H; fuse T5..Y; parallel T1..H: i by 3; parallel T5..Y: i by 5", 5),
        ("fuse T1..H; parallel T1..H: i by 3; parallel k by 2", 6),
    ],
)
def test_lanes_are_those_of_the_widest_region(text: str, expected: int) -> None:
    assert lanes(Schedule.parse(text).settings) == expected


def test_lanes_agree_with_those_of_a_search(session) -> None:
    session.set_schedule("fuse T1..H; fuse T5..Y; parallel T1..H: i by 4; locate off")
    assert session.ok, session.message
    assert lanes(session.design.settings) == lanes_of(session.design) == 4


def test_cuts_are_told_where_any_run_has_one() -> None:
    whole = (RegionRecord("T1..Y", ("i", "k"), 5, 1.0, 1.0),)
    parts = (
        RegionRecord("T1..H", ("i",), 2, 1.0, 1.0),
        RegionRecord("T5..Y", ("k", "i"), 2, 1.0, 1.0),
    )
    runs = [(5.0, chosen(whole, (), "default"), whole), (4.0, chosen(parts, (), "hbm2"), parts)]
    first, second = with_cuts(runs, {"T5": "A·H"})
    assert first == (
        5.0,
        {
            "cut before T1": "cut",
            "cut before A·H": "fused",
            "order of T1..Y": "i→k",
            "lanes": "1",
            "machine": "default",
        },
    )
    assert second[1]["cut before A·H"] == "cut"
    assert second[1]["order of T5..Y"] == "k→i"
    assert with_cuts([], {}) == []
