"""The JSON of a recording says what the recording says."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from typing import Any

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.steps import (
    NEVER,
    Recording,
    RecordingLimits,
    chunks,
    record,
    record_region,
    story,
)
from fuseloom.dataflow.sim.steps.scene import short
from fuseloom.models import load


@pytest.fixture(scope="module")
def recording() -> Recording:
    model, data = load("gcn", "karate")
    compiled = compile_program(model.program, "fuse T1..H; fuse T5..Y")
    return record_region(compiled, 0, data, kept=RecordingLimits(cycles=1_500))


def spread(numbers: Any, count: int) -> list[int]:
    return [numbers] * count if isinstance(numbers, int) else numbers


def test_chunks_cover_all_cycles_and_are_small(recording: Recording) -> None:
    bounds = chunks.bounds(recording)
    assert bounds[0] == 0
    assert bounds[-1] == recording.last + 1 == 1_501
    assert bounds == sorted(set(bounds))
    for first, stop in pairwise(bounds):
        text = json.dumps(chunks.chunk(recording, first, stop))
        assert len(text) < 400_000


def test_a_chunk_says_what_lies_where(recording: Recording) -> None:
    """Whatever is put, taken or next in a cycle of the chunk is in it, with its cycles."""
    first, stop = 400, 700
    made = json.loads(json.dumps(chunks.chunk(recording, first, stop)))
    for stream, (entered, left, spans) in zip(recording.streams, made["streams"], strict=True):
        assert entered == stream.entered(first - 1)
        assert left == stream.left(first - 1)
        told: dict[int, tuple[str, int, int, int]] = {}
        for start, texts, puts, seen, gone in spans:
            count = len(texts)
            times = zip(accumulate(puts), spread(seen, count), spread(gone, count), strict=True)
            for k, (text, (put, lag, stay)) in enumerate(zip(texts, times, strict=True)):
                visible = NEVER if lag < 0 else put + lag
                told[start + k] = text, put, visible, NEVER if stay < 0 else put + stay
        for cycle in range(first, stop, 7):
            held = stream.held(cycle)
            wanted = {*stream.put_in(cycle), *stream.taken_in(cycle), *held[:8], *held[-8:]}
            for k in wanted:
                assert told[k] == (
                    short(stream.tokens[k]),
                    stream.put[k],
                    stream.visible[k],
                    stream.taken[k],
                )


def test_a_long_queue_is_told_by_its_ends() -> None:
    bound = bench_graph("repeat", "4@900 D@901", f"{'R ' * 400}S D".strip(), capacity=None)
    recording = record(bound, Machine.default())
    _, _, spans = chunks.chunk(recording, 390, 395)["streams"][1]
    assert len(spans) == 2
    assert sum(len(span[1]) for span in spans) < 40


def test_the_outline(recording: Recording) -> None:
    told = json.loads(json.dumps(chunks.outline(recording)))
    assert told["cycles"] is None
    assert told["last"] == 1_500
    assert "first 1,500 cycles" in told["note"]
    assert len(told["streams"]) == len(recording.streams)
    assert told["tokens"] == sum(stream["count"] for stream in told["streams"])
    scanner = next(node for node in told["nodes"] if node["label"] == "LS A.k")
    assert [name for name, _ in scanner["outs"]] == ["crd", "ref"]
    stream = told["streams"][scanner["outs"][0][1]]
    assert stream["index"] == "k"
    assert told["nodes"][stream["from"]] == scanner


def test_acts_are_runs_of_cycles(recording: Recording) -> None:
    for node in recording.graph.nodes:
        runs = chunks.acts(recording, node.id)
        cycles = [c for a, n in zip(runs[::2], runs[1::2], strict=True) for c in range(a, a + n)]
        assert cycles == recording.acts(node.id).tolist()
    assert (
        chunks.acts(record(bench_graph("repsig", "D@9"), Machine.default(), RecordingLimits(3)), 0)
        == []
    )


def test_sentences_come_in_spans(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOMENTS", 100)
    node = max(range(len(recording.graph.nodes)), key=lambda n: len(recording.acts(n)))
    whole = [[m.cycle, m.doing.value, m.text] for m in story(recording, node)]
    covered = 0
    while covered <= recording.last:
        part = chunks.moments(recording, node, covered)
        assert part["first"] <= covered < part["stop"]
        assert len(part["moments"]) <= 100
        within = [m for m in whole if part["first"] <= m[0] < part["stop"]]
        assert part["moments"] == within
        covered = part["stop"]


def test_the_story_as_text(recording: Recording) -> None:
    lines = list(chunks.as_text(recording, 0))
    assert lines[0] == "     0  root put reference 0, with which the traversal starts"
