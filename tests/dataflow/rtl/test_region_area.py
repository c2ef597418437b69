"""Areas of regions, with what they read and without it, beside those of their graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.area import graph_area
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.region_area import logic_area
from fuseloom.dataflow.sim.binding import bind
from fuseloom.errors import GraphError
from fuseloom.exploration.codesign import codesign

MACHINE = Machine.preset("size-S")


@pytest.mark.parametrize(
    ("model", "data"), [("spmm", "random"), ("attention", "random"), ("gcn", "karate")]
)
def test_it_is_that_of_the_graph_whatever_the_machine_s_memory(model: str, data: str) -> None:
    given, tensors = fl.load(model, data)
    for schedule in [*given.presets.values()][:2] or [""]:
        run = fl.simulate(fl.compile(given.program, schedule), tensors)
        stored = {**run.data, **run.outputs}
        for ran in run.regions:
            graph = ran.region.graph
            streams = tuple(replace(s, capacity=s.capacity or 16) for s in graph.streams)
            bound = bind(replace(graph, streams=streams), stored)
            whole = graph_area(HardwareGraph(bound, replace(MACHINE, memory=None))).logic
            assert logic_area(graph, MACHINE, stored) == whole
            assert logic_area(graph, MACHINE).luts <= whole.luts


def test_deeper_channels_take_more() -> None:
    spmm, _ = fl.load("spmm", "random")
    graph = fl.compile(spmm.program).regions[0].graph
    areas = [logic_area(graph, Machine.preset(f"size-{size}")).luts for size in "SML"]
    assert areas == sorted(areas)
    assert areas[0] < areas[-1]


def test_other_latencies_than_those_of_hardware_are_refused() -> None:
    given, _ = fl.load("attention", "random")
    graph = fl.compile(given.program, given.presets["full"]).regions[0].graph
    with pytest.raises(GraphError, match="exp"):
        logic_area(graph, Machine.preset("hbm2"))


def test_a_budget_of_area_is_kept_and_the_least_area_is_found() -> None:
    spmm, data = fl.load("spmm", "random")
    space = 'base = "size-S"\n[parameters]\nlanes = [1, 2]\n"memory.channels" = [1, 2]'
    free = codesign(spmm.program, data, space, objective="time", area=1e9, pareto=True)
    small = codesign(spmm.program, data, space, objective="area")
    assert 0 < small.value == small.design.area < free.design.area
    assert free.front is not None
    assert min(d.area for d in free.front) == small.value
    kept = codesign(spmm.program, data, space, objective="time", area=free.design.area - 1)
    assert kept.design.area < free.design.area
    assert kept.value >= free.value
    assert kept.gap == 0
