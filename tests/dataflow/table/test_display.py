"""Fusion tables in a notebook."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.table.cells import CellKind
from fuseloom.dataflow.table.display import LOOKS, table_html
from fuseloom.display.style import COLOURS
from fuseloom.models import load


@pytest.mark.parametrize("kind", CellKind)
def test_every_kind_has_a_sentence_and_a_colour(kind: CellKind) -> None:
    look = LOOKS[kind]
    assert look.says.endswith(".")
    assert bool(look.family) == bool(look.sign)
    assert not look.family or look.family in COLOURS


def test_every_cell_is_there_and_steps_fill_them() -> None:
    model, _ = load("gcn", "karate")
    fusion = compile_program(model.program, model.presets["partial"]).regions[0].table
    html = fusion._repr_html_()
    for column in fusion.columns:
        assert column.title in html
    assert html.count("<td") == len(fusion.columns) * len(fusion.rows)
    signed = sum(bool(LOOKS[cell.kind].sign) for cell in fusion.cells.values())
    assert html.count('class="made ') == signed
    assert table_html(fusion, 0).count('class="made ') == 0
