"""Runs and estimates side by side."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.errors import DataError
from fuseloom_workbench.notebook.comparing import Compared, compare


def test_runs_and_estimates_are_told_alike():
    model, data = fl.load("spmm")
    compiled = fl.compile(model.program)
    run, estimate = fl.simulate(compiled, data), fl.estimate(compiled, data)
    made = compare({"run": run, "estimate": estimate})
    assert made.rows[0] == ("run", run.cycles, run.work.flops, run.work.bytes)
    assert made.rows[1] == ("estimate", estimate.cycles, estimate.flops, estimate.bytes)


def test_the_first_is_the_measure_and_names_are_escaped():
    made = compare_rows(("<slow>", 200.0, 10.0, 40.0), ("fast", 100.0, 10.0, 0.0))
    assert made.best == "fast"
    assert "0.50×" in str(made)
    html = made._repr_html_()
    assert "&lt;slow&gt;" in html
    assert "width:45px" in html
    assert "–" in html  # nothing moved


def test_nothing_to_compare_is_told():
    with pytest.raises(DataError, match="nothing to compare"):
        compare({})


def compare_rows(*rows):
    return Compared(rows)
