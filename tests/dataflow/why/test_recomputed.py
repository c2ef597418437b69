"""Recomputed intermediates, in words and as a table."""

from __future__ import annotations

import fuseloom as fl
from fuseloom.dataflow.why.recomputed import recomputed
from fuseloom.models import load


def test_rows_where_they_can_be_told_and_values_otherwise() -> None:
    model, data = load("gcn", "karate")
    found = recomputed(fl.compile(model.program, model.presets["full"]), data)
    assert [one.tensor for one in found.found] == ["T1", "T2", "T3", "H"]
    assert (found["H"].rows, found["H"].rows_needed) == (156, 34)
    html = found._repr_html_()
    assert "156 rows" in html
    assert "41,208 values" in html
    assert "once per non-zero of A: i lies around it" in html


def test_nothing_is_said_so() -> None:
    model, data = load("gcn", "karate")
    found = recomputed(fl.compile(model.program, model.presets["partial"]), data)
    assert str(found) == "nothing is computed more than once"
    assert str(found) in found._repr_html_()


def test_what_a_run_has_counted_is_taken() -> None:
    model, data = load("gcn", "karate")
    full = fl.compile(model.program, model.presets["full"])
    found = recomputed(full, data, fl.simulate(full, data))
    assert found["H"].measured
    assert (found["H"].rows, found["H"].rows_needed) == (156, 34)
