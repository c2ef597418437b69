"""Estimates of nodes, regions and programs, and what they add up to."""

from __future__ import annotations

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.numbers import Estimate, RegionEstimate
from fuseloom.dataflow.cost.why import NodeEstimate
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.models import load


def node(number: int, cycles: float) -> NodeEstimate:
    return NodeEstimate(number, 10.0, cycles, 2.0, 8.0)


def region(name: str, cycles: float, least: float | None) -> RegionEstimate:
    nodes = (node(0, 3.0), node(1, cycles - 1), node(2, 4.0))
    mode = EstimateMode.METADATA if least is None else EstimateMode.EXACT
    return RegionEstimate(name, cycles, 6.0, 24.0, nodes, Graph(name, (), ()), {}, mode, least)


def test_the_bottleneck_has_the_most_work_of_its_own() -> None:
    assert region("T", 20.0, 18.0).bottleneck.node == 1


def test_bounds_of_regions_add_up() -> None:
    assert Estimate((region("T", 20.0, 18.0), region("Y", 10.0, 9.5))).least == 27.5
    assert Estimate(()).least == 0


def test_there_is_no_bound_where_one_region_has_none() -> None:
    """That of the others alone would be one, but of another program."""
    assert Estimate((region("T", 20.0, 18.0), region("Y", 10.0, None))).least is None


def test_totals_of_a_program() -> None:
    found = Estimate((region("T", 20.0, 18.0), region("Y", 10.0, None)))
    assert (found.cycles, found.flops, found.bytes) == (30.0, 12.0, 48.0)


def test_regions_totals_and_how_sure_they_are() -> None:
    model, data = load("gcn", "karate")
    made = estimate(compile_program(model.program, model.presets["partial"]), data)
    html = made._repr_html_()
    assert f"estimate: {made.cycles:,.0f} cycles" in html
    assert f"{made.low:,.0f} and {made.high:,.0f}" in html
    assert all(r.mode.value in html for r in made.regions)
