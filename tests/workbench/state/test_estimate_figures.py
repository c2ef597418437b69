"""The parts of an estimate: they add up, and each statement has its own."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.why.recomputation import recomputation
from fuseloom_workbench.state.estimate_figures import EstimateFigures, cycles_of_statements
from fuseloom_workbench.state.session import Session


def test_recomputation_is_what_its_busiest_node_does_again() -> None:
    """Fused wholly, the first layer of a network is computed once for each edge."""
    session = Session("gcn", "karate")
    apart = EstimateFigures.of(session.built)
    assert apart.recomputing == 0
    session.preset("full")
    whole = EstimateFigures.of(session.built)
    (region,) = session.estimate.regions
    busiest = max(region.nodes, key=lambda node: node.cycles)
    assert region.graph.nodes[busiest.node].label == "Acc1_p"
    context = EstimateContext.of(session.compilation.program, session.built.data)
    (factor,) = (
        found.factor
        for found in recomputation(session.compilation, context, session.estimate)
        if found.tensor == "T2"
    )
    assert whole.computing == pytest.approx(busiest.cycles / factor)
    assert whole.recomputing == pytest.approx(busiest.cycles * (1 - 1 / factor))


@pytest.mark.parametrize("preset", ["unfused", "partial", "full"])
def test_its_parts_add_up_to_the_estimate(preset: str) -> None:
    session = Session("gcn", "karate")
    session.preset(preset)
    figures = EstimateFigures.of(session.built)
    assert figures.cycles == pytest.approx(session.estimate.cycles)
    assert min(figures.parts.values()) >= 0


@pytest.mark.parametrize("preset", ["unfused", "partial", "full"])
def test_every_statement_has_the_cycles_of_its_busiest_node(preset: str) -> None:
    session = Session("gcn", "karate")
    session.preset(preset)
    for number, region in enumerate(session.regions):
        cycles = cycles_of_statements(session.built, number)
        assert set(cycles) == {s.out.tensor for s in region.region.statements}
        expected = session.estimate.regions[number]
        assert max(cycles.values()) == max(node.cycles for node in expected.nodes)
