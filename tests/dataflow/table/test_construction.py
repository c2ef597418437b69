"""The construction of a table: every step shows which cells it fills, and what was there."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.table.construction import TableStep, construction
from fuseloom.dataflow.table.display import PHASES
from fuseloom.models import load
from fuseloom.program import parse

TEXT = "A: 4x4 dcsr\nX: 4x3 dcsr\nT[i,j] = A[i,k] * X[k,j]"


@pytest.fixture(scope="module")
def steps() -> tuple[TableStep, ...]:
    return construction(compile_program(parse(TEXT)).regions[0].table)


def test_all_steps_together_are_the_table(steps: tuple[TableStep, ...]) -> None:
    table = steps[0].table
    texts: dict[tuple[str, str], str] = {}
    for step in steps:
        texts |= step.changed
    assert texts == {place: cell.text for place, cell in table.cells.items()}
    assert steps[0].before == steps[0].after == {}
    assert str(steps[0]) == "the empty table"
    assert "<td" in steps[0]._repr_html_()
    assert steps[-1].after == table.cells


def test_a_step_says_what_it_fills(steps: tuple[TableStep, ...]) -> None:
    assert str(steps[-1]) == (
        "step 7 of 7: merge I_k\n  A.k: LS(<A.i>) -> I_k\n  X.k: LS(<X.i>) -> I_k"
    )


def test_cells_that_are_new_are_marked_and_old_texts_kept(steps: tuple[TableStep, ...]) -> None:
    for step in steps:
        html = step._repr_html_()
        assert html.count(' new"') == len(step.changed)
        replaced = len(step.changed.keys() & step.before.keys())
        assert html.count("was <s>") == replaced
    assert "was <s>LS(&lt;A.i&gt;)</s>" in steps[-1]._repr_html_()


def test_every_phase_has_a_sentence() -> None:
    model, _ = load("gcn", "karate")
    table = compile_program(model.program, model.presets["full"]).regions[0].table
    assert {step.phase for step in table.steps} == PHASES.keys()
