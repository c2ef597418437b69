"""The request of a page for a search: bounds, units, and plain data in and out."""

from __future__ import annotations

import pytest

from fuseloom.errors import FuseloomError
from fuseloom_workbench.search.wishes import SearchSettings


def test_settings_are_read_as_people_write_them():
    asked = SearchSettings.of({"strategy": "random", "runs": "1,000", "gap": "2.5", "copies": 1})
    assert (asked.strategy, asked.runs, asked.copies) == ("random", 1000, 1)
    assert asked.gap == pytest.approx(0.025)
    assert SearchSettings.of(asked.to_dict()) == asked
    assert SearchSettings.of(None) == SearchSettings()
    assert SearchSettings.of({"nonzero": True}).nonzero


@pytest.mark.parametrize(
    ("name", "value"),
    [("strategy", "luck"), ("strategy", ["auto"]), ("seconds", "0"), ("seconds", "1e9"),
     ("seconds", "nan"), ("gap", "100"), ("gap", "-1"), ("runs", "1.5"), ("runs", "many"),
     ("lanes", 65), ("copies", [2]), ("copies", "5"), ("nonzero", "True"),
     ("seed", 10**400)],
)  # fmt: skip
def test_what_is_out_of_bounds_names_its_field(name, value):
    with pytest.raises(FuseloomError) as refused:
        SearchSettings.of({name: value})
    assert str(refused.value).startswith(f"{name}: ")


def test_a_server_may_allow_less_time():
    assert SearchSettings.of({"seconds": 20}, limit=30.0).seconds == 20
    with pytest.raises(FuseloomError, match="to 30 s"):
        SearchSettings.of({"seconds": 31}, limit=30.0)
