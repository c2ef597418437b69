"""Capacities with which no data can deadlock a graph, and why each channel has the one it has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.passes.buffers import ChannelSize, Sizing, size_buffers, sizing
from fuseloom.dataflow.samml.passes.parallelise import apply_parallel
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import DeadlockError, GraphError
from fuseloom.program import parse
from tests.dataflow.samml.passes import PRESETS, SMALL, TOLERANCE, data_of, engines, indices

SIZE = 12

SOFTMAX = f"""A: 6x{SIZE} csr
x[i] = max[m] A[i,m]
d[i,m] = A[i,m] - x[i]
e[i,m] = exp(d[i,m])
s[i] = e[i,m]
Y[i,m] = e[i,m] / s[i]"""

OURS = Machine.default()


def region_of(text: str, schedule: str = "") -> CompiledRegion:
    (region,) = compile_program(parse(text), schedule).regions
    return region


def sized(region: CompiledRegion, default: int = 4) -> Sizing:
    return sizing(region.graph, region.region.extents, default=default)


def channel(found: Sizing, label: str, reader: str) -> ChannelSize:
    """The channel of that label that a node of that label reads."""
    graph = found.graph
    (size,) = (
        c
        for c in found.channels
        if c.stream.label == label and graph.nodes[graph.consumer[c.stream.id]].label == reader
    )
    return size


def with_capacity(graph: Graph, stream: int, capacity: int) -> Graph:
    streams = list(graph.streams)
    streams[stream] = replace(streams[stream], capacity=capacity)
    return replace(graph, streams=tuple(streams))


def test_a_copy_waits_for_the_sum_of_its_row() -> None:
    found = sized(region_of(SOFTMAX, "fuse x..Y"))
    kept = channel(found, "e val", "/ Y")
    assert SIZE + 1 < kept.capacity <= SIZE + 8
    assert kept.waits == "/ Y"
    assert kept.cause == "Red m"
    assert kept.level == ("i",)
    text = f"e val: {kept.capacity} tokens, which wait at / Y while Red m reads an element of i"
    assert str(kept) == text
    assert channel(found, "e val", "Red m").capacity <= 6


def test_one_slot_less_than_needed_deadlocks() -> None:
    """The row and its stop, one token in the reader's hands: the size given is near the least."""
    region = region_of(SOFTMAX, "fuse x..Y")
    found = sized(region)
    kept = channel(found, "e val", "/ Y")
    data = {"A": np.ones((6, SIZE), np.float32)}
    stored = simulate(compile_program(parse(SOFTMAX), "fuse x..Y"), data).data

    def run(capacity: int, engine: str) -> int:
        graph = with_capacity(found.graph, kept.stream.id, capacity)
        return run_graph(bind(graph, stored), OURS, engine).cycles

    for engine in ("interpreter", "compiled"):
        assert run(SIZE + 1, engine)
        with pytest.raises(DeadlockError, match="give stream e val more capacity"):
            run(SIZE, engine)
    assert kept.capacity <= SIZE + 8


def test_an_accumulator_makes_what_lies_beside_it_wait_for_a_row() -> None:
    """The dense operand of a sum waits at the union while a row is accumulated."""
    text = "A: 8x8 csr\nX: 8x5 dense\nb: 5 dense\nT[i,j] = A[i,k] * X[k,j]\nY[i,j] = T[i,j] + b[j]"
    found = sized(region_of(text, "fuse T..Y"))
    rows = [c for c in found.channels if c.cause == "Acc1_k"]
    assert {c.stream.indices for c in found.channels if c.capacity > 4} >= {("i",), ("i", "k")}
    assert all(c.level == ("i",) for c in rows)
    assert found.largest.capacity < 30


def test_a_filtered_level_beside_the_whole_one_waits_for_a_fiber() -> None:
    """A is intersected and added to the result: its copy may run a whole fiber ahead."""
    text = (
        f"A: 6x{SIZE} csr\nB: 6x{SIZE} csr\nE[i,j] = exp(A[i,j])\n"
        "T[i,j] = E[i,j] * B[i,j]\nY[i,j] = T[i,j] + E[i,j]"
    )
    compilation = compile_program(parse(text), "fuse E..Y")
    (region,) = compilation.regions
    found = sized(region, 2)
    assert found.largest.capacity >= SIZE + 1
    a = np.ones((6, SIZE), np.float32)
    b = np.zeros((6, SIZE), np.float32)
    b[::2, -1] = 1
    lanes = replace(compilation, regions=(replace(region, graph=found.graph),))
    for engine in engines(lanes):
        assert simulate(lanes, {"A": a, "B": b}, engine=engine).check().ok


def test_operands_put_one_after_another_wait_for_a_fiber() -> None:
    """Both operands of a concat are one tensor: its second copy waits for the first's end."""
    text = f"A: {SIZE} dense\nT[c] = concat[c](A[c], A[c])"
    compilation = compile_program(parse(text))
    (region,) = compilation.regions
    found = sized(region, 2)
    assert found.largest.capacity >= SIZE
    small = replace(compilation, regions=(replace(region, graph=found.graph),))
    data = {"A": np.arange(1, SIZE + 1, dtype=np.float32)}
    for engine in engines(small):
        assert simulate(small, data, engine=engine).check().ok


