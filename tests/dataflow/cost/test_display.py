"""Estimates in a notebook."""

from __future__ import annotations

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.models import load


def test_regions_totals_and_how_sure_they_are() -> None:
    model, data = load("gcn", "karate")
    made = estimate(compile_program(model.program, model.presets["partial"]), data)
    html = made._repr_html_()
    assert f"estimate: {made.cycles:,.0f} cycles" in html
    assert f"{made.low:,.0f} and {made.high:,.0f}" in html
    assert all(r.mode.value in html for r in made.regions)
