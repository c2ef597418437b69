"""Traces follow the rules of the Trace Event Format, and add up to the counters."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.events.trace import write_trace
from fuseloom.dataflow.sim.explain.critical import critical_path
from fuseloom.dataflow.sim.explain.perfetto import (
    PATH_THREAD,
    TracedRegion,
    told_in_full,
    trace_json,
    trace_regions,
)
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from tests.dataflow.sim.explain.test_critical import late_operand, one_slot, softmax

LOGGED = Observe(bins=16, log=True)


def traced(engine: str, observe: Observe = LOGGED) -> list[TracedRegion]:
    regions = []
    for number, make in enumerate((softmax, one_slot, late_operand)):
        result = run_graph(make(), Machine.default(12), engine, observe=observe.part(number))
        path = critical_path(result) if observe.log else None
        regions.append(TracedRegion(make.__name__, result, path))
    return regions


def check_format(text: str) -> list[dict[str, Any]]:
    """Check the properties that every reader of the format relies on, and return the events."""
    data = json.loads(text)
    assert data.keys() >= {"traceEvents", "otherData"}
    last: dict[tuple[int, int], int] = defaultdict(int)
    for event in data["traceEvents"]:
        assert event.keys() >= {"name", "ph", "pid"}
        assert isinstance(event["name"], str)
        match event["ph"]:
            case "M":
                assert event["name"] in ("process_name", "thread_name")
                assert isinstance(event["args"]["name"], str)
            case "X":
                assert event["dur"] > 0
                track = event["pid"], event["tid"]
                assert event["ts"] >= last[track], "events of a thread overlap"
                last[track] = event["ts"] + event["dur"]
            case "C":
                assert event["ts"] >= 0
                assert all(value >= 0 for value in event["args"].values())
            case other:
                raise AssertionError(f"unexpected phase {other}")
    return list(data["traceEvents"])


def merged(events: list[dict[str, Any]]) -> list[tuple[int, int, str, int, int]]:
    """Intervals of nodes; those that touch and have one name are one."""
    found: list[tuple[int, int, str, int, int]] = []
    shown = [e for e in events if e["ph"] == "X" and e["tid"] != PATH_THREAD]
    for event in sorted(shown, key=lambda e: (e["pid"], e["tid"], e["ts"])):
        track, start = (event["pid"], event["tid"], event["name"]), event["ts"]
        if found and found[-1][:3] == track and found[-1][4] == start:
            start = found.pop()[3]
        found.append((*track, start, event["ts"] + event["dur"]))
    return found


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_both_engines_have_every_interval_in_their_files(engine: str, tmp_path: Path) -> None:
    regions = traced(engine, replace(LOGGED, events=tmp_path / "run.events"))
    assert told_in_full(regions) == (engine == "interpreter")
    out = io.StringIO()
    write_trace(out, trace_regions(regions))
    wanted = merged(check_format(trace_json(traced("interpreter"))))
    assert merged(check_format(out.getvalue())) == wanted


def test_a_region_without_events_is_named() -> None:
    with pytest.raises(SimulationError, match="kept no events"):
        trace_regions(traced("interpreter"))


def test_intervals_add_up_to_the_counters() -> None:
    regions = traced("interpreter")
    events = check_format(trace_json(regions))
    total: dict[tuple[int, int, str], int] = defaultdict(int)
    for e in events:
        if e["ph"] == "X":
            total[e["pid"], e["tid"], e["name"]] += e["dur"]
    for pid, region in enumerate(regions, 1):
        result = region.result
        for node in result.graph.nodes:
            track = pid, node.id + 1
            assert total[*track, "busy"] == result.busy[node.id]
            assert total[*track, "waits for input"] == result.stall_input[node.id]
            assert total[*track, "waits for room"] == result.stall_output[node.id]


def test_counters_add_up_to_the_counters() -> None:
    regions = traced("compiled")
    events = check_format(trace_json(regions))
    assert not any(e["ph"] == "X" and e["tid"] != PATH_THREAD for e in events)
    for pid, region in enumerate(regions, 1):
        result: EngineResult = region.result
        for node in result.graph.nodes:
            name = f"{node.id} {node.label}"
            mine = [e["args"] for e in events if (e["pid"], e["name"], e["ph"]) == (pid, name, "C")]
            for key, counter in (
                ("busy", result.busy),
                ("stall_input", result.stall_input),
                ("stall_output", result.stall_output),
            ):
                assert sum(args[key] for args in mine) == counter[node.id]


def test_channels_hold_at_the_end_what_nobody_took() -> None:
    (region, *_) = traced("compiled")
    events = check_format(trace_json([region]))
    for stream in region.result.graph.streams:
        shown = [e for e in events if e["name"].startswith(f"tokens in %{stream.id} ")]
        left = region.result.tokens[stream.id] - region.result.taken[stream.id]
        assert shown[-1]["args"]["tokens"] == left
        assert max(e["args"]["tokens"] for e in shown) <= 12


def test_regions_follow_each_other() -> None:
    regions = traced("interpreter")
    events = check_format(trace_json(regions))
    start = 0
    for pid, region in enumerate(regions, 1):
        times = [(e["ts"], e["ts"] + e["dur"]) for e in events if e["pid"] == pid and "dur" in e]
        assert min(times)[0] == start
        start += int(region.result.clocks.max())
        assert max(stop for _, stop in times) == start


def test_the_critical_path_is_a_thread() -> None:
    (region, *_) = traced("interpreter")
    events = check_format(trace_json([region]))
    shown = [e for e in events if e["ph"] == "X" and e["tid"] == PATH_THREAD]
    assert region.path is not None
    assert [(e["ts"], e["dur"]) for e in shown] == [
        (s.start, s.cycles) for s in region.path.segments
    ]
    assert "repeat waits for a token of max on max" in {e["name"] for e in shown}


def test_what_is_too_long_is_left_out_and_said() -> None:
    region = traced("interpreter")[0]
    text = trace_json([region], max_intervals=5)
    events = check_format(text)
    assert not any(e["ph"] == "X" for e in events)
    notes = json.loads(text)["otherData"]["notes"]
    assert "softmax: the critical path has too many segments to show" in notes
    assert any("counters per" in note for note in notes)


def test_timelines_alone_are_enough() -> None:
    check_format(trace_json(traced("compiled", Observe())))


def test_a_plain_run_has_no_trace() -> None:
    result = run_graph(softmax(), Machine.default(), "interpreter")
    with pytest.raises(SimulationError, match="not observed"):
        trace_json([TracedRegion("softmax", result)])
