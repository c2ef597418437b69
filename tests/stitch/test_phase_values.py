"""Values of phases know the variables that they depend on."""

from __future__ import annotations

from fuseloom.stitch.phase_values import (
    ElementChoice,
    ElementLoad,
    ElementNumber,
    ElementPosition,
    ElementResult,
    RangeTest,
)
from fuseloom.stitch.positions import variable


def test_names_are_those_of_all_that_a_value_is_made_of() -> None:
    i, j, k = (variable(name, 4) for name in "ijk")
    load = ElementLoad("x", False, i.times(4).plus(j), "f32")
    place = ElementPosition(k, "f32")
    one = ElementNumber(1.0, "f32")
    both = ElementResult("add", (load, one), "f32")
    chosen = ElementChoice((RangeTest(k, 2),), both, one, "f32")
    assert one.names == frozenset()
    assert place.names == {"k"}
    assert both.names == {"i", "j"}
    assert chosen.names == {"i", "j", "k"}
