"""Energies: sums by kind, joules and the energy-delay product, worked out by hand."""

from __future__ import annotations

import pytest

from fuseloom.errors import RecordError
from fuseloom.results.declarations import read
from fuseloom.results.energy import ActionKind, EnergyUse

FIRST = EnergyUse({"add": 1.0, "memory": 5.0}, 2.0)
SECOND = EnergyUse({"multiply": 3.0, "memory": 1.0}, 3.0)


def test_the_product_is_that_of_the_whole() -> None:
    both = FIRST + SECOND
    assert both.actions == {"add": 1.0, "memory": 6.0, "multiply": 3.0}
    assert (both.joules, both.seconds, both.edp) == (10.0, 5.0, 50.0)
    assert FIRST.edp + SECOND.edp == 12.0 + 12.0


def test_nothing_takes_nothing() -> None:
    assert (EnergyUse().joules, EnergyUse().edp) == (0, 0.0)
    assert EnergyUse() + FIRST == FIRST


def test_what_is_written_is_read() -> None:
    told = FIRST.to_dict()
    assert told == {
        "joules": 6.0, "edp": 12.0, "actions": {"add": 1.0, "memory": 5.0}, "seconds": 2.0
    }  # fmt: skip
    assert read(EnergyUse, told, "energy") == FIRST


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"joules": 7.0}, "energy.joules is 7.0"),
        ({"edp": 0.0}, "energy.edp is 0.0"),
        ({"seconds": -1.0}, "energy.seconds is -1.0"),
        ({"actions": {"add": "1"}}, "energy.actions.add is '1'"),
    ],
)
def test_what_contradicts_itself_is_refused(change: dict[str, object], why: str) -> None:
    with pytest.raises(RecordError, match=why):
        read(EnergyUse, {**FIRST.to_dict(), **change}, "energy")


def test_kinds_have_their_own_names() -> None:
    assert len({kind.value for kind in ActionKind}) == len(ActionKind)
