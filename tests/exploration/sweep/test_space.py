"""Spaces say what they are over, and refuse what they cannot be."""

from __future__ import annotations

from typing import Any

import pytest

import fuseloom as fl
from fuseloom.errors import DataError, FuseloomError
from fuseloom.exploration.sweep import Base, ProgramWithData, Space
from fuseloom.exploration.sweep.space import SIZES

PROGRAM = fl.parse("A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n")


def test_points_are_all_combinations_those_of_one_program_together() -> None:
    space = Space(
        Base("gcn"),
        {"capacity": [2, "none"], "model": ["gcn", "spmm"], "load_latency": range(1, 4)},
    )
    assert space.size == 12
    assert space.counted
    points = list(space.points())
    assert len({tuple(point.items()) for point in points}) == 12
    assert [*points[0]] == ["capacity", "model", "load_latency"]
    assert [point["model"] for point in points] == ["gcn"] * 6 + ["spmm"] * 6
    assert points[0] == {"capacity": "2", "model": "gcn", "load_latency": "1"}


def test_one_value_is_a_list_of_one_and_equal_ones_are_one() -> None:
    space = Space(Base("gcn"), {"preset": "full", "seed": [1, "1", 2]})
    assert dict(space.axes) == {"preset": ("full",), "seed": ("1", "2")}
    assert Space(Base()).size == 1
    assert list(Space(Base()).points()) == [{}]


def test_what_all_stands_for_is_not_counted() -> None:
    assert not Space(Base(), {"order": ["all"]}).counted
    assert not Space(Base(order="all")).counted
    assert not Space(Base(), {"cuts": ["all"]}).counted


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"frob": [1]}, "there is no axis 'frob'"),
        ({"load_latncy": [1]}, "load_latency"),
        ({"channel_capacity": [1]}, "no axis"),
        ({"model": ["gnc"]}, "gcn"),
        ({"data": ["none"]}, "no value of data"),
        ({"machine": ["abacus"]}, "no value of machine"),
        ({"schedule": ["mine"]}, "no value of schedule"),
        ({"order": ["worst"]}, "'worst' is no value of order"),
        ({"cuts": [3]}, "no value of cuts"),
        ({"capacity": [0]}, "at least 1, or sized, or none"),
        ({"lanes.i": [0]}, "at least 1"),
        ({"lanes.i": ["-1"]}, "at least 1"),
        ({"lanes.": [1]}, "no axis"),
        ({"lanes.1": [1]}, "no axis"),
        ({"with.": [1]}, "no axis"),
        ({"block": ["16.5"]}, "or none"),
        ({"seed": [True]}, "no value of seed"),
        ({"seed": []}, "0 values"),
        ({"seed": range(20_000)}, "20,000 values"),
        ({"preset": ["full"], "schedule": ["a"]}, "both"),
        ({"": [1]}, "no axis"),
        ({"load_latency": [0]}, "load_latency is 0"),
        ({"outstanding": [10**9]}, "from 1 to 4,096"),
        ({"capacity": [10**13]}, "no value of capacity"),
    ],
)
def test_what_is_no_space_is_refused(axes: dict[str, Any], told: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        Space(Base("gcn"), axes, {"a": ""})
    assert told in str(caught.value)


def test_bases_are_checked() -> None:
    given = ProgramWithData.of(PROGRAM, {"A": [[1.0] * 4] * 4, "x": [1.0] * 4})
    for wrong in (
        {"order": "worst"},
        {"capacity": "0"},
        {"preset": "full", "schedule": ""},
        {"of": given, "data": "karate"},
        {"of": given, "sizes": {"hidden": 3}},
    ):
        with pytest.raises(DataError):
            Base(**wrong)
    for axis, value in {"model": "gcn", "data": "karate", "seed": 1, "with.hidden": 3}.items():
        with pytest.raises(DataError, match="goes with a model"):
            Space(Base(given), {axis: [value]})
    with pytest.raises(DataError):
        ProgramWithData.of(PROGRAM, {"A": [[1.0] * 4] * 4})


def test_sizes_are_those_of_machines() -> None:
    assert "load_latency" in SIZES
    assert "channel_capacity" not in SIZES
    for name in SIZES:
        assert Space(Base(), {name: [1]}).size == 1
