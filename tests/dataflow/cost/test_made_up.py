"""Coordinates made up from what is expected of a tensor."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.cost import made_up as module
from fuseloom.dataflow.cost.exact.patterns import FullLevel, UnknownError, elements_in
from fuseloom.dataflow.cost.made_up import made_up
from fuseloom.dataflow.cost.statistics import ExpectedStatistics


def uniform(*sizes: int, total: float) -> ExpectedStatistics:
    return ExpectedStatistics(tuple(np.full(n, total / n) for n in sizes))


def test_what_is_nearly_complete_is_complete() -> None:
    levels = made_up(uniform(5, 4, total=20.0), "T")
    assert levels == (FullLevel(1, 5), FullLevel(5, 4))
    (rows, row_crd), (seg, crd) = (k.arrays() for k in levels if isinstance(k, FullLevel))
    assert rows.tolist() == [0, 5]
    assert row_crd.tolist() == list(range(5))
    assert seg.tolist() == [0, 4, 8, 12, 16, 20]
    assert crd.tolist() == [0, 1, 2, 3] * 5
    assert elements_in(made_up(uniform(10**6, 10**6, total=1e12), "T")) == 10**12


def test_about_as_many_as_expected_and_the_same_every_time() -> None:
    expected = uniform(300, 200, total=6000.0)
    levels = made_up(expected, "T")
    assert len(levels[-1][1]) == pytest.approx(6000, rel=0.05)
    again = made_up(expected, "T")
    assert all(
        np.array_equal(a, b)
        for x, y in zip(levels, again, strict=True)
        for a, b in zip(x, y, strict=True)
    )
    other = made_up(expected, "U")
    assert not np.array_equal(levels[-1][1], other[-1][1])


def test_a_hub_is_met_as_often_as_expected() -> None:
    rows = np.full(100, 5.0)
    rows[7] = 90.0
    total = rows.sum()
    (_, crd), (seg, _) = made_up(ExpectedStatistics((rows, np.full(100, total / 100))), "T")
    lengths = dict(zip(crd.tolist(), np.diff(seg).tolist(), strict=True))
    assert lengths[7] > 5 * np.median(list(lengths.values()))


def test_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100)
    with pytest.raises(UnknownError):
        made_up(uniform(50, 50, total=101.0), "T")
