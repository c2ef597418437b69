"""The trace of a run as rows and as text."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim import Trace
from fuseloom.errors import SimulationError
from tests.dataflow.sim.doubling import doubled, matrix, run


def test_trace() -> None:
    trace = Trace.of(run(doubled(), matrix([[1, 0, 2], [0, 0, 0], [0, 3, 0]])))
    rows = {row["label"]: row for row in trace.rows()}
    assert rows["rows"]["tokens_in"] == 2
    assert rows["rows"]["tokens_out"] == 8
    assert rows["rows"]["tokens"] == 4
    assert rows["rows"]["first"] == 1
    for row in rows.values():
        stalls = row["stall_input"] + row["stall_output"] + row["stall_memory"]
        assert row["busy"] + stalls == row["last"]
        assert row["last"] + row["idle"] == trace.cycles
        assert 0 <= row["busy_share"] <= 1
    assert trace.cycles == max(row["last"] for row in rows.values())
    text = str(trace).splitlines()
    assert text[0] == f"doubled: {trace.cycles} cycles"
    assert len(text) == 2 + len(rows)
    assert Trace.from_json(trace.to_json()) == trace
    with pytest.raises(SimulationError, match="trace"):
        Trace.from_json('{"fuseloom": "graph"}')
    old = trace.to_json().replace('"version": 2', '"version": 1')
    with pytest.raises(SimulationError, match="not a trace file of version 2"):
        Trace.from_json(old)
    with pytest.raises(SimulationError, match="malformed trace JSON"):
        Trace.from_json("[")
