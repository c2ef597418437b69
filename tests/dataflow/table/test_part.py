"""Some columns of a fusion table."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow.table.part import columns_of
from fuseloom.errors import LoweringError
from fuseloom.models import load


@pytest.fixture(scope="module")
def table():
    model, _ = load("gcn", "karate")
    return fl.compile(model.program, model.presets["full"]).regions[0].table


def test_only_these_columns_are_shown(table):
    html = columns_of(table, "H", "A")._repr_html_()
    assert html.count("<td") == 2 * len(table.rows)
    assert html.index("H[k,n]") < html.index("A[i,k]")
    assert "b1[n]" not in html
    assert f"… and {len(table.columns) - 2} more columns" in html


def test_nothing_is_said_of_what_is_not_left_out(table):
    every = columns_of(table, *(column.name for column in table.columns))
    assert every.left_out == 0
    assert "more column" not in every._repr_html_()
    but_one = columns_of(table, *(column.name for column in table.columns[1:]))
    assert "… and 1 more column<" in but_one._repr_html_()


def test_a_column_that_is_not_there_is_named(table):
    with pytest.raises(LoweringError, match="no column 'Q'"):
        columns_of(table, "A", "Q")
