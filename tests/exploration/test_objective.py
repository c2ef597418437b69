"""Objectives and budgets of designs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.dram import hbm2
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import FuseloomError
from fuseloom.exploration.objective import OBJECTIVES, DesignBudget, objective_of
from fuseloom.results.method import Cost

COST = Cost(cycles=200.0, energy=3e-6, area=5000.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("cycles", 200.0), ("time", 1e-7), ("energy", 3e-6), ("edp", 3e-13), ("area", 5000.0)],
)
def test_values(name: str, value: float) -> None:
    assert objective_of(name).of(COST, 2e9) == pytest.approx(value)


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda each: each.name)
def test_it_depends_on_its_axes_and_grows_with_each(objective) -> None:
    value = objective.of(COST, 1e9)
    for axis in ("cycles", "bytes", "on_chip", "energy", "area"):
        more = objective.of(replace(COST, **{axis: getattr(COST, axis) * 2 + 1}), 1e9)
        assert more > value if axis in objective.axes else more == value


def test_another_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(FuseloomError, match="no objective is called 'edq'") as caught:
        objective_of("edq")
    assert "edp" in str(caught.value.hint)


def test_bandwidth_is_that_of_the_memory() -> None:
    narrow = Machine("narrow", memory=hbm2(channels=1))  # 32 GB/s
    assert DesignBudget(bandwidth=32e9).refuses(narrow) == ""
    assert "3.2e+10 bytes/s" in DesignBudget(bandwidth=31e9).refuses(narrow)
    for name in ("default", "ideal"):
        assert "no limit" in DesignBudget(bandwidth=1e15).refuses(Machine.preset(name))
    assert DesignBudget(area=1.0, energy=1.0).refuses(Machine.default()) == ""


@pytest.mark.parametrize("name", ["area", "energy", "bandwidth"])
@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_what_is_no_budget_is_refused(name: str, value: float) -> None:
    with pytest.raises(FuseloomError, match=f"a budget of {name}"):
        DesignBudget(**{name: value})
