"""Windows of the timeline."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.sim.events import files
from fuseloom_workbench.state.look import Window
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline import windows
from fuseloom_workbench.timeline.rows import begins, rows_of, shown_runs
from fuseloom_workbench.timeline.windows import answer, has_events, store_of

from .conftest import run

_TYPES = {1: "u1", 2: "<u2", 4: "<u4", 8: "<f8"}


def ask(session: Session, kind: str, start: int, stop: int, width: int, *rows: int) -> Any:
    session.look_into(Window(kind, 1, start, stop, width, rows))
    made = answer(session)
    assert json.loads(json.dumps(made)) == made
    return made


def numbers(made: Any, letter: str) -> np.ndarray:
    part = made[letter]
    data = np.frombuffer(base64.b64decode(part["data"]), _TYPES[part["bytes"]])
    return data.reshape(len(made["rows"]), 4, made["columns"])


def test_columns_add_up_to_the_record(compared: Session) -> None:
    made_rows = rows_of(compared).rows
    here, there = shown_runs(compared)
    end = max(here.run.cycles, there.run.cycles)
    made = ask(compared, "window", 0, end, 311, *range(len(made_rows)))
    assert made["columns"] == 311
    for letter, kept in (("a", there), ("b", here)):
        cells = numbers(made, letter).sum(axis=2)
        for row, found in zip(made_rows, cells, strict=True):
            place = row.here if letter == "b" else row.there
            told = kept.run.regions[place[0]].rows[place[1]] if place else None
            names = ("busy", "stall_input", "stall_output", "stall_memory")
            assert found.tolist() == ([told[n] for n in names] if told else [0] * 4), row


def test_columns_of_a_window_are_those_of_its_region(compared: Session) -> None:
    _, there = shown_runs(compared)
    rows = rows_of(compared).rows
    second = begins(there.run)[1]
    number = next(k for k, row in enumerate(rows) if row.there and row.there[0] == 1)
    made = ask(compared, "window", second - 40, second + 60, 100, number)
    store = store_of(there.run.regions[1])
    spent = np.diff(store.spent(rows[number].there[1], np.arange(61)), axis=1)[:4]
    found = numbers(made, "a")[0]
    assert not found[:, :40].any()
    assert np.array_equal(found[:, 40:], spent)


def test_a_group_is_the_sum_of_its_rows(compared: Session) -> None:
    rows = rows_of(compared).rows
    members = [k for k, row in enumerate(rows) if row.group == 2]
    made = ask(compared, "window", 100, 9_000, 64, -3, *members)
    for letter in "ab":
        cells = numbers(made, letter).astype(int)
        assert cells[0].any()
        assert np.array_equal(cells[0], cells[1:].sum(axis=0))


def test_bars_come_when_they_are_few(compared: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(compared).rows
    everything = range(len(rows))
    made = ask(compared, "window", 2_000, 2_200, 200, *everything)
    bars, cells = made["bars"], numbers(made, "b")
    for number in everything:
        seen = np.zeros((4, 200), int)
        for activity, start, length in bars["b"][number]:
            assert length > 0
            first, last = max(start, 2_000), min(start + length, 2_200)
            assert first < last
            seen[activity, first - 2_000 : last - 2_000] += 1
        assert np.array_equal(seen, cells[number])
    monkeypatch.setattr(windows, "BARS", 50)
    assert ask(compared, "window", 2_000, 2_201, 200, *everything)["bars"] is None


def test_numbers_take_the_narrowest_type(compared: Session) -> None:
    assert ask(compared, "window", 0, 200, 10, 3)["b"]["bytes"] == 1
    assert ask(compared, "window", 0, 40_000, 10, 20)["b"]["bytes"] == 2


def test_an_area_has_figures_per_run_and_region(compared: Session) -> None:
    here, there = shown_runs(compared)
    second = begins(there.run)[1]
    made = ask(compared, "area", second - 500, second + 500, 1, -2, -6)
    assert [(line["run"], line["region"]) for line in made["lines"]] == [
        ("a", there.run.regions[0].name),
        ("a", there.run.regions[1].name),
        ("b", here.run.regions[0].name),
    ]
    for line in made["lines"]:
        for figures, most in ((line["busy"], 1), (line["tokens"], np.inf)):
            assert 0 <= figures["least"] <= figures["mean"] <= figures["most"] <= most
            assert line["from"] <= figures["most_at"]["cycle"] < line["to"]
    rows = rows_of(compared).rows
    number = next(k for k, row in enumerate(rows) if row.label == "Acc1_p")
    (line,) = (
        line
        for line in ask(compared, "area", 0, here.run.cycles, 1, number)["lines"]
        if line["run"] == "b"
    )
    told = here.run.regions[0].rows[rows[number].here[1]]
    assert line["busy"]["mean"] == pytest.approx(told["busy"] / here.run.cycles)
    assert line["tokens"]["mean"] == pytest.approx(told["tokens_out"] / here.run.cycles)


def test_a_trace_has_every_region(compared: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ask(compared, "trace", 0, 1, 1)
    data = json.loads(made["text"])
    here, _ = shown_runs(compared)
    busy = sum(e["dur"] for e in data["traceEvents"] if e.get("name") == "busy")
    assert busy == sum(row["busy"] for r in here.run.regions for row in r.nodes)
    assert made["name"].endswith("-full.trace.json")
    monkeypatch.setattr(windows, "TRACE", 100)
    assert "--trace-out" in ask(compared, "trace", 0, 2, 1)["problem"]


def test_rows_that_are_not_there_are_empty(compared: Session) -> None:
    made = ask(compared, "window", 0, 1_000, 10, 10**6, -(10**6))
    assert not numbers(made, "b").any()


def test_without_events_there_is_no_answer(session: Session) -> None:
    assert answer(session) == {}
    run(session, events=False)
    made = ask(session, "window", 0, 100, 10, 1)
    assert "b" not in made
    assert ask(session, "area", 0, 100, 1, 1)["lines"] == []
    assert "run again with events" in ask(session, "trace", 0, 100, 1)["problem"]


def test_a_file_elsewhere_is_not_read(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(files.ENVIRONMENT, str(tmp_path))
    kept = run(session)
    assert has_events(kept)
    region = kept.run.regions[0]
    path = Path(region.timeline["events"])
    moved = tmp_path / path.name
    path.rename(moved)
    object.__setattr__(region, "timeline", {**region.timeline, "events": str(moved)})
    assert not has_events(kept)


def test_the_events_of_another_graph_are_refused(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(files.ENVIRONMENT, str(tmp_path))
    kept = run(session)
    one, other = kept.run.regions
    object.__setattr__(one, "timeline", other.timeline)
    assert "another run" in ask(session, "window", 0, 100, 10, 5)["problem"]
