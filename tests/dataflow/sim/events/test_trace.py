"""Traces for Perfetto."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.sim.events import trace
from fuseloom.dataflow.sim.events.trace import PathPiece, TraceRegion, write_trace
from fuseloom.dataflow.sim.observe import IDLE
from tests.dataflow.sim.events.stores import random_store

LABELS = ("a", "b\"'", "c", "d")


def written(regions: list[TraceRegion]) -> dict[str, Any]:
    out = io.StringIO()
    count = write_trace(out, regions)
    data = json.loads(out.getvalue())
    assert count == len(data["traceEvents"])
    return data


def test_every_cycle_is_in_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, activity = random_store(4, tmp_path / "run.events")
    region = TraceRegion("T1", LABELS, store, begins=1000)
    whole = written([region])
    events = [e for e in whole["traceEvents"] if e["ph"] == "X"]
    seen = np.full(activity.shape, IDLE)
    for event in events:
        start = event["ts"] - 1000
        part = seen[event["tid"] - 1, start : start + event["dur"]]
        assert (part == IDLE).all()
        part[:] = trace.WORDS.index(event["name"])
    assert np.array_equal(seen, activity)
    monkeypatch.setattr(trace, "PIECE", 10)
    assert written([region]) == whole


def test_the_file_says_what_its_unit_is(tmp_path: Path) -> None:
    store, _ = random_store(4, tmp_path / "run.events")
    data = written([TraceRegion("T1", LABELS, store)])
    assert data["otherData"] == {"time unit": "1 us in this file is 1 cycle", "cycles": 700}
    names = [e["args"]["name"] for e in data["traceEvents"] if e["ph"] == "M"]
    assert names == ["T1 (1 us in this file is 1 cycle)", "critical path", *LABELS]


def test_regions_follow_each_other_and_show_their_path(tmp_path: Path) -> None:
    store, _ = random_store(4, tmp_path / "run.events")
    path = (PathPiece("a works", 10, 30),)
    regions = [TraceRegion("1", LABELS, store), TraceRegion("2", LABELS, store, path, 700)]
    data = written(regions)
    assert data["otherData"]["cycles"] == 1400
    (shown,) = (e for e in data["traceEvents"] if e["ph"] == "X" and e["tid"] == 0)
    assert shown == {"name": "a works", "ph": "X", "pid": 2, "tid": 0, "ts": 710, "dur": 20}
