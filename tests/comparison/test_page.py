"""The page about the comparison: its tables are what the systems give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.five_ways import TITLES, cells
from fuseloom.comparison.compare import compare
from fuseloom.comparison.examples import EXAMPLES, example

PAGE = (Path(__file__).parents[2] / "docs" / "five-ways.md").read_text(encoding="utf-8")
BY_LIMITS = ("found", "tuned")
"""Schemes whose schedules depend on time limits and on times."""
MEASURED = TITLES.index("measured")


def tables() -> dict[str, str]:
    """The text below each program's heading."""
    parts = re.split(r"^### .*\n\n`(\w+)`:", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_program_has_a_table():
    assert tuple(tables()) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_table_is_what_the_systems_give(name):
    lines = [line for line in tables()[name].splitlines() if line.startswith("| ")]
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert tuple(told[0]) == TITLES
    program, data = example(name)
    made = compare(program, data, seconds=0.1, rounds=1)
    wanted = [list(cells(row)) for row in made.rows if row.applies]
    assert len(told) == len(wanted) + 1
    for here, there in zip(told[1:], wanted, strict=True):
        assert here[:2] == there[:2]
        assert bool(here[MEASURED]) == bool(there[MEASURED])
        if here[1] not in BY_LIMITS:
            assert here[:MEASURED] == there[:MEASURED]
    for row in made.rows:
        if not row.applies:
            assert f"{row.system.value} does not apply: {row.reason}." in tables()[name]
