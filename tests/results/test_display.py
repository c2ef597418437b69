"""Checks and records in a notebook."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.results.check import Check
from fuseloom.results.display import check_html, figures_html
from tests.results.test_record import SMALL


def test_a_verdict_is_green_or_red() -> None:
    assert 'class="good"' in check_html(Check(0.0, True))
    wrong = Check(0.5, False, wrong="y[1] is stored, and should not be")
    assert 'class="bad"' in wrong._repr_html_()
    assert "y[1] is stored" in wrong._repr_html_()
    assert "Not compared" in check_html(None)


def test_one_region_needs_no_total() -> None:
    one = figures_html([("a", 1, 2, 3)], (1, 2, 3))
    assert "total" not in one
    two = figures_html([("a", 1, 2, 3), ("b", 1000, 2, 3)], (1001, 4, 6), [("of", ["x", "y", "z"])])
    assert "1,001" in two
    assert two.count("<th ") == 5 + 2 + 1


def test_a_record_says_what_ran_where() -> None:
    html = SMALL._repr_html_()
    assert f"{SMALL.cycles:,} cycles on machine default" in html
    assert "every statement by itself" in replace(SMALL, schedule="")._repr_html_()
