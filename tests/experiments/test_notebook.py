"""A figure in one call."""

from __future__ import annotations

import pytest

from fuseloom.errors import UsageError
from fuseloom.experiments import ExperimentSize, figure


def test_one_call(tmp_path) -> None:
    path, told = tmp_path / "runs.sqlite", []
    made = figure("18", "smoke", store=path, told=lambda *event: told.append(event))
    assert made.claims[0].ok
    assert len(told) == 4
    told.clear()
    again = figure(
        "fig18", ExperimentSize.SMOKE, "paper", store=path, told=lambda *e: told.append(e)
    )
    assert [event for event, _, _ in told] == ["there"] * 4
    assert again.panels == made.panels
    with pytest.raises(UsageError):
        figure("19", store=path)
