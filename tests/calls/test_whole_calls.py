"""Whole calls: what they give, on arrays and on data structures that are read by parts."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, annotate
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Items
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.calls.stored_kinds import DatabaseRows
from fuseloom.calls.whole_calls import WholeCalls

from .test_pipelines import SMALL


@pytest.mark.parametrize("name", PIPELINES)
def test_whole_calls_give_what_other_means_give(name: str) -> None:
    case = PIPELINES[name].make(SMALL[name])
    whole = WholeCalls(case.composition, case.arguments)
    for fresh in (True, False):
        case.result.fill(np.nan)
        whole(fresh=fresh)
        assert np.allclose(case.result, case.expected, rtol=1e-4, atol=1e-5)


def test_what_is_stored_is_read_and_written_whole() -> None:
    table = sqlite3.connect(":memory:")
    table.execute("CREATE TABLE t (n INTEGER, x REAL)")
    table.executemany("INSERT INTO t VALUES (?, ?)", [(n, n / 2) for n in range(5)])
    listed = annotate(
        lambda rows, out: out.__setitem__(slice(None), rows[:, 0].tolist()),
        """t: Symbolic for i in [0, out.len, t] { produces { out { start: i, len: t } }
           when consumes { rows { start: i, len: t } } }""",
        ["rows", "out"],
        "listed",
    )
    composition = compose(
        [listed(DataHandle("rows", DatabaseRows("t", ["x"], "n")), DataHandle("out", Items()))]
    )
    out = [None] * 5
    WholeCalls(composition, {"rows": table, "out": out})()
    assert out == [0, 0.5, 1, 1.5, 2]
