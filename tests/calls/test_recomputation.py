"""Counts of schedules, against tiles that are run."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, annotate
from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.polynomials import DataField, Symbol
from fuseloom.calls.recomputation import count
from fuseloom.errors import LimitError

from .programs import EXP, ROW_MAX, SUBTRACT

A, B, C = (DataHandle(name, Matrix()) for name in "ABC")


def test_counts_are_those_of_a_run() -> None:
    seen: list[int] = []

    def counted(a, out):
        seen.append(out.size)
        np.exp(a, out=out)

    exp = annotate(counted, str(EXP.annotation), name="exp")
    v = DataHandle("v", Vector())
    fused = FusedFunction([exp(A, B), ROW_MAX(B, 7, v), SUBTRACT(B, v, C)])
    given = {"A": np.random.default_rng(0).random((9, 7)), "C": np.empty((9, 7)), "tr": 4, "tc": 3}
    fused(**given)
    counts = fused.counts(**given)
    assert counts.computed["B"] == sum(seen) == 3 * 9 * 7
    assert counts.recomputation == {"B": 3.0, "v": 3.0, "C": 1.0}
    assert counts.calls == 3 * len(seen)


def test_too_many_tiles_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuseloom.calls.recomputation.MOST_TILES", 50)
    fused = FusedFunction([EXP(A, B)])
    values = {
        Symbol("tr"): 1, Symbol("tc"): 1, DataField("B", "rows"): 8, DataField("B", "cols"): 8
    }  # fmt: skip
    with pytest.raises(LimitError, match="more than 50 tiles"):
        count(fused.scheduled, values)
