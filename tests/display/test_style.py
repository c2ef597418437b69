"""The colours of notebooks are those of the workbench, whose contrasts are checked there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuseloom.display import shown
from fuseloom.display.style import COLOURS, style

TOKENS = Path(__file__).parents[2] / "workbench/fuseloom_workbench/base/tokens.css"


@pytest.mark.parametrize("name", COLOURS)
def test_a_colour_is_the_workbenchs(name: str) -> None:
    found = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", TOKENS.read_text("utf-8"))
    assert found is not None
    assert found.groups() == COLOURS[name]


def test_every_colour_that_is_used_is_there() -> None:
    used = set(re.findall(r"var\(--([\w-]+)", style()))
    assert used - {"c", "f", "sans", "mono"} <= COLOURS.keys()


def test_a_piece_carries_its_style() -> None:
    assert shown("a < b").startswith('<div class="fuseloom"><style>')
    assert "a &lt; b" in shown("a < b")