def test_channels_that_nothing_makes_wait_are_small() -> None:
    found = sized(region_of("A: 50x60 csr\nT[i,j] = exp(A[i,j])"))
    assert all(c.capacity <= 8 for c in found.channels)
    assert {c.capacity for c in found.channels if c.stream.kind.value == "val"} == {4}


def test_sizes_follow_the_extents_and_nothing_else() -> None:
    small, large = (
        sized(region_of(SOFTMAX.replace(f"x{SIZE}", f"x{m}"), "fuse x..Y")) for m in (100, 900)
    )
    grown = [b.capacity - a.capacity for a, b in zip(small.channels, large.channels, strict=True)]
    assert set(grown) <= {0, 800, 1_600}
    assert 800 in grown


def test_more_lanes_need_more_on_the_guide() -> None:
    """To look one element ahead, a lane needs as many more dealt as there are lanes."""
    region = region_of(SOFTMAX.replace("6x", "600x"), "fuse x..Y")
    guides = []
    for factor in (2, 8):
        graph = apply_parallel(region.graph, [("i", factor)])
        bounded = sized(replace(region, graph=graph)).graph
        joins = [n for n in bounded.nodes if n.op == "ordered_join"]
        guides.append(max(bounded.streams[n.inputs[0]].capacity or 0 for n in joins))
    assert 4 < guides[0] < guides[1] < 200


def test_an_opaque_node_may_ask_for_everything() -> None:
    """Of a plain join nothing is known: what runs beside it has room for the whole stream."""
    region = region_of("A: 9 dense\nB: 9 dense\nT[i] = A[i] * B[i]")
    graph = apply_parallel(region.graph, [("i", 2)])
    nodes = tuple(
        replace(n, op="join", inputs=n.inputs[1:], params={}) if n.op == "ordered_join" else n
        for n in graph.nodes
    )
    guide = next(n.inputs[0] for n in graph.nodes if n.op == "ordered_join")
    fan = graph.nodes[graph.producer[guide]]
    outputs = tuple(None if s == guide else s for s in fan.outputs)
    nodes = tuple(replace(n, outputs=outputs) if n.id == fan.id else n for n in nodes)
    streams = [s for s in graph.streams if s.id != guide]
    number = {s.id: k for k, s in enumerate(streams)}
    nodes = tuple(
        replace(
            n,
            inputs=tuple(number[s] for s in n.inputs),
            outputs=tuple(None if s is None else number[s] for s in n.outputs),
        )
        for n in nodes
    )
    joined = Graph("join", nodes, tuple(replace(s, id=k) for k, s in enumerate(streams)))
    found = sizing(joined, region.region.extents)
    assert max(c.capacity for c in found.channels) >= 9


def test_the_report() -> None:
    found = sized(region_of(SOFTMAX, "fuse x..Y"))
    assert found.tokens == sum(c.capacity for c in found.channels)
    assert found.tokens == sum(s.capacity or 0 for s in found.graph.streams)
    assert str(found).startswith(f"{len(found.channels)} channels, {found.tokens} tokens; largest ")
    assert found.largest.capacity == max(c.capacity for c in found.channels)
    assert str(sizing(Graph("none", (), ()), {})) == "no channels"


def test_refusals() -> None:
    region = region_of(SOFTMAX, "fuse x..Y")
    extents = region.region.extents
    with pytest.raises(GraphError, match=r"channels of 1 token are too small.*2 is the least"):
        size_buffers(region.graph, extents, default=1)
    with pytest.raises(GraphError, match=r"no extent of index m .*known: i"):
        size_buffers(region.graph, {"i": 6})
    with pytest.raises(GraphError, match=r"names 0 of its 1 level .*lowered from a program"):
        size_buffers(region.graph.bare(), extents)


@pytest.mark.parametrize("factor", [1, 3])
@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_models_in_bounded_channels(name: str, preset: str, factor: int) -> None:
    """With and without lanes: no deadlock, and what unbounded channels give."""
    model, data = SMALL[name], data_of(name)
    compilation = compile_program(model.program, model.presets.get(preset))
    regions = []
    for region in compilation.regions:
        outer = indices(region.graph)[0]
        graph = apply_parallel(region.graph, [(outer, factor)])
        graph = size_buffers(graph, region.region.extents, default=2)
        regions.append(replace(region, graph=graph))
    bounded = replace(compilation, regions=tuple(regions))
    for engine in engines(bounded):
        assert simulate(bounded, data, engine=engine).check(TOLERANCE).ok


def test_a_machine_bounds_only_what_the_graph_leaves_open() -> None:
    compilation = compile_program(parse(SOFTMAX), "fuse x..Y")
    data = {"A": np.ones((6, SIZE), np.float32)}
    with pytest.raises(DeadlockError):
        simulate(compilation, data, Machine.default(2))
    (region,) = compilation.regions
    found = replace(compilation, regions=(replace(region, graph=sized(region).graph),))
    for engine in engines(found):
        assert simulate(found, data, Machine.default(2), engine=engine).check().ok
