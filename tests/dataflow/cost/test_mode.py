"""Modes of estimates by name."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.cost import EstimateMode
from fuseloom.dataflow.cost.mode import mode_named
from fuseloom.errors import DataError


def test_modes_have_names() -> None:
    assert [mode_named(mode.value) for mode in EstimateMode] == list(EstimateMode)
    assert mode_named(EstimateMode.SAMPLED) is EstimateMode.SAMPLED


def test_another_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(DataError, match="no estimate is called 'roughly'") as refused:
        mode_named("roughly")
    assert refused.value.hint == "known: auto, exact, sampled, metadata"
