"""Measurements that are no runs."""

from __future__ import annotations

import itertools

import pytest

from fuseloom.errors import DataError
from fuseloom.experiments.measures import describe, roofline


def quiet(share: float, text: str) -> bool:
    return True


def test_what_data_are() -> None:
    made = describe({"graph": "karate"}, quiet)
    assert (made["rows"], made["stored"]) == (34, 156)
    assert made["sparsity"] == pytest.approx(100 * (1 - 156 / 34**2))
    mask = describe({"mask": 64, "tokens": 1024}, quiet)
    assert mask["stored"] == 118 * 64 * 64
    with pytest.raises(DataError):
        describe({"graph": "kara"}, quiet)
    with pytest.raises(DataError, match="do not divide"):
        describe({"mask": 100, "tokens": 1024}, quiet)


def test_rates_are_consistent() -> None:
    request = {"graph": "karate", "hidden": 16, "elements": 2**16, "edge": 64}
    made = roofline(request, quiet)
    assert all(value > 0 for value in made.values())
    assert made["arithmetic_share"] == pytest.approx(made["rate"] / made["peak"])
    roof = min(made["peak"], made["intensity"] * made["bandwidth"])
    assert made["roof_share"] == pytest.approx(made["rate"] / roof)
    # 2·N·F·H + 2·nnz·H per layer, F of 34, 16 and 16, four classes at the end
    widths = [34, 16, 16, 4]
    flops = sum(2 * 34 * a * b + 2 * 156 * b for a, b in itertools.pairwise(widths))
    assert made["rate"] * made["seconds"] == pytest.approx(flops)
