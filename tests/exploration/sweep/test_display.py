"""Sweeps in a notebook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuseloom.exploration.store import State
from fuseloom.exploration.sweep.explored import SHOWN, Explored, ExploredRow


def row(name: str, **figures: float) -> ExploredRow:
    return ExploredRow({"order": name}, state=State.DONE, **figures)  # type: ignore[arg-type]


FOUND = Explored(
    {"order": ["<i>", "j", "k"]},
    (row("<i>", cycles=200, bytes=8.0), row("j", cycles=100), row("k", estimated=5000.0)),
    True, {}, Path("runs.sqlite"),
)  # fmt: skip


def test_the_fewest_cycles_come_first() -> None:
    html = FOUND._repr_html_()
    assert html.index(">j<") < html.index("&lt;i&gt;") < html.index(">k<")
    assert "3 configurations, 2 of them simulated" in html
    assert "5,000" in html
    assert html.count('class="bar"') == 2


def test_what_is_missing_and_why_is_told() -> None:
    lost = replace(FOUND.rows[0], cycles=None, state=State.REFUSED, reason="a < b")
    html = replace(FOUND, rows=(lost,) * (SHOWN + 2), complete=False)._repr_html_()
    assert "refused: a &lt; b" in html
    assert "not complete" in html
    assert "2 more rows" in html
