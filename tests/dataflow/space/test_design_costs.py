"""Energy and area of candidates, beside those of runs."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow import rtl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.region_area import logic_area
from fuseloom.dataflow.space.design_costs import (
    region_area,
    region_areas,
    region_joules,
    region_luts,
)
from fuseloom.errors import GraphError


@pytest.mark.parametrize("preset", ["default", "hbm2", "size-S"])
@pytest.mark.parametrize(("model", "data"), [("spmm", "random"), ("gcn", "random")])
def test_no_run_takes_less_energy_than_its_bound(model: str, data: str, preset: str) -> None:
    machine = Machine.preset(preset)
    given, tensors = fl.load(model, data)
    for schedule in (given.presets or {"": ""}).values():
        compiled = fl.compile(given.program, schedule)
        run = fl.simulate(compiled, tensors, machine)
        expected = fl.estimate(compiled, tensors, machine=machine)
        for made, ran in zip(expected.regions, run.regions, strict=True):
            joules, least = region_joules(made, machine)
            assert 0 < least <= ran.energy.joules
            if machine.memory is None:
                assert joules == pytest.approx(ran.energy.joules)
                assert least == pytest.approx(joules, rel=1e-8)


def test_areas_are_those_of_the_graphs() -> None:
    machine = Machine.preset("size-M")
    gcn, data = fl.load("gcn", "karate")
    compiled = fl.compile(gcn.program, gcn.presets["partial"])
    run = fl.simulate(compiled, data, machine)
    tensors = {**run.data, **run.outputs}
    for given in (tensors, None):
        areas = region_areas(compiled, machine, given)
        for region, area in zip(compiled.regions, areas, strict=True):
            made = logic_area(region.graph, machine, given)
            assert (area.luts, area.flip_flops, area.dsps) == (
                made.luts,
                made.flip_flops,
                made.dsps,
            )
    assert len({area.luts for area in areas}) == 2


def test_an_area_that_is_not_known_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    spmv, _ = fl.load("spmv")
    graph = fl.compile(spmv.program).regions[0].graph
    area = region_area(graph, Machine.preset("comal"))
    assert not area.known
    assert "copies deviations" in area.reason
    monkeypatch.setattr(rtl, "find_spec", lambda name: None)
    assert "fuseloom[rtl]" in region_area(graph, Machine.default()).reason


def test_without_amaranth_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl, "find_spec", lambda name: None)
    spmv, _ = fl.load("spmv")
    with pytest.raises(GraphError, match="Amaranth") as caught:
        region_luts(fl.compile(spmv.program).regions[0].graph, Machine.default())
    assert "fuseloom[rtl]" in str(caught.value.hint)
