"""Which code specifies a primitive: all of the catalogue has some, and nothing else does."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS, implementation
from fuseloom.errors import SimulationError


def test_every_primitive_has_a_golden_model() -> None:
    assert CATALOGUE.keys() <= IMPLEMENTATIONS.keys()
    stalling = IMPLEMENTATIONS.keys() - CATALOGUE.keys()
    assert all(name.startswith("stalling_") for name in stalling)
    assert {name.removeprefix("stalling_") for name in stalling} <= CATALOGUE.keys()


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(SimulationError, match="cannot run the primitive 'warp'") as caught:
        implementation("warp")
    assert "spacc1" in (caught.value.hint or "")


def test_the_table_is_read_only() -> None:
    with pytest.raises(TypeError):
        IMPLEMENTATIONS["warp"] = implementation("root")
