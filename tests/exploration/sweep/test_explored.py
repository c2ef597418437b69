"""The results of a sweep, as they are shown."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fuseloom.exploration.store import Outcome, State
from fuseloom.exploration.sweep import Explored, ExploredRow
from fuseloom.results.document import DocumentKind, document, plain
from tests.exploration.store.samples import record
from tests.schemas import check_document


def explored() -> Explored:
    rows = [ExploredRow({"seed": str(n)}, f"{n:064x}", f"order y: i # {n}") for n in range(25)]
    for row in rows[:20]:
        row.estimated, row.state = 200.0 - int(row.values["seed"]), State.ESTIMATED
    rows[3].take(Outcome.of(record(7)))
    rows[4].take(Outcome.of(record(1, 0.5)))
    rows[5].take(Outcome(State.FAILED, None, "a\x1bb"))
    rows[24] = ExploredRow({"seed": "24"}, reason="no such data")
    return Explored({"seed": tuple(map(str, range(25)))}, tuple(rows), True, {"done": 2}, Path("x"))


def test_the_best_is_simulated_and_right() -> None:
    found = explored()
    assert found.best is not None
    assert (found.best.values["seed"], found.best.cycles) == ("3", 107)
    assert not found.ok
    assert len(found) == 25
    only = Explored(found.axes, found.rows[6:], True, {}, Path("x"))
    assert only.best is not None
    assert only.best.estimated == 181
    assert only.ok
    assert Explored({}, (), True, {}, Path("x")).best is None


def test_a_table_for_people() -> None:
    lines = explored().lines()
    assert lines[0].split() == ["seed", "estimated", "cycles", "bytes", "state"]
    assert lines[1].split()[:4] == ["4", "196", "101", "36"]
    assert "MISMATCH" in lines[1]
    assert lines[-1] == "showing 20 of 25 configurations"
    assert "\x1b" not in "\n".join(explored().lines(25))
    assert len(explored().lines(25)) == 26


def test_a_frame_and_plain_data() -> None:
    found = explored()
    frame = found.frame
    assert list(frame.columns)[:3] == ["seed", "state", "cycles"]
    assert frame["cycles"].dtype == pd.Int64Dtype()
    assert frame["cycles"].notna().sum() == 2
    assert frame.shape[0] == 25
    made = document(DocumentKind.SWEEP, plain(found.to_dict()))
    check_document(made, DocumentKind.SWEEP)
    assert "<table" in found._repr_html_()
    empty = Explored({"seed": ()}, (), True, {}, Path("x"))
    assert empty.frame.empty
