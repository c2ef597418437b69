"""The progress of a search, as plain data that a page draws."""

from __future__ import annotations

import json
from math import inf

from fuseloom.exploration.autoschedule import SpaceSize
from fuseloom.exploration.found import Sight
from fuseloom_workbench.search.story import MOST_BESTS, MOST_POINTS, Story, funnel
from fuseloom_workbench.search.wishes import SearchSettings


def test_the_curve_falls_and_its_bound_rises():
    story = Story("problem", SearchSettings(), 1, "", bounded=True)
    for seconds, cycles, bound in ((0.1, inf, 0.0), (0.5, 90.0, 10.0), (0.6, 70.0, 8.0)):
        story.see(Sight(seconds, cycles, bound, f"s{cycles}", 2, {"looked at": 5, "cycle": 2}))
    story.finish(1.0, "s70.0", 70.0, 60.0, "proved")
    told = json.loads(json.dumps(story.to_dict(), allow_nan=False))
    assert [p[2] for p in told["points"]] == [None, 90.0, 70.0, 70.0]
    assert [p[3] for p in told["points"]] == [0.0, 10.0, 10.0, 60.0]
    assert [b["cycles"] for b in told["bests"]] == [70.0, 90.0], "the last was known"
    assert told["over"]


def test_without_bounds_none_is_drawn_and_long_searches_are_thinned():
    story = Story("problem", SearchSettings(), 1, "", bounded=False)
    for k in range(3 * MOST_POINTS):
        story.see(Sight(k / 10, 10_000.0 - k, 50.0, f"s{k}", k))
    told = story.to_dict()
    assert len(told["points"]) <= MOST_POINTS + 1
    assert told["points"][-1][2] == told["bests"][0]["cycles"]
    assert len(told["bests"]) == MOST_BESTS
    assert not any(p[3] for p in told["points"])


def test_the_funnel_has_every_reason_in_a_sentence():
    rows = funnel(
        {"looked at": 9, "cycle": 2, "bounded away": 4, "simulated": 0, "odd rule": 1, "lanes": 0},
        {"cycle": "T1 needs T2"},
    )
    assert [(r["name"], r["kind"]) for r in rows] == [
        ("looked at", "met"), ("bounded away", "fell"), ("cycle", "fell"), ("odd rule", "fell"),
        ("simulated", "kept"),
    ]  # fmt: skip
    assert all(r["meaning"].endswith(".") for r in rows)
    assert rows[2]["example"] == "T1 needs T2"


def test_a_huge_space_is_written_short_and_in_full():
    story = Story("problem", SearchSettings(), 1, "", bounded=True)
    story.space = SpaceSize(12345678901234567890, True)
    space = story.to_dict()["space"]
    assert space["text"] == "1.234e19"
    assert space["digits"] == "12,345,678,901,234,567,890"
    story.space = SpaceSize(10**400, False)
    assert story.to_dict()["space"]["text"] == "at least 1.000e400"
