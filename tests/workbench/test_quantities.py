"""Quantities as text."""

from __future__ import annotations

import pytest

from workbench.quantities import about


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "less than a second"),
        (1.2, "about 1 second"),
        (23, "about 20 seconds"),
        (200, "about 3 minutes"),
    ],
)
def test_durations_are_rough(seconds, text):
    assert about(seconds) == text
