"""Configurations as plain data."""

from __future__ import annotations

import json

import pytest

from fuseloom.errors import RecordError
from fuseloom.experiments.configuration import Configuration, How, Orders
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.registry import RECIPES


def every() -> list[Configuration]:
    return [
        configuration
        for recipe in RECIPES.values()
        for size in ExperimentSize
        for mode in AccountingMode
        for configuration in recipe.configurations(size, mode).values()
    ]


def test_they_read_back_what_they_wrote() -> None:
    for configuration in every():
        text = json.dumps(configuration.to_dict())
        assert Configuration.from_dict(json.loads(text)) == configuration


def test_the_same_under_another_schedule() -> None:
    made = Configuration("gcn", "cora", settings="locate off", orders=Orders.FIRST)
    assert made.scheduled("full").settings == "locate off"
    assert made.scheduled("full", "").settings == ""
    assert made.estimated().how is How.ESTIMATED
    assert made.title == "gcn cora"
    other = made.scheduled("full", "locate off; parallel i by 4").estimated()
    assert other.title == "gcn cora, full, parallel i by 4, estimated"


@pytest.mark.parametrize("given", [{}, {"workload": "gcn"}, 3, None, {"how": "guessed"}])
def test_what_is_no_configuration(given) -> None:
    with pytest.raises(RecordError, match="configuration"):
        Configuration.from_dict(given)
