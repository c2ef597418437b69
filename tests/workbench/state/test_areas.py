"""The area of nodes and of runs is what the engine adds up."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.dataflow import rtl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.region_area import logic_area
from fuseloom.dataflow.rtl.synthesis import HardwareArea
from fuseloom.errors import GraphError
from fuseloom.program import parse
from fuseloom_workbench.state.areas import load_hardware, node_area
from fuseloom_workbench.state.session import Session

FIELDS = ("luts", "flip_flops", "block_rams", "dsps")


@pytest.mark.parametrize("capacity", [None, 16])
def test_nodes_and_channels_add_up_to_the_region(capacity):
    machine = replace(Machine.preset("size-M"), channel_capacity=capacity)
    session = Session("gcn", "karate", machine=machine)
    for region in session.regions:
        total = HardwareArea()
        for node in region.graph.nodes:
            found = node_area(region.graph, node, machine)
            assert found.channels.keys() == {s for s in node.outputs if s is not None}
            total = sum(found.channels.values(), start=total + found.node)
        expected = logic_area(region.graph, machine)
        assert expected.luts > 10_000
        for name in FIELDS:
            assert getattr(total, name) == pytest.approx(getattr(expected, name))


def test_a_channel_whose_reader_was_not_measured_is_left_out():
    session = Session("gcn", "karate")  # its machine has another latency of exp than hardware
    graph = session.regions[1].graph
    reader = next(node for node in graph.nodes if node.params.get("fn") == "exp")
    with pytest.raises(GraphError, match="exp takes 8 cycles in hardware"):
        node_area(graph, reader, session.machine)
    writer = graph.nodes[graph.producer[reader.inputs[0]]]
    found = node_area(graph, writer, session.machine)
    outputs = {s for s in writer.outputs if s is not None}
    assert found.channels.keys() == outputs - {reader.inputs[0]}


def test_a_search_takes_at_least_what_is_told():
    program = parse("program p\nA: 8x8 csr\nB: 8x8 csr\nT[i,j] = A[i,j] * B[i,j]\noutput T\n")
    graph = fl.compile(program, "locate T..T: B.j on").regions[0].graph
    least = {n.op: node_area(graph, n, Machine.default()).least for n in graph.nodes}
    assert least.pop("search")
    assert not any(least.values())


def test_without_amaranth_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rtl, "find_spec", lambda name: None)
    session = Session("spmv", "random")
    load_hardware()
    graph = session.current.graph
    with pytest.raises(GraphError, match="Amaranth"):
        node_area(graph, graph.nodes[0], session.machine)
