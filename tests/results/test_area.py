"""Areas of regions, and of programs as the largest of them."""

from __future__ import annotations

import pytest

from fuseloom.errors import RecordError
from fuseloom.results.area import AreaUse, largest_area
from fuseloom.results.declarations import read

SMALL, LARGE = AreaUse(10.0, 400.0, 3.0), AreaUse(20.0, 30.0, 0.0)
UNKNOWN = AreaUse(reason="exp has no hardware")


def test_the_largest_has_the_most_look_up_tables() -> None:
    assert largest_area([SMALL, LARGE]) == largest_area([LARGE, SMALL]) == LARGE
    assert largest_area([]) is None


def test_one_that_is_not_known_makes_all_unknown() -> None:
    assert largest_area([LARGE, UNKNOWN, SMALL]) == UNKNOWN
    assert largest_area([LARGE, None, UNKNOWN]) is None, "nobody has looked at one"
    assert (LARGE.known, UNKNOWN.known) == (True, False)


@pytest.mark.parametrize("area", [SMALL, UNKNOWN])
def test_plain_data_read_back(area: AreaUse) -> None:
    assert read(AreaUse, area.to_dict(), "area") == area


@pytest.mark.parametrize("change", [{"luts": -1.0}, {"luts": "many"}, {"slices": 3}])
def test_what_is_no_area_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(RecordError):
        read(AreaUse, {**SMALL.to_dict(), **change}, "area")
