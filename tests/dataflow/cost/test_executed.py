"""Executions are kept for other machines and capacities, and no others."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow.cost import executed
from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.executed import executed_region
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.models import load

GCN, KARATE = load("gcn", "karate")
FULL = fl.compile(GCN.program, GCN.presets["full"])


def test_capacities_make_no_other_execution() -> None:
    context = EstimateContext(GCN.program, KARATE)
    first = executed_region(FULL.regions[0], context)
    sized = FULL.sized().regions[0]
    second = executed_region(sized, context)
    assert first is not None
    assert second is not None
    assert second.executed.streams is first.executed.streams
    assert second.executed.graph == sized.graph  # with its own capacities
    assert first.executed.graph == FULL.regions[0].graph


def test_another_graph_is_another_execution() -> None:
    context = EstimateContext(GCN.program, KARATE)
    first = executed_region(FULL.regions[0], context)
    lanes = fl.compile(GCN.program, GCN.presets["full"] + "; parallel i by 2").regions[0]
    second = executed_region(lanes, context)
    assert first is not None
    assert second is not None
    assert second.executed.streams is not first.executed.streams


def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    context = EstimateContext(GCN.program, KARATE)
    unfused = fl.compile(GCN.program)
    made = []
    for region in unfused.regions:
        found = executed_region(region, context)
        assert found is not None
        context.note(found.executed)
        made.append(found.made)
    assert len(context.kept) == len(unfused.regions)
    monkeypatch.setattr(executed, "MOST_KEPT", max(made))
    other = EstimateContext(GCN.program, KARATE)
    for region in unfused.regions:
        found = executed_region(region, other)
        assert found is not None
        other.note(found.executed)
        assert sum(kept.made for kept in other.kept.values()) <= max(made)
    assert len(other.kept) < len(unfused.regions)


def test_statistics_execute_nothing() -> None:
    assert (
        executed_region(
            FULL.regions[0], EstimateContext(GCN.program, KARATE, EstimateMode.METADATA)
        )
        is None
    )
    found = executed_region(
        FULL.regions[0], EstimateContext(GCN.program, KARATE, EstimateMode.SAMPLED)
    )
    assert found is not None
    assert found.mode is EstimateMode.SAMPLED
    assert found.samples
