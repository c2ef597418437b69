"""Quantities as text."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.quantities import (
    about,
    change,
    count,
    ratio,
    scientific,
    seconds,
    short,
    signed,
)


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


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (count(12_345.4, "cycles"), "12,345 cycles"),
        (count(float("inf"), "bytes"), "unknown bytes"),
        (short(999_999, "cycles"), "999,999 cycles"),
        (short(1_234_567, "cycles"), "1.23 M cycles"),
        (short(-2.5e9, "B"), "-2.5 GB"),
        (short(3e12, "B"), "3 TB"),
        (change(1_234.4, "cycles"), "+1,234 cycles"),
        (change(-5), "−5"),
        (change(-0.4, "cycles"), "±0 cycles"),
        (change(-2_500_000, "B"), "−2.5 MB"),
        (change(1, "cycles", count), "+1 cycle"),
        (change(float("inf"), "cycles", count), "unknown cycles"),
        (ratio(2.305), "2.31×"),
        (ratio(float("nan")), "—"),
        (seconds(0.0421), "42 ms"),
        (seconds(1), "1.0 s"),
        (signed(0.123), "+12 %"),
        (signed(-0.05), "−5 %"),
        (scientific(3.1e-7), "3e-7"),
        (scientific(0), "0"),
        (scientific(float("inf")), "unknown"),
    ],
)
def test_figures_carry_their_units(text, wanted):
    assert text == wanted


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (152, "", "152 "),
        (1.0, "cycles", "1 cycle"),
        (12_345.6, "cycles", "12,346 cycles"),
        (float("nan"), "cycles", "unknown cycles"),
        (6.18e67, "cycles", "6.18e+67 cycles"),
        (10**16, "bytes", "10,000,000,000,000,000 bytes"),
    ],
)
def test_counts(value: float, unit: str, text: str) -> None:
    assert count(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"), [(999, "999 cycles"), (1.234e6, "1.23 M cycles"), (6e67, "6e+67 cycles")]
)
def test_short_counts(value: float, text: str) -> None:
    assert short(value, "cycles") == text
