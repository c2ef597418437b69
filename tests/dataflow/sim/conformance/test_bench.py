"""The test bench of one primitive: text in, text out."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.conformance.bench import bench, bench_graph
from fuseloom.errors import GraphError


def test_tokens_without_a_time_come_one_a_cycle() -> None:
    bound = bench_graph("unary", "1 2@9 S0 D", params={"fn": "exp"})
    source = bound.graph.nodes[1]
    assert source.op == "source"
    assert bound.of(source.id)["times"].tolist() == [1, 9, 3, 4]


def test_one_primitive_between_sources_and_sinks() -> None:
    bound = bench_graph("intersect", "1 D", "1 D", "1 D", "1 D", outputs=3, capacity=2)
    ops = [node.op for node in bound.graph.nodes]
    assert ops == ["intersect", *["source"] * 4, *["sink"] * 3]
    assert {stream.capacity for stream in bound.graph.streams} == {2}
    assert bound.graph.nodes[0].inputs == (0, 1, 2, 3)
    assert bound.graph.nodes[0].outputs == (4, 5, 6)


def test_only_value_ports_carry_floats() -> None:
    bound = bench_graph("array", "0 D", arrays={"vals": [1.5]})
    assert [stream.kind for stream in bound.graph.streams] == [StreamKind.REF, StreamKind.VAL]
    assert bound.of(0)["vals"].dtype == np.float32


def test_outputs_with_and_without_their_times() -> None:
    run = bench("reduce", "1 2 S0 S0 3 S1 D", params={"fn": "add"})
    assert run.tokens == ("3 N 3 S0 D",)
    assert [item.partition("@")[0] for item in run.outputs[0].split()] == run.tokens[0].split()
    assert all(item.partition("@")[2].isdigit() for item in run.outputs[0].split())
    assert run.clock == int(run.result.clocks[0])
    assert dict(run.written) == {}


def test_what_a_writer_wrote() -> None:
    run = bench("crdwrite", "1 2 S0 4 S1 D", params={"tensor": "X", "level": 0})
    assert run.outputs == ()
    assert run.written["crd"].tolist() == [1, 2, 4]
    assert run.written["seg"].tolist() == [0, 2, 3]


def test_ports_that_do_not_exist_are_refused() -> None:
    with pytest.raises(GraphError):
        bench("unary", "1 D", "2 D", params={"fn": "exp"})
    with pytest.raises(GraphError):
        bench("warp", "1 D")
